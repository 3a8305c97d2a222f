//! Which policy a flash translation layer follows: one file for the numbers of each.

mod open_blocks;

use serde::Deserialize;

use super::{Ftl, ProfileError};
pub use open_blocks::{OpenBlocks, Opening, Victim};

/// The policy, and its numbers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// A few open erase blocks, each with a replacement block or a log of its own.
    OpenBlocks(OpenBlocks),
}

impl Policy {
    pub(super) fn check(&self, ftl: &Ftl) -> Result<(), ProfileError> {
        match self {
            Self::OpenBlocks(open_blocks) => open_blocks.check(ftl),
        }
    }
}
