//! Switch, partial merge and full merge.

use super::HybridLog;
use super::log::to_u32;

impl HybridLog {
    /// Reclaims a log block with the cheapest merge, and returns the time.
    pub(super) fn reclaim(&mut self, log: usize) -> u64 {
        let (erases, copied) = (self.counts.erases, self.counts.pages_copied);
        if self.logs[log].newest == 0 {
            self.erase_log(log);
        } else if self.logs[log].is_sequential() {
            self.switch_or_merge_partially(log);
        } else {
            self.merge_fully(log);
        }
        (self.counts.pages_copied - copied) * self.copy_page_ns
            + (self.counts.erases - erases) * self.erase_ns
    }

    /// Switch or partial merge: the missing pages are copied to the end of the log, which then becomes the
    /// data block. Newer versions of its pages stay in other logs.
    fn switch_or_merge_partially(&mut self, log: usize) {
        let block = self.logs[log].block;
        let held = self.logs.release_as_data(log);
        let rest: Vec<u32> = self.data.valid_from(block, held).collect();
        for page in &rest {
            self.logs.supersede(*page);
        }
        self.count_copies(rest.len());
        self.erase_data(block);
        self.data.set_programmed(block, held + to_u32(rest.len()));
    }

    /// Fully merges every data block of which the log holds a newest page, then erases the log.
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

    /// Copies all valid pages of a block into a new one, from the block and from logs.
    fn merge_block(&mut self, block: u32) {
        let first = block * self.block_pages;
        for page in first..(first + self.block_pages).min(self.pages) {
            self.logs.supersede(page);
        }
        let valid = self.data.valid(block);
        self.count_copies(valid as usize);
        self.erase_data(block);
        self.data.set_programmed(block, valid);
        if let Some(log) = self.logs.of_block(block) {
            self.erase_log(log);
        }
    }

    fn count_copies(&mut self, pages: usize) {
        self.counts.merges += u64::from(pages > 0);
        self.counts.pages_copied += pages as u64;
        self.accounting.programmed += pages as u64;
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
        self.accounting.erased += programmed as u64;
    }
}
