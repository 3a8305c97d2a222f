//! Programming: a unit at a write frontier, and the free block that a frontier opens.

use super::Mapped;
use super::frontier::Frontier;

impl Mapped {
    /// Opens a free block; the caller ensures that one exists.
    pub(super) fn open_block(&mut self, frontier: usize) {
        let Some(block) = self.free.pop_front() else { return };
        let next = block * self.layout.block_units;
        self.frontiers[frontier] = Frontier { block, next, end: next + self.layout.block_units };
    }

    /// Programs a unit at a frontier that is not full, and closes the block when it fills up.
    pub(super) fn program(&mut self, unit: u32, frontier: usize) {
        let open = &mut self.frontiers[frontier];
        let (block, slot) = (open.block, open.next);
        open.next += 1;
        let closes = open.is_full();
        if closes {
            *open = Frontier::CLOSED;
        }
        self.unit_in_slot[slot as usize] = unit;
        self.map[unit as usize] = slot + 1;
        self.blocks.add_valid(block);
        self.programs += 1;
        if closes {
            self.blocks.list(block, self.programs);
        }
    }
}
