//! The numbers of growing old.

use serde::Deserialize;

use super::bounds::number;
use super::{Basis, ProfileError, quantity};

/// How erases are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Levelling {
    /// Over the whole stick: it ages as one.
    Static,
    /// Not at all: what is written often ages alone, in zones of a thousandth of the stick.
    None,
}

/// What happens when the cycles are used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtEnd {
    /// It goes on, as slow as it has become.
    GoesOn,
    /// Writes fail.
    WritesFail,
}

/// Erases wear cells out: each read and write takes longer, and at last writes fail.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wear {
    /// How these numbers were found.
    pub basis: Basis,
    /// How often a block can be erased.
    pub cycles: f64,
    /// How much of that is behind every block when the stick is made.
    #[serde(default)]
    pub cycles_used: f64,
    /// The factor on what the flash does for a write when the cycles are used up; it grows in proportion until then.
    #[serde(default = "quantity::one")]
    pub write_factor_at_end: f64,
    /// The same for a read, beside its data.
    #[serde(default = "quantity::one")]
    pub read_factor_at_end: f64,
    /// How erases are spread.
    pub levelling: Levelling,
    /// What happens at the end.
    pub at_end: AtEnd,
}

impl Wear {
    pub(super) fn check(&self) -> Result<(), ProfileError> {
        number("wear.cycles", self.cycles, 1.0, 1e9)?;
        number("wear.cycles_used", self.cycles_used, 0.0, 1e9)?;
        number("wear.write_factor_at_end", self.write_factor_at_end, 1.0, 1000.0)?;
        number("wear.read_factor_at_end", self.read_factor_at_end, 1.0, 1000.0)
    }
}
