//! Pure inference: observations in, findings and a diagnosis out. No device, no clock, no random choice.
//!
//! Modules from bottom to top: statistics, thresholds, sizes, method, slow_classifier, copying, streams,
//! geometry, size_sweep, open_blocks, files, trials, published, sanity, findings, classes, diagnosis,
//! verdict, activity. A module uses only those below it (`cargo xtask tidy`).

#![deny(missing_docs)]

pub mod activity;
pub mod classes;
mod copying;
pub mod diagnosis;
pub mod files;
pub mod findings;
pub mod geometry;
pub mod method;
pub mod open_blocks;
pub mod published;
mod sanity;
pub mod size_sweep;
pub mod sizes;
pub mod slow_classifier;
pub mod statistics;
pub mod streams;
pub mod thresholds;
pub mod trials;
pub mod verdict;

pub use classes::classes_of;
pub use diagnosis::{diagnose, diagnose_run};
pub use findings::{findings_of, infer, infer_by, infer_run, relevant_findings_of};
pub use method::Method;
pub use sanity::objection_to;
pub use verdict::verdict_of;
