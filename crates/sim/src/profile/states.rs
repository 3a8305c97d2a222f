//! The numbers of areas that hold nothing, or nothing any more.

use flashscope_device::Bytes;
use serde::Deserialize;

use super::bounds::{number, size};
use super::{Basis, Ftl, ProfileError, quantity};

// Two bits for each unit: 64 MiB of memory at the most.
const UNITS_MAX: u64 = 1 << 28;

/// Areas that were never written or were discarded answer at another speed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct States {
    /// How these numbers were found.
    pub basis: Basis,
    /// What is tracked as one: a page, say; default: an erase block.
    #[serde(default, deserialize_with = "quantity::optional_bytes")]
    pub unit: Option<Bytes>,
    /// The factor on `read.access_us` where all was discarded; default: that of never-written areas.
    pub read_trimmed_factor: Option<f64>,
    /// The factor on what the flash does for a write where nothing was ever written or all was discarded.
    #[serde(default = "quantity::one")]
    pub write_empty_factor: f64,
}

impl States {
    pub(super) fn check(&self, capacity: Bytes, ftl: &Ftl) -> Result<(), ProfileError> {
        if let Some(unit) = self.unit {
            let fine = Bytes::new(capacity.get().div_ceil(UNITS_MAX)).round_up(ftl.page);
            size("states.unit", unit, fine, ftl.erase_block.max(fine))?;
        }
        number("states.read_trimmed_factor", self.read_trimmed_factor.unwrap_or(1.0), 0.01, 100.0)?;
        number("states.write_empty_factor", self.write_empty_factor, 0.01, 100.0)
    }
}
