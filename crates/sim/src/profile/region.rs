//! Parameters of slow and failing ranges.

use flashscope_device::{Bytes, SECTOR};
use serde::{Deserialize, Serialize};

use super::bounds::{ensure, number, size};
use super::{Basis, ProfileError, quantity};

/// The requests that fail in a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FailingOp {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Both.
    Both,
}

/// A range of the stick with another speed. The first region that contains the start of a command applies.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// How these numbers were found.
    pub basis: Basis,
    /// The first byte.
    #[serde(with = "quantity")]
    pub start: Bytes,
    /// The length.
    #[serde(with = "quantity")]
    pub length: Bytes,
    /// The factor on the flash time of a read, without its data transfer.
    #[serde(default = "quantity::one", skip_serializing_if = "quantity::is_one")]
    pub read_factor: f64,
    /// The factor on the flash time of a write, copying included.
    #[serde(default = "quantity::one", skip_serializing_if = "quantity::is_one")]
    pub write_factor: f64,
    /// The requests that fail with a medium error if they overlap the region.
    pub fails: Option<FailingOp>,
}

// Each command searches all regions.
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
