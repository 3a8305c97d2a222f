//! BAST: each log block belongs to one data block.

use super::HybridLog;

impl HybridLog {
    /// Appends a page to its block's log; returns the time of merges. A log that is full is given up at once.
    pub(super) fn write_block_associative(&mut self, page: u32) -> u64 {
        let block = page / self.block_pages;
        let (log, mut copying_ns) =
            self.logs.of_block(block).map_or_else(|| self.take_log(block), |log| (log, 0));
        self.data.want(page);
        self.logs.append(log, page);
        if self.logs.is_full(log) {
            copying_ns += self.give_up(log);
        }
        copying_ns
    }

    /// A log for a block that has none: an unused one, or that which was not written for the longest time.
    fn take_log(&mut self, block: u32) -> (usize, u64) {
        let rank = |log: &usize| (!self.logs[*log].is_unused(), self.logs[*log].used_at);
        let log = (0..self.logs.count()).min_by_key(rank).unwrap_or(0);
        let copying_ns = if self.logs[log].is_unused() { 0 } else { self.give_up(log) };
        self.logs.dedicate(log, block);
        (log, copying_ns)
    }
}
