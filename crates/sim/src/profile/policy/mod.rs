//! Which policy a flash translation layer follows: one file for the numbers of each.

mod hybrid_log;
mod log_structured;
mod open_blocks;
mod page_mapped;
mod shared;

use flashscope_device::Bytes;
use serde::Deserialize;

use super::{Ftl, ProfileError};
pub use hybrid_log::{Association, HybridLog};
pub use log_structured::LogStructured;
pub use open_blocks::{OpenBlocks, Opening, Victim};
pub use page_mapped::{CollectionVictim, PageMapped};

/// The policy, and its numbers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// A few open erase blocks, each with a replacement block or a log of its own.
    OpenBlocks(OpenBlocks),
    /// Erase blocks mapped as wholes, and a few log blocks in front of them.
    HybridLog(HybridLog),
    /// A log through the whole flash, written at a few append points.
    LogStructured(LogStructured),
    /// Every page mapped on its own, over spare flash.
    PageMapped(PageMapped),
}

impl Policy {
    /// Which share of the spare blocks idle time is used for, and its key.
    pub(super) const fn background_share(&self) -> (&'static str, f64) {
        match self {
            Self::OpenBlocks(_) | Self::HybridLog(_) => ("", 0.0),
            Self::LogStructured(policy) => {
                ("policy.log_structured.background_share", policy.background_share)
            }
            Self::PageMapped(policy) => ("policy.page_mapped.background_share", policy.background_share),
        }
    }

    pub(super) fn check(&self, ftl: &Ftl, capacity: Bytes) -> Result<(), ProfileError> {
        match self {
            Self::OpenBlocks(open_blocks) => open_blocks.check(ftl),
            Self::HybridLog(hybrid_log) => hybrid_log.check(ftl, capacity),
            Self::LogStructured(log_structured) => log_structured.check(ftl, capacity),
            Self::PageMapped(page_mapped) => page_mapped.check(ftl, capacity),
        }
    }
}
