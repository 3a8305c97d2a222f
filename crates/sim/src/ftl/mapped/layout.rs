//! The layout of capacity, mapping units, erase blocks and spare flash, and the cost of work on them.

use flashscope_device::Bytes;

use crate::profile::{GcVictim, Profile};

/// Sizes and costs of a mapped layer; no size need be a power of two.
#[derive(Debug, Clone)]
pub(in crate::ftl) struct Layout {
    pub(in crate::ftl) capacity: u64,
    pub(in crate::ftl) page_bytes: u64,
    pub(in crate::ftl) unit_bytes: u64,
    pub(in crate::ftl) unit_pages: u64,
    pub(in crate::ftl) block_units: u32,
    /// The mapping units of the capacity.
    pub(in crate::ftl) units: u32,
    pub(in crate::ftl) blocks: u32,
    pub(in crate::ftl) streams: usize,
    /// Whether copies go to a separate block.
    pub(in crate::ftl) separates_copies: bool,
    pub(in crate::ftl) victim: GcVictim,
    /// The number of free blocks that idle garbage collection aims at.
    pub(in crate::ftl) background_free: usize,
    pub(in crate::ftl) copy_page_ns: u64,
    pub(in crate::ftl) erase_ns: u64,
}

// One block is always free, so that garbage collection has room for its copies.
pub(super) const RESERVE: usize = 1;

impl Layout {
    /// Without spare flash and costs.
    pub(in crate::ftl) fn new(profile: &Profile, unit: Bytes, streams: usize) -> Self {
        Self {
            capacity: profile.capacity.get(),
            page_bytes: profile.ftl.page.get(),
            unit_bytes: unit.get(),
            unit_pages: unit / profile.ftl.page,
            block_units: count(profile.ftl.erase_block / unit),
            units: count(profile.capacity.get().div_ceil(unit.get())),
            blocks: 0,
            streams,
            separates_copies: false,
            victim: GcVictim::Greedy,
            background_free: 0,
            copy_page_ns: 0,
            erase_ns: 0,
        }
    }

    /// The number of blocks that can be open.
    pub(super) fn frontiers(&self) -> usize {
        self.streams + usize::from(self.separates_copies)
    }

    /// Adds spare blocks: at least as many that garbage collection always finds a closed block with an
    /// invalid unit.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "shares are from 0 to 1, so no product exceeds what it is a share of"
    )]
    pub(in crate::ftl) fn with_spare(mut self, over_provisioning: f64, background_share: f64) -> Self {
        let needed = self.units.div_ceil(self.block_units);
        let wanted = (f64::from(needed) * over_provisioning).round() as u32;
        let spare = wanted.max(count((self.frontiers() + RESERVE + 1) as u64));
        self.blocks = needed + spare;
        self.background_free = (f64::from(spare) * background_share).round() as usize;
        self
    }

    /// The end of a unit, relative to its start: the capacity may cut the last one short.
    pub(super) fn unit_end(&self, unit: u64) -> u64 {
        self.unit_bytes.min(self.capacity - unit * self.unit_bytes)
    }
}

/// A count that the profile's bounds keep far below 2^32.
fn count(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spare_blocks_are_a_share_of_the_needed_ones_and_never_too_few() {
        let profile = Profile::builtin("generic-2g").unwrap();
        let unit = profile.ftl.page;
        let layout = |over_provisioning, background_share| {
            Layout::new(&profile, unit, 1).with_spare(over_provisioning, background_share)
        };
        let needed = count(profile.capacity.get().div_ceil(profile.ftl.erase_block.get()));
        let fifth = layout(0.2, 0.5);
        assert_eq!(fifth.blocks, needed + needed / 5);
        assert_eq!(fifth.background_free, (needed / 5 / 2) as usize);
        let least = layout(0.0, 0.0);
        assert_eq!(
            (least.blocks, least.background_free),
            (needed + 3, 0),
            "one open, one in reserve, one more"
        );
    }
}
