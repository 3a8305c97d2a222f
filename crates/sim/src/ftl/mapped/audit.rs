//! Whether all of the layer's books agree.

use super::Mapped;
use super::layout::RESERVE;
use crate::ftl::Inconsistency;
use crate::ftl::audit::ensure;

impl Mapped {
    /// Checks every invariant; walks over the whole map.
    pub(crate) fn audit(&self) -> Result<(), Inconsistency> {
        self.audit_map()?;
        self.audit_blocks()?;
        self.audit_programs()
    }

    /// Each unit lies in one place at most, which says so itself, and each block's valid units are as many as it counts.
    fn audit_map(&self) -> Result<(), Inconsistency> {
        let mut valid = vec![0; self.layout.blocks as usize];
        for (place, unit) in self.map.iter().zip(0u32..).filter(|(place, _)| **place != 0) {
            let holder = self.holder[*place as usize - 1];
            ensure(holder == unit, || format!("place {} of unit {unit} holds unit {holder}", *place - 1))?;
            valid[((*place - 1) / self.layout.block_units) as usize] += 1;
        }
        for (block, valid) in (0..).zip(valid) {
            let counted = self.blocks.valid(block);
            ensure(counted == valid, || format!("block {block} counts {counted} valid units of {valid}"))?;
        }
        Ok(())
    }

    /// Each block is free, open or listed under its valid units; and one is free.
    fn audit_blocks(&self) -> Result<(), Inconsistency> {
        ensure(self.free.len() >= RESERVE, || "no block is free".to_owned())?;
        let mut places = vec![0; self.layout.blocks as usize];
        let open =
            self.frontiers.iter().filter(|frontier| !frontier.is_full()).map(|frontier| frontier.block);
        for block in self.free.iter().copied().chain(open) {
            places[block as usize] += 1;
            ensure(!self.blocks.is_listed(block), || format!("block {block} is free or open, yet listed"))?;
        }
        for (listed_under, block) in self.blocks.listed() {
            places[block as usize] += 1;
            let valid = self.blocks.valid(block) as usize;
            ensure(valid == listed_under, || {
                format!("block {block} of {valid} is listed under {listed_under}")
            })?;
        }
        let lost = places.iter().position(|times| *times != 1);
        ensure(lost.is_none(), || format!("block {lost:?} is not in one place"))?;
        let used = self.free.iter().find(|block| self.blocks.valid(**block) != 0);
        ensure(used.is_none(), || format!("free block {used:?} holds valid units"))
    }

    /// What was programmed lies in blocks that are not erased, or was erased with its block.
    fn audit_programs(&self) -> Result<(), Inconsistency> {
        let block_units = u64::from(self.layout.block_units);
        let left: u64 = self.frontiers.iter().map(|frontier| u64::from(frontier.end - frontier.next)).sum();
        let taken = u64::from(self.layout.blocks) - self.free.len() as u64;
        let places = taken * block_units - left;
        let programmed = self.made_with.places + self.programs - self.made_with.programs;
        let erased = self.counts.erases * block_units;
        ensure(programmed == erased + places, || {
            format!("{programmed} units programmed, {erased} erased, {places} in blocks")
        })?;
        let pages = self.host_pages + self.counts.pages_copied;
        let most = (self.programs - self.made_with.programs) * self.layout.unit_pages;
        ensure(pages <= most, || format!("{pages} pages programmed in units of {most}"))
    }
}
