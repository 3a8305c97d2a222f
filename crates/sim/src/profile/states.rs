//! Parameters of areas that hold no data: never written, or discarded.

use flashscope_device::Bytes;
use serde::{Deserialize, Serialize};

use super::bounds::{number, size};
use super::{Basis, Ftl, ProfileError, quantity};

// Two bits a unit: 64 MiB of memory at most.
const UNITS_MAX: u64 = 1 << 28;

/// The speed of areas that were never written or were discarded.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct States {
    /// How these numbers were found.
    pub basis: Basis,
    /// The tracking unit, such as a page; default: an erase block.
    #[serde(default, with = "quantity::optional")]
    pub unit: Option<Bytes>,
    /// The factor on `read.access_us` in discarded areas; default: that of never-written areas.
    pub read_trimmed_factor: Option<f64>,
    /// The factor on the flash time of a write into a never-written or discarded area.
    #[serde(default = "quantity::one", skip_serializing_if = "quantity::is_one")]
    pub write_empty_factor: f64,
}

impl States {
    pub(super) fn check(&self, capacity: Bytes, ftl: &Ftl) -> Result<(), ProfileError> {
        if let Some(unit) = self.unit {
            let unit_min = Bytes::new(capacity.get().div_ceil(UNITS_MAX)).round_up(ftl.page);
            size("states.unit", unit, unit_min, ftl.erase_block.max(unit_min))?;
        }
        number("states.read_trimmed_factor", self.read_trimmed_factor.unwrap_or(1.0), 0.01, 100.0)?;
        number("states.write_empty_factor", self.write_empty_factor, 0.01, 100.0)
    }
}
