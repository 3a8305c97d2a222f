//! The numbers of hybrid log blocks.

use flashscope_device::Bytes;
use serde::Deserialize;

use super::shared::mapped_units;
use crate::profile::bounds::{ensure, time};
use crate::profile::{Basis, Ftl, ProfileError};

// Log blocks are mapped page by page in the controller's memory; papers try 4 to 512.
const LOG_BLOCKS_MAX: u32 = 1024;

/// Which data a log block may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Association {
    /// That of one erase block each (BAST).
    Block,
    /// One log block that of an erase block written in order, the others anything (FAST).
    Full,
}

/// Data blocks mapped as wholes, and log blocks mapped page by page that take all writes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HybridLog {
    /// How these numbers were found.
    pub basis: Basis,
    /// Which data a log block may hold.
    pub association: Association,
    /// How many log blocks there are.
    pub log_blocks: u32,
    /// Reading a page and programming it elsewhere, us.
    pub copy_page_us: f64,
    /// Erasing a block, us.
    pub erase_us: f64,
}

impl HybridLog {
    pub(super) fn check(&self, ftl: &Ftl, capacity: Bytes) -> Result<(), ProfileError> {
        let least = match self.association {
            Association::Block => 1,
            Association::Full => 2,
        };
        let allowed = format!("{least} to {LOG_BLOCKS_MAX}");
        let good = (least..=LOG_BLOCKS_MAX).contains(&self.log_blocks);
        ensure(good, "policy.hybrid_log.log_blocks", self.log_blocks, allowed)?;
        time("policy.hybrid_log.copy_page_us", self.copy_page_us)?;
        time("policy.hybrid_log.erase_us", self.erase_us)?;
        mapped_units("ftl.page", ftl.page, capacity)
    }
}
