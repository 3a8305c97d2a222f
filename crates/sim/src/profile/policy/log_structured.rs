//! Parameters of a log over the whole flash.

use flashscope_device::Bytes;
use serde::{Deserialize, Serialize};

use super::section::{OpenUnits, PolicySection};
use super::shared::{check_map_size, refuse_fat_area};
use crate::profile::bounds::{ensure, number, time};
use crate::profile::{Basis, Class, Ftl, ProfileError, quantity};

// Each append point keeps an erase block open. The most reported for a card is "64 and more".
const STREAMS_MAX: u32 = 64;

/// All data goes to a limited number of append points; garbage collection makes room when free blocks run
/// out.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LogStructured {
    /// How these numbers were found.
    pub basis: Basis,
    /// The number of append points: sequential runs that can be interleaved.
    pub streams: u32,
    /// The mapping unit; default: a page. The part of a unit that a write does not cover is copied.
    #[serde(default, with = "quantity::optional")]
    pub unit: Option<Bytes>,
    /// Spare flash, as a share of the capacity.
    pub over_provisioning: f64,
    /// The share of the spare blocks that idle garbage collection keeps free.
    #[serde(default, skip_serializing_if = "quantity::is_default")]
    pub background_share: f64,
    /// Time to read a page and program it elsewhere, us.
    pub copy_page_us: f64,
    /// Time to erase a block, us.
    pub erase_us: f64,
}

impl PolicySection for LogStructured {
    fn key(&self) -> &'static str {
        "policy.log_structured"
    }

    fn basis(&self) -> Basis {
        self.basis
    }

    fn check(&self, ftl: &Ftl, capacity: Bytes) -> Result<(), ProfileError> {
        let streams = 1..=STREAMS_MAX;
        let allowed = format!("1 to {STREAMS_MAX}");
        ensure(streams.contains(&self.streams), "policy.log_structured.streams", self.streams, allowed)?;
        let unit = self.unit.unwrap_or(ftl.page);
        let fits = unit.is_multiple_of(ftl.page) && ftl.erase_block.is_multiple_of(unit);
        let allowed =
            format!("a multiple of page ({}) that divides erase_block ({})", ftl.page, ftl.erase_block);
        ensure(fits, "policy.log_structured.unit", unit, allowed)?;
        number("policy.log_structured.over_provisioning", self.over_provisioning, 0.0, 1.0)?;
        number("policy.log_structured.background_share", self.background_share, 0.0, 1.0)?;
        time("policy.log_structured.copy_page_us", self.copy_page_us)?;
        time("policy.log_structured.erase_us", self.erase_us)?;
        refuse_fat_area(ftl, "log_structured")?;
        check_map_size("policy.log_structured.unit", unit, capacity)
    }

    /// A run beyond the streams leaves mapping units unfinished. A unit of one page is never unfinished.
    fn open_units(&self, ftl: &Ftl) -> OpenUnits {
        let coarse = self.unit.is_some_and(|unit| unit > ftl.page);
        OpenUnits { linear: coarse.then_some(self.streams), random: None }
    }

    fn class(&self) -> Class {
        Class::LogStructured
    }

    fn background_share(&self) -> Option<(&'static str, f64)> {
        Some(("policy.log_structured.background_share", self.background_share))
    }
}
