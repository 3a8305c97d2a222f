//! Switch, partial merge and full merge.

use super::HybridLog;
use super::log::low_half;

impl HybridLog {
    /// Gives a log block up in the cheapest way there is, and returns the time.
    pub(super) fn give_up(&mut self, log: usize) -> u64 {
        let (erases, copied) = (self.counts.erases, self.counts.pages_copied);
        if self.logs[log].newest == 0 {
            self.erase_log(log);
        } else if self.logs[log].is_in_order() {
            self.become_data(log);
        } else {
            self.merge_fully(log);
        }
        (self.counts.pages_copied - copied) * self.copy_page_ns
            + (self.counts.erases - erases) * self.erase_ns
    }

    /// Switch or partial merge: the log becomes the data block, after what it lacks was copied behind what it holds.
    /// Newer versions of pages that it holds stay where they are, in other logs.
    fn become_data(&mut self, log: usize) {
        let block = self.logs[log].block;
        let held = self.logs.hand_over(log);
        let rest: Vec<u32> = self.data.wanted_from(block, held).collect();
        for page in &rest {
            self.logs.supersede(*page);
        }
        self.count_copies(rest.len());
        self.erase_data(block);
        self.data.set_programmed(block, held + low_half(rest.len()));
    }

    /// Full merges of every data block of which the log holds a newest page; then it is erased.
    fn merge_fully(&mut self, log: usize) {
        let mut slot = 0;
        while let Some(page) = self.logs[log].pages.get(slot).copied() {
            if self.logs.is_newest(log, slot) {
                self.merge_block(page / self.block_pages);
            }
            slot += 1;
        }
        self.erase_log(log);
    }

    /// Copies all that is wanted of a block into a new one, from wherever it is.
    fn merge_block(&mut self, block: u32) {
        let first = block * self.block_pages;
        for page in first..(first + self.block_pages).min(self.pages) {
            self.logs.supersede(page);
        }
        let wanted = self.data.wanted(block);
        self.count_copies(wanted as usize);
        self.erase_data(block);
        self.data.set_programmed(block, wanted);
        if let Some(log) = self.logs.of_block(block) {
            self.erase_log(log);
        }
    }

    fn count_copies(&mut self, pages: usize) {
        self.counts.merges += u64::from(pages > 0);
        self.counts.pages_copied += pages as u64;
        self.books.programmed += pages as u64;
    }

    /// Erases a data block, if there is one.
    pub(super) fn erase_data(&mut self, block: u32) {
        let programmed = self.data.set_programmed(block, 0);
        self.count_erase(programmed as usize);
    }

    /// Erases a log block and makes it unused.
    pub(super) fn erase_log(&mut self, log: usize) {
        let programmed = self.logs.release(log);
        self.count_erase(programmed);
    }

    fn count_erase(&mut self, programmed: usize) {
        self.counts.erases += u64::from(programmed > 0);
        self.books.erased += programmed as u64;
    }
}
