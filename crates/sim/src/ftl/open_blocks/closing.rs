//! What it costs when a log is full or a unit must go, and which one that is.

use super::OpenBlocks;
use super::open_unit::OpenUnit;
use crate::profile::Victim;

impl OpenBlocks {
    /// Adds pages to the log of a unit in random mode, and merges as often as that fills it.
    pub(super) fn log(&mut self, slot: usize, pages: u64) -> u64 {
        let open = &mut self.open[slot];
        open.log_pages += pages;
        let times = open.log_pages / self.log_pages;
        if times == 0 {
            return 0;
        }
        open.log_pages %= self.log_pages;
        let time_ns = self.random_merge.ns(open.held_bytes);
        open.held_bytes = 0;
        self.merge(times, self.random_merge_pages, time_ns)
    }

    /// Nothing of the old data in the unit in `slot` is wanted: it is erased without a copy.
    pub(super) fn forget(&mut self, slot: usize) {
        self.counts.erases += 1;
        self.open.swap_remove(slot);
    }

    /// Closes the unit in `slot`.
    pub(super) fn close(&mut self, slot: usize) -> u64 {
        let open = self.open.swap_remove(slot);
        if open.random {
            let time_ns = self.random_merge.ns(open.held_bytes);
            return self.merge(1, self.random_merge_pages, time_ns);
        }
        self.complete_run(&open)
    }

    /// Copies what a run lacks of its block.
    pub(super) fn complete_run(&mut self, open: &OpenUnit) -> u64 {
        let lacks = self.block_bytes - (open.run_end - open.run_start);
        let time_ns = scale(self.merge.ns(open.held_bytes), lacks, self.block_bytes);
        self.merge(1, scale(self.block_pages, lacks, self.block_bytes), time_ns)
    }

    const fn merge(&mut self, times: u64, pages: u64, time_ns: u64) -> u64 {
        self.counts.merges += times;
        self.counts.erases += times;
        self.counts.pages_copied += times * pages;
        times * time_ns
    }

    /// The slot that has to go, among those that `may`; at least one does.
    pub(super) fn victim(&mut self, may: impl Fn(&OpenUnit) -> bool) -> usize {
        let candidates = || self.open.iter().enumerate().filter(|(_, open)| may(open));
        let chosen = match self.victim {
            Victim::Lru => candidates().min_by_key(|(_, open)| open.written_at),
            Victim::Random => {
                let count = candidates().count();
                candidates().nth(self.chance.below(count))
            }
        };
        chosen.map_or(0, |(slot, _)| slot)
    }
}

/// `whole` times `part / of`, without overflow.
#[expect(clippy::cast_possible_truncation, reason = "part is at most of, so the result is at most whole")]
const fn scale(whole: u64, part: u64, of: u64) -> u64 {
    (whole as u128 * part as u128 / of as u128) as u64
}
