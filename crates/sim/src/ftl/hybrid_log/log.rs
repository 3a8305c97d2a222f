//! Log blocks: the pages they hold, and where the newest version of each page is.

use std::ops::{Index, IndexMut};

/// No data block.
pub(super) const NONE: u32 = u32::MAX;

/// One log block.
#[derive(Debug, Clone)]
pub(super) struct Log {
    /// The data block of this log; `NONE` if it is shared or unused.
    pub(super) block: u32,
    /// The page in each slot, in the order of programming.
    pub(super) pages: Vec<u32>,
    /// The number of slots that hold the newest version of their page.
    pub(super) newest: u32,
    /// Whether the slots hold the first pages of the block, sequentially.
    sequential: bool,
    pub(super) used_at: u64,
}

impl Log {
    const UNUSED: Self = Self { block: NONE, pages: Vec::new(), newest: 0, sequential: true, used_at: 0 };

    pub(super) const fn is_unused(&self) -> bool {
        !self.is_assigned() && self.pages.is_empty()
    }

    /// True if the log belongs to a data block.
    pub(super) const fn is_assigned(&self) -> bool {
        self.block != NONE
    }

    /// True if the log holds the first pages of its own block, sequentially.
    pub(super) const fn is_sequential(&self) -> bool {
        self.sequential && self.is_assigned()
    }

    /// True if the page at `offset` in the block is the next one of a sequential log.
    pub(super) const fn continues_with(&self, offset: u32) -> bool {
        self.is_sequential() && self.pages.len() == offset as usize
    }
}

/// All log blocks.
#[derive(Debug, Clone)]
pub(super) struct Logs {
    block_pages: u32,
    logs: Vec<Log>,
    /// For each page the slot that holds its newest version, numbered over all logs, plus one; 0 if none
    /// does.
    location: Vec<u32>,
    /// For each data block the index of its log, plus one; 0 if it has none.
    log_of: Vec<u16>,
    writes: u64,
}

impl Index<usize> for Logs {
    type Output = Log;

    fn index(&self, log: usize) -> &Log {
        &self.logs[log]
    }
}

impl IndexMut<usize> for Logs {
    fn index_mut(&mut self, log: usize) -> &mut Log {
        &mut self.logs[log]
    }
}

impl Logs {
    pub(super) fn new(count: usize, pages: u32, block_pages: u32) -> Self {
        Self {
            block_pages,
            logs: vec![Log::UNUSED; count],
            location: vec![0; pages as usize],
            log_of: vec![0; pages.div_ceil(block_pages) as usize],
            writes: 0,
        }
    }

    pub(super) const fn count(&self) -> usize {
        self.logs.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Log> {
        self.logs.iter()
    }

    pub(super) fn is_full(&self, log: usize) -> bool {
        self.logs[log].pages.len() == self.block_pages as usize
    }

    /// The log of a data block.
    pub(super) fn of_block(&self, block: u32) -> Option<usize> {
        (self.log_of[block as usize] as usize).checked_sub(1)
    }

    /// Assigns an unused log to a data block.
    pub(super) fn assign(&mut self, log: usize, block: u32) {
        self.logs[log].block = block;
        self.log_of[block as usize] = u16::try_from(log + 1).unwrap_or(u16::MAX);
    }

    /// Programs a page in a log that is not full.
    pub(super) fn append(&mut self, log: usize, page: u32) {
        self.supersede(page);
        self.writes += 1;
        let entry = &mut self.logs[log];
        let slot = entry.pages.len();
        entry.sequential &= page % self.block_pages == to_u32(slot);
        entry.pages.push(page);
        entry.newest += 1;
        entry.used_at = self.writes;
        self.location[page as usize] = to_u32(log) * self.block_pages + to_u32(slot) + 1;
    }

    /// Marks that no log holds the newest version of a page; false if none did.
    pub(super) fn supersede(&mut self, page: u32) -> bool {
        let location = std::mem::take(&mut self.location[page as usize]);
        if location == 0 {
            return false;
        }
        self.logs[((location - 1) / self.block_pages) as usize].newest -= 1;
        true
    }

    /// True if a log's `slot` holds the newest version of its page.
    pub(super) fn is_newest(&self, log: usize, slot: usize) -> bool {
        let location = self.location[self.logs[log].pages[slot] as usize];
        location == to_u32(log) * self.block_pages + to_u32(slot) + 1
    }

    /// Turns the log into a data block: the log is unused afterwards. Returns the number of pages it held.
    pub(super) fn release_as_data(&mut self, log: usize) -> u32 {
        for slot in 0..self.logs[log].pages.len() {
            if self.is_newest(log, slot) {
                self.supersede(self.logs[log].pages[slot]);
            }
        }
        to_u32(self.release(log))
    }

    /// Makes a log unused, and returns the number of pages programmed in it.
    pub(super) fn release(&mut self, log: usize) -> usize {
        let entry = &mut self.logs[log];
        let programmed = entry.pages.len();
        entry.pages.clear();
        entry.sequential = true;
        let block = std::mem::replace(&mut entry.block, NONE);
        if block != NONE {
            self.log_of[block as usize] = 0;
        }
        programmed
    }

    /// True if a log holds the newest version of a page.
    pub(super) fn is_held(&self, page: u32) -> bool {
        self.location[page as usize] != 0
    }

    /// Pages whose newest version is in a log, each with its slot number; for audits.
    pub(super) fn held_pages(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..)
            .zip(&self.location)
            .filter(|(_, location)| **location != 0)
            .map(|(page, location)| (page, *location - 1))
    }
}

/// A number of logs or of pages in a block; the profile's check bounds both.
pub(super) fn to_u32(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
