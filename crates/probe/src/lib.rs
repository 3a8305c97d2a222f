//! Experiments that measure a flash device, and the inference from what they saw.
//!
//! Two halves that never mix: an [`Experiment`] touches a device and returns [`Observations`]; inference
//! ([`infer`](inference::infer)) is a pure function from observations to [`Finding`]s, so that a stored run, or a log
//! that somebody published years ago, can be inferred again without the stick.

#![deny(missing_docs)]

mod belief;
mod boundary;
pub mod diagnosis;
pub mod experiment;
pub mod file_sizes;
pub mod finding;
pub mod flashbench;
pub mod inference;
mod method;
pub mod observation;
pub mod run_file;
mod sizes;
pub mod survey;

pub use experiment::{Event, Experiment, Observer, Silent};
pub use finding::{Confidence, Finding, FindingId, Outcome, Value};
pub use method::Method;
pub use observation::{Ended, Observations};
pub use run_file::RunFile;
