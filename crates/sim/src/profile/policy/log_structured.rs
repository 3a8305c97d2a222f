//! The numbers of a log through the whole flash.

use flashscope_device::Bytes;
use serde::Deserialize;

use super::shared::{mapped_units, no_fat_area};
use crate::profile::bounds::{ensure, number, time};
use crate::profile::{Basis, Ftl, ProfileError, quantity};

// Each append point keeps an erase block open; more than 64 open blocks were not seen.
const STREAMS_MAX: u32 = 64;

/// All data go to a few append points; blocks are cleaned when free ones run out.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogStructured {
    /// How these numbers were found.
    pub basis: Basis,
    /// How many append points there are: runs that can be written in turn.
    pub streams: u32,
    /// What is mapped at once; default: a page. What a write leaves of it is copied.
    #[serde(default, deserialize_with = "quantity::optional_bytes")]
    pub unit: Option<Bytes>,
    /// Spare flash, as a share of the capacity.
    pub over_provisioning: f64,
    /// Which share of the spare blocks is cleaned while the stick is idle.
    #[serde(default)]
    pub background_share: f64,
    /// Reading a page and programming it elsewhere, us.
    pub copy_page_us: f64,
    /// Erasing a block, us.
    pub erase_us: f64,
}

impl LogStructured {
    pub(super) fn check(&self, ftl: &Ftl, capacity: Bytes) -> Result<(), ProfileError> {
        let streams = 1..=STREAMS_MAX;
        let allowed = format!("1 to {STREAMS_MAX}");
        ensure(streams.contains(&self.streams), "policy.log_structured.streams", self.streams, allowed)?;
        let unit = self.unit.unwrap_or(ftl.page);
        let fits = unit.is_multiple_of(ftl.page) && ftl.erase_block.is_multiple_of(unit);
        let allowed =
            format!("a multiple of page ({}) of which erase_block ({}) is one", ftl.page, ftl.erase_block);
        ensure(fits, "policy.log_structured.unit", unit, allowed)?;
        number("policy.log_structured.over_provisioning", self.over_provisioning, 0.0, 1.0)?;
        number("policy.log_structured.background_share", self.background_share, 0.0, 1.0)?;
        time("policy.log_structured.copy_page_us", self.copy_page_us)?;
        time("policy.log_structured.erase_us", self.erase_us)?;
        no_fat_area(ftl, "log_structured")?;
        mapped_units("policy.log_structured.unit", unit, capacity)
    }
}
