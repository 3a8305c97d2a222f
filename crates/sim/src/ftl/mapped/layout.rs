//! How capacity, mapping units, erase blocks and spare flash fit together, and what work on them costs.

use flashscope_device::Bytes;

use crate::link::nanoseconds;
use crate::profile::{CollectionVictim, LogStructured, PageMapped, Profile};

/// Sizes and costs of a mapped layer; no size need be a power of two.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub(super) capacity: u64,
    pub(super) page_bytes: u64,
    pub(super) unit_bytes: u64,
    pub(super) unit_pages: u64,
    pub(super) block_units: u32,
    /// Mapping units of the capacity.
    pub(super) units: u32,
    pub(super) blocks: u32,
    pub(super) streams: usize,
    /// True if copies go to a block of their own.
    pub(super) copies_apart: bool,
    pub(super) victim: CollectionVictim,
    /// How many blocks idle collection wants free.
    pub(super) background_free: usize,
    pub(super) copy_page_ns: u64,
    pub(super) erase_ns: u64,
}

// One block is always free, so that a collection finds room for what it copies.
pub(super) const RESERVE: usize = 1;

impl Layout {
    pub(super) fn page_mapped(profile: &Profile, policy: &PageMapped) -> Self {
        Self {
            copies_apart: policy.hot_cold,
            victim: policy.victim,
            copy_page_ns: nanoseconds(policy.copy_page_us),
            erase_ns: nanoseconds(policy.erase_us),
            ..Self::new(profile, profile.ftl.page, 1)
        }
        .with_spare(policy.over_provisioning, policy.background_share)
    }

    pub(super) fn log_structured(profile: &Profile, policy: &LogStructured) -> Self {
        Self {
            copies_apart: true,
            copy_page_ns: nanoseconds(policy.copy_page_us),
            erase_ns: nanoseconds(policy.erase_us),
            ..Self::new(profile, policy.unit.unwrap_or(profile.ftl.page), policy.streams as usize)
        }
        .with_spare(policy.over_provisioning, policy.background_share)
    }

    fn new(profile: &Profile, unit: Bytes, streams: usize) -> Self {
        Self {
            capacity: profile.capacity.get(),
            page_bytes: profile.ftl.page.get(),
            unit_bytes: unit.get(),
            unit_pages: unit / profile.ftl.page,
            block_units: count(profile.ftl.erase_block / unit),
            units: count(profile.capacity.get().div_ceil(unit.get())),
            blocks: 0,
            streams,
            copies_apart: false,
            victim: CollectionVictim::Greedy,
            background_free: 0,
            copy_page_ns: 0,
            erase_ns: 0,
        }
    }

    /// How many erase blocks can be open.
    pub(super) fn frontiers(&self) -> usize {
        self.streams + usize::from(self.copies_apart)
    }

    /// Adds spare blocks; always as many that some closed block has a page to gain when room is needed.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "shares are from 0 to 1, so no product exceeds what it is a share of"
    )]
    fn with_spare(mut self, over_provisioning: f64, background_share: f64) -> Self {
        let needed = self.units.div_ceil(self.block_units);
        let wanted = (f64::from(needed) * over_provisioning).round() as u32;
        let spare = wanted.max(count((self.frontiers() + RESERVE + 1) as u64));
        self.blocks = needed + spare;
        self.background_free = (f64::from(spare) * background_share).round() as usize;
        self
    }

    /// Where the unit ends, from its own start: the last one may be cut by the capacity.
    pub(super) fn unit_end(&self, unit: u64) -> u64 {
        self.unit_bytes.min(self.capacity - unit * self.unit_bytes)
    }
}

/// A count that the profile's bounds keep far below 2^32.
fn count(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
