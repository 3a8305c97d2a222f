//! What is concluded from observations: a value with its interval and confidence, or an unknown with its
//! reason.
//!
//! Everything here is data. The English for it stands in the report crate.

mod cached;
mod caveat;
mod confidence;
mod evidence;
mod log_fault;
mod objection;
mod outcome;
mod reason;
mod value;

pub use self::cached::Cached;
pub use self::caveat::Caveat;
pub use self::confidence::Confidence;
pub use self::evidence::{
    BlockEvidence, Evidence, FatEvidence, ReadEvidence, SizeEvidence, StallShare, StreamEvidence,
};
pub use self::log_fault::LogFault;
pub use self::objection::Objection;
pub use self::outcome::{Finding, Outcome};
pub use self::reason::{Reason, SharedCost};
pub use self::value::{Boundary, FtlClass, ReadPenalty, Value};
pub use crate::finding_id::{Direction, FINDINGS, FindingId, FindingInfo};
pub use crate::measurement::{Measurement, Sample};
pub use crate::would_decide::{Quantity, WouldDecide};
