//! Parameters of a page map with garbage collection.

use flashscope_device::Bytes;
use serde::{Deserialize, Serialize};

use super::section::{OpenUnits, PolicySection};
use super::shared::{check_map_size, refuse_fat_area};
use crate::profile::bounds::{number, time};
use crate::profile::{Basis, Class, Ftl, ProfileError, quantity};

/// Which block garbage collection empties next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GcVictim {
    /// The block with the fewest valid pages.
    Greedy,
    /// The block with the best ratio of benefit to cost; old blocks first.
    CostBenefit,
}

/// Every page is mapped on its own; garbage collection makes room when free blocks run out.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PageMapped {
    /// How these numbers were found.
    pub basis: Basis,
    /// Spare flash, as a share of the capacity.
    pub over_provisioning: f64,
    /// Which block garbage collection empties next.
    pub victim: GcVictim,
    /// Whether copied pages go to a separate block, apart from new data.
    #[serde(default, skip_serializing_if = "quantity::is_default")]
    pub hot_cold: bool,
    /// The share of the spare blocks that idle garbage collection keeps free.
    #[serde(default, skip_serializing_if = "quantity::is_default")]
    pub background_share: f64,
    /// Time to read a page and program it elsewhere, us.
    pub copy_page_us: f64,
    /// Time to erase a block, us.
    pub erase_us: f64,
}

impl PolicySection for PageMapped {
    fn key(&self) -> &'static str {
        "policy.page_mapped"
    }

    fn basis(&self) -> Basis {
        self.basis
    }

    fn check(&self, ftl: &Ftl, capacity: Bytes) -> Result<(), ProfileError> {
        number("policy.page_mapped.over_provisioning", self.over_provisioning, 0.0, 1.0)?;
        number("policy.page_mapped.background_share", self.background_share, 0.0, 1.0)?;
        time("policy.page_mapped.copy_page_us", self.copy_page_us)?;
        time("policy.page_mapped.erase_us", self.erase_us)?;
        refuse_fat_area(ftl, "page_mapped")?;
        check_map_size("ftl.page", ftl.page, capacity)
    }

    fn open_units(&self, _ftl: &Ftl) -> OpenUnits {
        OpenUnits { linear: None, random: None }
    }

    fn class(&self) -> Class {
        Class::PageMapped
    }

    fn background_share(&self) -> Option<(&'static str, f64)> {
        Some(("policy.page_mapped.background_share", self.background_share))
    }
}
