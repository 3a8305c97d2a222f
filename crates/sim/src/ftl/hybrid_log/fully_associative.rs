//! FAST: one log block for a run in order, the others for anything.

use super::HybridLog;

// The log block of the block that is written in order; those behind it are filled in turn.
const SEQUENTIAL: usize = 0;

impl HybridLog {
    /// Appends a page to the sequential log or to a shared one; returns the time of merges.
    pub(super) fn write_fully_associative(&mut self, page: u32) -> u64 {
        let (block, offset) = (page / self.block_pages, page % self.block_pages);
        self.data.want(page);
        let sequential = &self.logs[SEQUENTIAL];
        if sequential.block == block && sequential.continues_with(offset) {
            return self.append_in_order(page);
        }
        let mut copying_ns = 0;
        if offset == 0 || sequential.block == block {
            copying_ns += self.end_run();
        }
        if offset == 0 {
            self.logs.dedicate(SEQUENTIAL, block);
            return copying_ns + self.append_in_order(page);
        }
        copying_ns + self.append_anywhere(page)
    }

    fn append_in_order(&mut self, page: u32) -> u64 {
        self.logs.append(SEQUENTIAL, page);
        if self.logs.is_full(SEQUENTIAL) { self.give_up(SEQUENTIAL) } else { 0 }
    }

    fn end_run(&mut self) -> u64 {
        if self.logs[SEQUENTIAL].is_unused() { 0 } else { self.give_up(SEQUENTIAL) }
    }

    fn append_anywhere(&mut self, page: u32) -> u64 {
        let mut copying_ns = 0;
        if self.logs.is_full(self.shared) {
            self.shared = if self.shared + 1 < self.logs.count() { self.shared + 1 } else { SEQUENTIAL + 1 };
            if !self.logs[self.shared].is_unused() {
                copying_ns += self.give_up(self.shared);
            }
        }
        self.logs.append(self.shared, page);
        copying_ns
    }
}
