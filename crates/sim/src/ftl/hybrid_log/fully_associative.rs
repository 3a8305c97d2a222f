//! FAST: one log block for a sequential run, the others for pages of any block.

use super::HybridLog;

// The index of the sequential log. The shared logs follow and are filled round-robin.
const SEQUENTIAL: usize = 0;

impl HybridLog {
    /// Appends a page to the sequential log or to a shared one, and returns the time of merges.
    pub(super) fn write_fully_associative(&mut self, page: u32) -> u64 {
        let (block, offset) = (page / self.block_pages, page % self.block_pages);
        self.data.mark_valid(page);
        let sequential = &self.logs[SEQUENTIAL];
        if sequential.block == block && sequential.continues_with(offset) {
            return self.append_sequential(page);
        }
        let mut copying_ns = 0;
        if offset == 0 || sequential.block == block {
            copying_ns += self.end_run();
        }
        if offset == 0 {
            self.logs.assign(SEQUENTIAL, block);
            return copying_ns + self.append_sequential(page);
        }
        copying_ns + self.append_random(page)
    }

    fn append_sequential(&mut self, page: u32) -> u64 {
        self.logs.append(SEQUENTIAL, page);
        if self.logs.is_full(SEQUENTIAL) { self.reclaim(SEQUENTIAL) } else { 0 }
    }

    fn end_run(&mut self) -> u64 {
        if self.logs[SEQUENTIAL].is_unused() { 0 } else { self.reclaim(SEQUENTIAL) }
    }

    fn append_random(&mut self, page: u32) -> u64 {
        let mut copying_ns = 0;
        if self.logs.is_full(self.shared) {
            self.shared = if self.shared + 1 < self.logs.count() { self.shared + 1 } else { SEQUENTIAL + 1 };
            if !self.logs[self.shared].is_unused() {
                copying_ns += self.reclaim(self.shared);
            }
        }
        self.logs.append(self.shared, page);
        copying_ns
    }
}
