//! Parameters of hybrid log blocks.

use flashscope_device::Bytes;
use serde::{Deserialize, Serialize};

use super::section::{OpenUnits, PolicySection};
use super::shared::check_map_size;
use crate::profile::bounds::{ensure, time};
use crate::profile::{Basis, Class, Ftl, ProfileError};

// Log blocks are mapped page by page in the controller's memory. Papers try 4 to 512; this is twice the most.
const LOG_BLOCKS_MAX: u32 = 1024;

/// Which pages a log block may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Association {
    /// Pages of one erase block only (BAST).
    Block,
    /// One log block for a sequential run, the others for pages of any erase block (FAST).
    Full,
}

/// Data blocks mapped as wholes, and log blocks mapped page by page that take all writes.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HybridLog {
    /// How these numbers were found.
    pub basis: Basis,
    /// Which pages a log block may hold.
    pub association: Association,
    /// The number of log blocks.
    pub log_blocks: u32,
    /// Time to read a page and program it elsewhere, us.
    pub copy_page_us: f64,
    /// Time to erase a block, us.
    pub erase_us: f64,
}

impl PolicySection for HybridLog {
    fn key(&self) -> &'static str {
        "policy.hybrid_log"
    }

    fn basis(&self) -> Basis {
        self.basis
    }

    fn check(&self, ftl: &Ftl, capacity: Bytes) -> Result<(), ProfileError> {
        let log_blocks_min = match self.association {
            Association::Block => 1,
            Association::Full => 2,
        };
        let allowed = format!("{log_blocks_min} to {LOG_BLOCKS_MAX}");
        let good = (log_blocks_min..=LOG_BLOCKS_MAX).contains(&self.log_blocks);
        ensure(good, "policy.hybrid_log.log_blocks", self.log_blocks, allowed)?;
        time("policy.hybrid_log.copy_page_us", self.copy_page_us)?;
        time("policy.hybrid_log.erase_us", self.erase_us)?;
        check_map_size("ftl.page", ftl.page, capacity)
    }

    fn open_units(&self, _ftl: &Ftl) -> OpenUnits {
        match self.association {
            Association::Block => OpenUnits { linear: Some(self.log_blocks), random: Some(self.log_blocks) },
            // One sequential run. Random writes go to the shared logs, whose merges are in proportion to the
            // bytes written.
            Association::Full => OpenUnits { linear: Some(1), random: None },
        }
    }

    fn class(&self) -> Class {
        Class::HybridLog
    }
}
