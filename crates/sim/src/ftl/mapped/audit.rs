//! Invariants of a mapped layer.

use super::Mapped;
use super::layout::RESERVE;
use crate::ftl::audit::ensure;
use crate::ftl::inconsistency::Inconsistency;

impl Mapped {
    /// Checks every invariant. Walks over the whole map.
    pub(super) fn check(&self) -> Result<(), Inconsistency> {
        self.check_map()?;
        self.check_blocks()?;
        self.check_programs()
    }

    /// Each unit lies in at most one slot, both directions of the map agree, and each block counts its valid
    /// units.
    fn check_map(&self) -> Result<(), Inconsistency> {
        let mut valid = vec![0; self.layout.blocks as usize];
        for (slot, unit) in self.map.iter().zip(0u32..).filter(|(slot, _)| **slot != 0) {
            let found = self.unit_in_slot[*slot as usize - 1];
            ensure(found == unit, || format!("slot {} of unit {unit} holds unit {found}", *slot - 1))?;
            valid[((*slot - 1) / self.layout.block_units) as usize] += 1;
        }
        for (block, valid) in (0..).zip(valid) {
            let counted = self.blocks.valid(block);
            ensure(counted == valid, || format!("block {block} counts {counted} valid units of {valid}"))?;
        }
        Ok(())
    }

    /// Each block is either free, open, or listed under its valid units. At least one is free.
    fn check_blocks(&self) -> Result<(), Inconsistency> {
        ensure(self.free.len() >= RESERVE, || "no block is free".to_owned())?;
        let mut times_seen = vec![0; self.layout.blocks as usize];
        let open =
            self.frontiers.iter().filter(|frontier| !frontier.is_full()).map(|frontier| frontier.block);
        for block in self.free.iter().copied().chain(open) {
            times_seen[block as usize] += 1;
            ensure(!self.blocks.is_listed(block), || format!("block {block} is free or open, but listed"))?;
        }
        for (listed_under, block) in self.blocks.listed() {
            times_seen[block as usize] += 1;
            let valid = self.blocks.valid(block) as usize;
            ensure(valid == listed_under, || {
                format!("block {block} of {valid} is listed under {listed_under}")
            })?;
        }
        let lost = times_seen.iter().position(|times| *times != 1);
        ensure(lost.is_none(), || format!("block {lost:?} is not in exactly one list"))?;
        let used = self.free.iter().find(|block| self.blocks.valid(**block) != 0);
        ensure(used.is_none(), || format!("free block {used:?} holds valid units"))
    }

    /// Every programmed unit is still in its block, or was erased with it.
    fn check_programs(&self) -> Result<(), Inconsistency> {
        let block_units = u64::from(self.layout.block_units);
        let left: u64 = self.frontiers.iter().map(|frontier| u64::from(frontier.end - frontier.next)).sum();
        let taken = u64::from(self.layout.blocks) - self.free.len() as u64;
        let slots = taken * block_units - left;
        let programmed = self.prefill.slots + self.programs - self.prefill.programs;
        let erased = self.counts.erases * block_units;
        ensure(programmed == erased + slots, || {
            format!("{programmed} units programmed, {erased} erased, {slots} in blocks")
        })?;
        let pages = self.host_pages + self.counts.pages_copied;
        let pages_max = (self.programs - self.prefill.programs) * self.layout.unit_pages;
        ensure(pages <= pages_max, || format!("{pages} pages programmed in units of {pages_max} pages"))
    }
}
