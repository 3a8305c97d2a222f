//! The numbers of heat.

use flashscope_device::{Bytes, SECTOR};
use serde::Deserialize;

use super::bounds::{CAPACITY_MAX, number, size};
use super::{Basis, ProfileError, quantity};

/// A stick that is worked hard grows hot and slows down until it has cooled. Heat is counted in bytes written: each adds
/// itself, and what has gathered fades with a time constant.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thermal {
    /// How these numbers were found.
    pub basis: Basis,
    /// The heat at which it slows down.
    #[serde(deserialize_with = "quantity::bytes")]
    pub limit: Bytes,
    /// The heat at which it is fast again.
    #[serde(deserialize_with = "quantity::bytes")]
    pub resume: Bytes,
    /// How long heat takes to fade to 1/e, s.
    pub time_constant_s: f64,
    /// The speed of a hot stick as a share of a cool one's.
    pub speed_factor: f64,
    /// The heat of a byte read, in bytes written.
    #[serde(default = "quantity::one")]
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
