//! Collection: what is valid in a block is copied to an open one, and the block is erased.

use super::Mapped;
use super::layout::RESERVE;

impl Mapped {
    /// Gives a frontier room for one unit, collecting as long as that takes; returns the time.
    pub(super) fn make_room(&mut self, frontier: usize) -> u64 {
        let mut copying_ns = 0;
        while self.frontiers[frontier].is_full() {
            if self.free.len() > RESERVE {
                self.open_block(frontier);
            } else {
                // There always is one: closed blocks outnumber the capacity's.
                let Some(time_ns) = self.collect() else { break };
                copying_ns += time_ns;
            }
        }
        copying_ns
    }

    /// Collects while the stick is idle, as long as there is time and blocks are wanted; returns the time it took,
    /// which may exceed `ns` by less than one block's: a request that comes then waits for it.
    pub(crate) fn idle(&mut self, ns: u64) -> u64 {
        let mut used_ns = 0;
        while used_ns < ns && self.free.len() < self.layout.background_free {
            let Some(time_ns) = self.collect() else { break };
            used_ns += time_ns.max(1);
        }
        used_ns
    }

    /// Collects one block and returns the time; `None` if there is nothing to gain anywhere.
    fn collect(&mut self) -> Option<u64> {
        let victim = self.victim()?;
        self.blocks.unlist(victim);
        let valid = self.blocks.valid(victim);
        let first = victim * self.layout.block_units;
        let mut left = valid;
        let mut place = first;
        while left > 0 {
            let unit = self.holder[place as usize];
            if self.map[unit as usize] == place + 1 {
                self.copy(unit);
                left -= 1;
            }
            place += 1;
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

    /// Moves a unit out of the block that is being collected. There is room: a free block is kept in reserve for it.
    fn copy(&mut self, unit: u32) {
        let frontier = self.frontiers.len() - 1;
        if self.frontiers[frontier].is_full() {
            self.open_block(frontier);
        }
        self.place(unit, frontier);
    }
}
