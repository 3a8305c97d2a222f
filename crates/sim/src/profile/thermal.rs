//! Parameters of thermal throttling.

use flashscope_device::{Bytes, SECTOR};
use serde::{Deserialize, Serialize};

use super::bounds::{CAPACITY_MAX, number, size};
use super::{Basis, ProfileError, quantity};

/// Thermal throttling: a hot stick is slow until it has cooled. Heat is measured in bytes: each byte written
/// adds one, and the sum decays exponentially.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Thermal {
    /// How these numbers were found.
    pub basis: Basis,
    /// The heat at which throttling starts.
    #[serde(with = "quantity")]
    pub limit: Bytes,
    /// The heat at which throttling ends.
    #[serde(with = "quantity")]
    pub resume: Bytes,
    /// The time in which heat decays to 1/e, s.
    pub time_constant_s: f64,
    /// The speed while throttled, as a share of full speed.
    pub speed_factor: f64,
    /// The heat of a byte read, relative to a byte written.
    #[serde(default = "quantity::one", skip_serializing_if = "quantity::is_one")]
    pub read_share: f64,
}

impl Thermal {
    pub(super) fn check(&self) -> Result<(), ProfileError> {
        size("thermal.limit", self.limit, SECTOR, CAPACITY_MAX)?;
        size("thermal.resume", self.resume, Bytes::ZERO, self.limit)?;
        number("thermal.time_constant_s", self.time_constant_s, 0.001, 1e6)?;
        number("thermal.speed_factor", self.speed_factor, 0.001, 1.0)?;
        number("thermal.read_share", self.read_share, 0.0, 10.0)
    }
}
