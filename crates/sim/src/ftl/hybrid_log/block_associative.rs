//! BAST: each log block belongs to one data block.

use super::HybridLog;

impl HybridLog {
    /// Appends a page to its block's log and returns the time of merges. A full log is reclaimed at once.
    pub(super) fn write_block_associative(&mut self, page: u32) -> u64 {
        let block = page / self.block_pages;
        let (log, mut copying_ns) =
            self.logs.of_block(block).map_or_else(|| self.allocate_log(block), |log| (log, 0));
        self.data.mark_valid(page);
        self.logs.append(log, page);
        if self.logs.is_full(log) {
            copying_ns += self.reclaim(log);
        }
        copying_ns
    }

    /// A log for a block that has none: an unused one, or the least recently written one.
    fn allocate_log(&mut self, block: u32) -> (usize, u64) {
        let rank = |log: &usize| (!self.logs[*log].is_unused(), self.logs[*log].used_at);
        let log = (0..self.logs.count()).min_by_key(rank).unwrap_or(0);
        let copying_ns = if self.logs[log].is_unused() { 0 } else { self.reclaim(log) };
        self.logs.assign(log, block);
        (log, copying_ns)
    }
}
