//! Checks of a translation layer's books.

/// A translation layer whose books do not agree: a fault of the simulator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the translation layer contradicts itself: {0}")]
pub struct Inconsistency(pub(crate) String);

/// An error that says what is wrong, unless it `holds`.
pub(crate) fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), Inconsistency> {
    if holds { Ok(()) } else { Err(Inconsistency(what())) }
}
