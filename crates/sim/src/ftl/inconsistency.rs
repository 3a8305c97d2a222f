//! The error of a failed invariant.

/// A translation layer whose state contradicts itself: a bug of the simulator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the translation layer is inconsistent: {0}")]
pub struct Inconsistency(pub(crate) String);
