//! Data only: what was seen, what was concluded from it, and the run file that stores it.
//!
//! Every crate may depend on this one. It knows no device, no statistics and no English beyond figures with
//! their units.

#![deny(missing_docs)]

pub mod activity;
pub mod attachment;
pub mod capacity;
pub mod claims;
pub mod diagnosis;
pub mod figure;
pub mod finding;
mod finding_id;
pub mod full_capacity;
mod limits;
mod measurement;
pub mod observation;
pub mod run_file;
pub mod trial;
pub mod verdict;
mod would_decide;

pub use attachment::Attachment;
pub use capacity::CapacityVerdict;
pub use claims::{Claims, SpeedMark};
pub use diagnosis::Diagnosis;
pub use finding::{Confidence, Finding, FindingId, Outcome, Value};
pub use flashscope_device::duration_ns;
pub use observation::{Ended, Observations};
pub use run_file::RunFile;
pub use trial::{Trial, TrialOperation, TrialWorkload, Writeback};
