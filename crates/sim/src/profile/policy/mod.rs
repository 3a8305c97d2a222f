//! The policies of a flash translation layer: one file for the parameters of each.

mod hybrid_log;
mod log_structured;
mod open_blocks;
mod page_mapped;
mod registry;
mod section;
mod shared;

pub use hybrid_log::{Association, HybridLog};
pub use log_structured::LogStructured;
pub use open_blocks::{OpenBlocks, OpeningCost, Victim};
pub use page_mapped::{GcVictim, PageMapped};
pub use registry::Policy;
pub(crate) use section::OpenUnits;
