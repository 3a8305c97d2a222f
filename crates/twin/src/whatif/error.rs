//! Why a stick has no twin.

use flashscope_device::Bytes;
use flashscope_record::finding::Reason;

use crate::error::FitError;

/// A run from which no twin can be fitted.
#[derive(Debug, thiserror::Error)]
pub enum TwinError {
    /// The device stores less than it announces.
    #[error(
        "the stick says {announced} and {}: no layout makes it a good one",
        true_size.map_or_else(|| "stores less".to_owned(), |size| format!("stores {size}"))
    )]
    FalseCapacity {
        /// The capacity that it announces.
        announced: Bytes,
        /// What it stores, if that is known.
        true_size: Option<Bytes>,
    },
    /// No write was measured from which the cost of small ones follows.
    #[error("the run has no small writes")]
    NoWrites,
    /// The erase block is not known.
    #[error("the erase block of the stick is not known")]
    NoGeometry {
        /// The reason; `None` if the run has no evidence at all.
        reason: Option<Reason>,
    },
    /// The times cannot be fitted.
    #[error(transparent)]
    Fit(#[from] FitError),
}
