//! Pure inference: observations in, findings out.

use crate::finding::Finding;
use crate::observation::Observations;

/// Infers everything that a set of observations of one device tells.
#[must_use]
pub fn infer(_observations: &[Observations]) -> Vec<Finding> {
    Vec::new()
}
