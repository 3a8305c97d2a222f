//! Parameters of wear.

use serde::{Deserialize, Serialize};

use super::bounds::number;
use super::{Basis, ProfileError, quantity};

/// Wear levelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Levelling {
    /// Erases are spread evenly over the whole stick.
    Static,
    /// No levelling: zones of a thousandth of the stick wear separately.
    None,
}

/// What happens when the erase cycles are used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndOfLife {
    /// Writes still succeed, at the speed of worn cells.
    #[serde(rename = "goes-on")]
    KeepsWriting,
    /// Writes fail.
    WritesFail,
}

/// Wear: with every erase cycle reads and writes get slower, and finally writes may fail.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Wear {
    /// How these numbers were found.
    pub basis: Basis,
    /// The erase cycles that a block endures.
    pub cycles: f64,
    /// The erase cycles that every block has at the start.
    #[serde(default, skip_serializing_if = "quantity::is_default")]
    pub cycles_used: f64,
    /// The factor on the flash time of a write when the cycles are used up. It grows linearly until then.
    #[serde(default = "quantity::one", skip_serializing_if = "quantity::is_one")]
    pub write_factor_at_end: f64,
    /// The same for a read, without its data transfer.
    #[serde(default = "quantity::one", skip_serializing_if = "quantity::is_one")]
    pub read_factor_at_end: f64,
    /// Wear levelling.
    pub levelling: Levelling,
    /// What happens when the cycles are used up.
    pub at_end: EndOfLife,
}

impl Wear {
    pub(super) fn check(&self) -> Result<(), ProfileError> {
        number("wear.cycles", self.cycles, 1.0, 1e9)?;
        number("wear.cycles_used", self.cycles_used, 0.0, 1e9)?;
        number("wear.write_factor_at_end", self.write_factor_at_end, 1.0, 1000.0)?;
        number("wear.read_factor_at_end", self.read_factor_at_end, 1.0, 1000.0)
    }
}
