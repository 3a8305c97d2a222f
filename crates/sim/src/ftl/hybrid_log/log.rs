//! Log blocks: the pages they hold, and where the newest version of each page is.

use std::ops::{Index, IndexMut};

/// No data block.
pub(super) const NONE: u32 = u32::MAX;

/// One log block.
#[derive(Debug, Clone)]
pub(super) struct Log {
    /// The data block it belongs to; `NONE` if it belongs to none or is unused.
    pub(super) block: u32,
    /// The page in each of its places, in the order they were programmed.
    pub(super) pages: Vec<u32>,
    /// How many of them are the newest version.
    pub(super) newest: u32,
    /// Whether they are its block's first pages, in order.
    in_order: bool,
    pub(super) used_at: u64,
}

impl Log {
    const UNUSED: Self = Self { block: NONE, pages: Vec::new(), newest: 0, in_order: true, used_at: 0 };

    pub(super) const fn is_unused(&self) -> bool {
        !self.is_dedicated() && self.pages.is_empty()
    }

    /// Whether it belongs to a data block.
    pub(super) const fn is_dedicated(&self) -> bool {
        self.block != NONE
    }

    /// Whether it holds the first pages of its own block in order.
    pub(super) const fn is_in_order(&self) -> bool {
        self.in_order && self.is_dedicated()
    }

    /// Whether a page at `offset` in its block is the next in order.
    pub(super) const fn continues_with(&self, offset: u32) -> bool {
        self.is_in_order() && self.pages.len() == offset as usize
    }
}

/// All log blocks.
#[derive(Debug, Clone)]
pub(super) struct Logs {
    block_pages: u32,
    logs: Vec<Log>,
    /// For each page the place in the logs that holds its newest version, plus one; 0 if none does.
    place: Vec<u32>,
    /// For each data block the log that belongs to it, plus one; 0 if none does.
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
            place: vec![0; pages as usize],
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

    /// The log that belongs to a data block.
    pub(super) fn of_block(&self, block: u32) -> Option<usize> {
        (self.log_of[block as usize] as usize).checked_sub(1)
    }

    /// Gives an unused log to a data block.
    pub(super) fn dedicate(&mut self, log: usize, block: u32) {
        self.logs[log].block = block;
        self.log_of[block as usize] = u16::try_from(log + 1).unwrap_or(u16::MAX);
    }

    /// Programs a page in a log that is not full.
    pub(super) fn append(&mut self, log: usize, page: u32) {
        self.supersede(page);
        self.writes += 1;
        let entry = &mut self.logs[log];
        let slot = entry.pages.len();
        entry.in_order &= page % self.block_pages == low_half(slot);
        entry.pages.push(page);
        entry.newest += 1;
        entry.used_at = self.writes;
        self.place[page as usize] = low_half(log) * self.block_pages + low_half(slot) + 1;
    }

    /// The newest version of a page is in no log any more; false if it was not before.
    pub(super) fn supersede(&mut self, page: u32) -> bool {
        let place = std::mem::take(&mut self.place[page as usize]);
        if place == 0 {
            return false;
        }
        self.logs[((place - 1) / self.block_pages) as usize].newest -= 1;
        true
    }

    /// Whether the newest version of the page in a log's `slot` is there.
    pub(super) fn is_newest(&self, log: usize, slot: usize) -> bool {
        let place = self.place[self.logs[log].pages[slot] as usize];
        place == low_half(log) * self.block_pages + low_half(slot) + 1
    }

    /// What the log holds lies in a data block now, and the log is unused; returns how many pages it held.
    pub(super) fn hand_over(&mut self, log: usize) -> u32 {
        for slot in 0..self.logs[log].pages.len() {
            if self.is_newest(log, slot) {
                self.supersede(self.logs[log].pages[slot]);
            }
        }
        low_half(self.release(log))
    }

    /// Makes a log unused, and returns how many pages were programmed in it.
    pub(super) fn release(&mut self, log: usize) -> usize {
        let entry = &mut self.logs[log];
        let programmed = entry.pages.len();
        entry.pages.clear();
        entry.in_order = true;
        let block = std::mem::replace(&mut entry.block, NONE);
        if block != NONE {
            self.log_of[block as usize] = 0;
        }
        programmed
    }

    /// Whether the newest version of a page is in a log.
    pub(super) fn is_held(&self, page: u32) -> bool {
        self.place[page as usize] != 0
    }

    /// Pages whose newest version is in a log, each with its place; for audits.
    pub(super) fn held(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..).zip(&self.place).filter(|(_, place)| **place != 0).map(|(page, place)| (page, *place - 1))
    }
}

/// A number of logs or of pages in a block, which the profile bounds.
pub(super) fn low_half(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
