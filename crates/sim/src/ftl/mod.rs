//! The flash translation layer: where data goes, and what has to be copied for it. One policy a folder.

mod open_blocks;

use open_blocks::OpenBlocks;

use crate::chance::Chance;
use crate::profile::{Policy, Profile};

/// A translation layer of any policy.
#[derive(Debug, Clone)]
pub(crate) enum Ftl {
    OpenBlocks(OpenBlocks),
}

/// What the layer did inside.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) merges: u64,
    pub(crate) erases: u64,
    pub(crate) pages_copied: u64,
}

/// What the layer did with a write, and how it lay to the writes before it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Placement {
    /// The last write went to another erase block.
    pub(crate) switched: bool,
    /// It neither goes on where its erase block's last write ended, nor begins at the block's start.
    pub(crate) jumped: bool,
    /// What had to be copied for it, in nanoseconds.
    pub(crate) copying_ns: u64,
}

impl Ftl {
    pub(crate) fn new(profile: &Profile, chance: Chance) -> Self {
        match &profile.policy {
            Policy::OpenBlocks(policy) => Self::OpenBlocks(OpenBlocks::new(&profile.ftl, policy, chance)),
        }
    }

    pub(crate) const fn counts(&self) -> Counts {
        match self {
            Self::OpenBlocks(layer) => layer.counts(),
        }
    }

    /// Takes the data from `start` to `end`.
    pub(crate) fn write(&mut self, start: u64, end: u64) -> Placement {
        match self {
            Self::OpenBlocks(layer) => layer.write(start, end),
        }
    }

    /// Small writes went elsewhere: what they replace need never be merged.
    pub(crate) fn supersede(&mut self, start: u64, end: u64) {
        match self {
            Self::OpenBlocks(layer) => layer.supersede(start, end),
        }
    }
}
