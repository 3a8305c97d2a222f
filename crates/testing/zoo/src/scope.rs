//! Whether a specimen is inside the hypothesis space.

use crate::outside::OutsideKind;
use crate::variant::Law;

/// Inside or outside the hypothesis space of the inference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// A stick inside the hypothesis space.
    Inside,
    /// A device outside the hypothesis space.
    Outside(OutsideKind),
    /// A stick with a law outside the hypothesis space.
    Variant(Law),
}
