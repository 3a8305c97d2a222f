//! The documents of `--json`: one file a document, each a struct with a JSON Schema.
//!
//! [`Document`] puts `format` and `flashscope` first. [`Body`] names the schema, so a command cannot print
//! a document that has none.

mod apply;
mod backing;
mod bench_cache;
mod bench_files;
mod bench_methods;
mod body;
mod bottleneck;
mod card;
mod classes;
mod compare;
mod disk;
mod ended;
mod finding;
mod findings;
mod fs_compare;
mod fs_factors;
mod identity;
mod layout;
mod list;
mod plan;
mod published_speed;
mod restore;
mod results;
pub mod schema;
mod sim_fit;
mod sim_list;
mod sim_replay;
mod sim_serve;
mod sim_show;
mod speed;
mod spread;
mod throughput;
mod undo;
mod usb;
mod verdict;
mod verify;
mod verify_full;
mod watch;
mod whatif;
mod writeback_limit;

pub use apply::ApplyDocument;
pub use bench_cache::BenchCacheDocument;
pub use bench_files::BenchFilesDocument;
pub use bench_methods::BenchMethodsDocument;
pub use body::{Body, Document, FORMAT, VERSION};
pub use classes::ClassesDocument;
pub use compare::{CompareDocument, ComparedDocument, RatioDocument};
pub use findings::FindingsDocument;
pub use fs_compare::FsCompareDocument;
pub use fs_factors::{FactorialDocument, FsFactorsDocument};
pub use identity::{DiskIdentity, Identity};
pub use list::{EventKind, ListDocument, ListEventDocument};
pub use plan::PlanDocument;
pub use restore::RestoreDocument;
pub use sim_fit::SimFitDocument;
pub use sim_list::SimListDocument;
pub use sim_replay::{
    KindDocument, OutcomeDocument, SimReplayDocument, StatisticsDocument, StickDocument, TraceDocument,
};
pub use sim_serve::{ServedDocument, ServingDocument};
pub use sim_show::SimShowDocument;
pub use undo::UndoDocument;
pub use verify::VerifyDocument;
pub use verify_full::{FreeSpaceDocument, VerifyFullDocument};
pub use watch::WatchDocument;
pub use whatif::WhatifDocument;
pub use writeback_limit::{SpeedSource, WritebackLimitDocument, WritebackScope};
