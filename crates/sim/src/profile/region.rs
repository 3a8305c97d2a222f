//! The numbers of slow and bad regions.

use flashscope_device::{Bytes, SECTOR};
use serde::Deserialize;

use super::bounds::{ensure, number, size};
use super::{Basis, ProfileError, quantity};

/// What fails in a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fails {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Both.
    Both,
}

/// A part of the stick that differs from the rest. A command feels the first region that it begins in.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// How these numbers were found.
    pub basis: Basis,
    /// Where it begins.
    #[serde(deserialize_with = "quantity::bytes")]
    pub start: Bytes,
    /// How long it is.
    #[serde(deserialize_with = "quantity::bytes")]
    pub length: Bytes,
    /// The factor on what the flash does for a read, beside its data.
    #[serde(default = "quantity::one")]
    pub read_factor: f64,
    /// The factor on what the flash does for a write, copying included.
    #[serde(default = "quantity::one")]
    pub write_factor: f64,
    /// What fails there with a medium error: any request that touches it.
    pub fails: Option<Fails>,
}

// Each command looks through all of them.
const REGIONS_MAX: usize = 64;

pub(super) fn check_all(regions: &[Region], capacity: Bytes) -> Result<(), ProfileError> {
    ensure(regions.len() <= REGIONS_MAX, "region", regions.len(), format!("at most {REGIONS_MAX} of them"))?;
    regions.iter().try_for_each(|region| region.check(capacity))
}

impl Region {
    fn check(&self, capacity: Bytes) -> Result<(), ProfileError> {
        size("region.start", self.start, Bytes::ZERO, capacity.saturating_sub(SECTOR))?;
        size("region.length", self.length, SECTOR, capacity - self.start)?;
        number("region.read_factor", self.read_factor, 0.01, 1000.0)?;
        number("region.write_factor", self.write_factor, 0.01, 1000.0)
    }
}
