//! The numbers of a page map with garbage collection.

use flashscope_device::Bytes;
use serde::Deserialize;

use super::shared::{mapped_units, no_fat_area};
use crate::profile::bounds::{number, time};
use crate::profile::{Basis, Ftl, ProfileError};

/// Which block is collected next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CollectionVictim {
    /// The one with the fewest valid pages.
    Greedy,
    /// The one that gains most for what it costs, old ones first.
    CostBenefit,
}

/// Every page is mapped on its own; blocks are collected when free ones run out.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageMapped {
    /// How these numbers were found.
    pub basis: Basis,
    /// Spare flash, as a share of the capacity.
    pub over_provisioning: f64,
    /// Which block is collected next.
    pub victim: CollectionVictim,
    /// Whether pages that are copied go to a block of their own, apart from new data.
    #[serde(default)]
    pub hot_cold: bool,
    /// Which share of the spare blocks is collected while the stick is idle.
    #[serde(default)]
    pub background_share: f64,
    /// Reading a page and programming it elsewhere, us.
    pub copy_page_us: f64,
    /// Erasing a block, us.
    pub erase_us: f64,
}

impl PageMapped {
    pub(super) fn check(&self, ftl: &Ftl, capacity: Bytes) -> Result<(), ProfileError> {
        number("policy.page_mapped.over_provisioning", self.over_provisioning, 0.0, 1.0)?;
        number("policy.page_mapped.background_share", self.background_share, 0.0, 1.0)?;
        time("policy.page_mapped.copy_page_us", self.copy_page_us)?;
        time("policy.page_mapped.erase_us", self.erase_us)?;
        no_fat_area(ftl, "page_mapped")?;
        mapped_units("ftl.page", ftl.page, capacity)
    }
}
