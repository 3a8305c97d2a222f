//! The right partition and filesystem for a stick: plan, steps, apply, undo, read-back.
//!
//! Everything here is a pure function of data, except that applying goes through a small trait, `Host`.

#![deny(missing_docs)]

pub mod apply;
pub mod chs;
mod ext_version;
pub mod filesystem;
pub mod head;
pub mod ids;
pub mod medium;
pub mod misfit;
pub mod plan;
pub mod planner;
pub mod present;
pub mod purpose;
pub mod reason;
pub mod standard;
pub mod steps;
mod table_kind;
pub mod trial;
pub mod version;
mod volume;
pub mod writeback;

pub use chs::Chs;
pub use ext_version::ExtVersion;
pub use medium::{EraseBlock, EraseBlockSource, Identity, Medium};
pub use plan::{Partition, PartitionTable, Plan, TableKind};
pub use planner::{PlanError, Wish, keeping, plan};
pub use purpose::Purpose;
pub use reason::{Because, PlanNumber, Reason};
pub use version::Version;
