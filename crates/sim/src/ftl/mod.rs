//! The flash translation layer: where data goes, and what has to be copied for it. One policy a folder.

mod audit;
mod hybrid_log;
mod mapped;
mod open_blocks;

pub use audit::Inconsistency;

use hybrid_log::HybridLog;
use mapped::Mapped;
use open_blocks::OpenBlocks;

use flashscope_device::{ByteRange, Bytes};

use crate::chance::Chance;
use crate::profile::{Policy, Profile};

/// A translation layer of any policy.
#[derive(Debug, Clone)]
pub(crate) enum Ftl {
    OpenBlocks(OpenBlocks),
    HybridLog(HybridLog),
    Mapped(Mapped),
}

/// What the layer did inside.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
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
            Policy::HybridLog(policy) => Self::HybridLog(HybridLog::new(profile, policy, chance)),
            Policy::LogStructured(policy) => Self::Mapped(Mapped::log_structured(profile, policy, chance)),
            Policy::PageMapped(policy) => Self::Mapped(Mapped::page_mapped(profile, policy, chance)),
        }
    }

    pub(crate) const fn counts(&self) -> Counts {
        match self {
            Self::OpenBlocks(layer) => layer.counts(),
            Self::HybridLog(layer) => layer.counts(),
            Self::Mapped(layer) => layer.counts(),
        }
    }

    /// Takes the data from `start` to `end`.
    pub(crate) fn write(&mut self, start: u64, end: u64) -> Placement {
        match self {
            Self::OpenBlocks(layer) => layer.write(start, end),
            Self::HybridLog(layer) => layer.write(start, end),
            Self::Mapped(layer) => layer.write(start, end),
        }
    }

    /// Small writes went elsewhere: what they replace need never be merged.
    pub(crate) fn supersede(&mut self, start: u64, end: u64) {
        if let Self::OpenBlocks(layer) = self {
            layer.supersede(start, end);
        }
    }

    /// Nothing from `start` to `end` is wanted any more: a page that lies wholly inside need not be copied again. Open blocks
    /// keep no account of single pages, and so do not care.
    pub(crate) fn discard(&mut self, start: u64, end: u64) {
        match self {
            Self::OpenBlocks(_) => {}
            Self::HybridLog(layer) => layer.discard(start, end),
            Self::Mapped(layer) => layer.discard(start, end),
        }
    }

    /// What is in the buffer is programmed: a page in which a run stopped cannot be gone on with. Returns what it takes
    /// beyond the program, in nanoseconds.
    pub(crate) fn flush(&mut self) -> u64 {
        match self {
            Self::OpenBlocks(_) => 0,
            Self::HybridLog(layer) => {
                layer.flush();
                0
            }
            Self::Mapped(layer) => layer.flush(),
        }
    }

    /// Tidies up while nothing is asked for `ns` nanoseconds, and returns how long it worked. That may exceed `ns` by less than
    /// one erase block's work: a request that comes then waits for it.
    pub(crate) fn idle(&mut self, ns: u64) -> u64 {
        match self {
            Self::OpenBlocks(_) | Self::HybridLog(_) => 0,
            Self::Mapped(layer) => layer.idle(ns),
        }
    }

    /// Whether the layer holds something for the byte at `offset`; `None` if it keeps no account of single pages.
    fn holds(&self, offset: u64) -> Option<bool> {
        match self {
            Self::OpenBlocks(_) => None,
            Self::HybridLog(layer) => Some(layer.holds(offset)),
            Self::Mapped(layer) => Some(layer.holds(offset)),
        }
    }

    /// Checks that all books of the layer agree; walks over all of its map.
    pub(crate) fn audit(&self) -> Result<(), Inconsistency> {
        match self {
            Self::OpenBlocks(layer) => layer.audit(),
            Self::HybridLog(layer) => layer.audit(),
            Self::Mapped(layer) => layer.audit(),
        }
    }

    /// Checks that the layer holds every page that is not blank.
    pub(crate) fn audit_contents(
        &self,
        profile: &Profile,
        is_blank: impl Fn(ByteRange) -> bool,
    ) -> Result<(), Inconsistency> {
        let (page, capacity) = (profile.ftl.page, profile.capacity);
        for offset in (0..capacity.get()).step_by(page.to_usize()) {
            if self.holds(offset) == Some(false) {
                let start = Bytes::new(offset);
                let range = ByteRange::new(start, page.min(capacity - start));
                audit::ensure(is_blank(range), || format!("{range} has contents, yet is not held"))?;
            }
        }
        Ok(())
    }
}
