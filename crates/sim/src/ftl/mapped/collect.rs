//! Garbage collection: the valid units of a block are copied to an open block, then the block is erased.

use super::Mapped;
use super::layout::RESERVE;

impl Mapped {
    /// Makes room for one unit at a frontier. Collects blocks until a free one exists, and returns the time.
    pub(super) fn make_room(&mut self, frontier: usize) -> u64 {
        let mut copying_ns = 0;
        while self.frontiers[frontier].is_full() {
            if self.free.len() > RESERVE {
                self.open_block(frontier);
            } else {
                // A victim always exists: there are more closed blocks than the capacity needs.
                let Some(time_ns) = self.collect() else { break };
                copying_ns += time_ns;
            }
        }
        copying_ns
    }

    /// Collects blocks for at most `ns` while too few are free, and returns the time. The last block may
    /// exceed `ns`.
    pub(super) fn collect_for(&mut self, ns: u64) -> u64 {
        let mut used_ns = 0;
        while used_ns < ns && self.free.len() < self.layout.background_free {
            let Some(time_ns) = self.collect() else { break };
            used_ns += time_ns.max(1);
        }
        used_ns
    }

    /// Collects one block and returns the time; `None` if no block has an invalid unit.
    fn collect(&mut self) -> Option<u64> {
        let victim = self.choose_victim()?;
        self.blocks.unlist(victim);
        let valid = self.blocks.valid(victim);
        let first = victim * self.layout.block_units;
        let mut left = valid;
        let mut slot = first;
        while left > 0 {
            let unit = self.unit_in_slot[slot as usize];
            if self.map[unit as usize] == slot + 1 {
                self.copy(unit);
                left -= 1;
            }
            slot += 1;
        }
        self.blocks.set_valid(victim, 0);
        self.free.push_back(victim);
        Some(self.count_collection(u64::from(valid)))
    }

    fn count_collection(&mut self, units: u64) -> u64 {
        let pages = units * self.layout.unit_pages;
        self.counts.pages_copied += pages;
        self.counts.erases += 1;
        self.counts.merges += u64::from(pages > 0);
        pages * self.layout.copy_page_ns + self.layout.erase_ns
    }

    /// Copies a unit out of the collected block. A free block is kept in reserve for it.
    fn copy(&mut self, unit: u32) {
        let frontier = self.frontiers.len() - 1;
        if self.frontiers[frontier].is_full() {
            self.open_block(frontier);
        }
        self.program(unit, frontier);
    }
}
