//! The cost of a full log and of closing a unit, and the choice of the unit to close.

use super::OpenBlocks;
use super::open_unit::OpenUnit;
use crate::arithmetic::share;
use crate::profile::Victim;

impl OpenBlocks {
    /// Adds pages to the log of a unit in random mode. Each time the log fills up costs a merge.
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

    /// Switch merge: all old data of the unit in `slot` is replaced, so it is erased without a copy.
    pub(super) fn switch_merge(&mut self, slot: usize) {
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

    /// Copies the part of the block that a run does not cover.
    pub(super) fn complete_run(&mut self, open: &OpenUnit) -> u64 {
        let missing_bytes = self.block_bytes - (open.run_end - open.run_start);
        let time_ns = share(self.merge.ns(open.held_bytes), missing_bytes, self.block_bytes);
        self.merge(1, share(self.block_pages, missing_bytes, self.block_bytes), time_ns)
    }

    const fn merge(&mut self, times: u64, pages: u64, time_ns: u64) -> u64 {
        self.counts.merges += times;
        self.counts.erases += times;
        self.counts.pages_copied += times * pages;
        times * time_ns
    }

    /// The slot to close among the candidates; there is at least one candidate.
    pub(super) fn choose_victim(&mut self, is_candidate: impl Fn(&OpenUnit) -> bool) -> usize {
        if self.victim == Victim::Clock {
            self.spare_rewritten(&is_candidate);
        }
        let candidates = || self.open.iter().enumerate().filter(|(_, open)| is_candidate(open));
        let chosen = match self.victim {
            Victim::Lru => candidates().min_by_key(|(_, open)| open.written_at),
            Victim::Fifo | Victim::Clock => candidates().min_by_key(|(_, open)| open.queued_at),
            Victim::Random => {
                let count = candidates().count();
                candidates().nth(self.rng.below(count))
            }
        };
        chosen.map_or(0, |(slot, _)| slot)
    }

    /// Requeues candidates from the front of the queue until one that was not rewritten is in front. Each is
    /// spared at most once.
    fn spare_rewritten(&mut self, is_candidate: &impl Fn(&OpenUnit) -> bool) {
        for _ in 0..self.open.len() {
            let front =
                self.open.iter_mut().filter(|open| is_candidate(open)).min_by_key(|open| open.queued_at);
            let Some(front) = front.filter(|open| open.rewritten) else { return };
            self.queue_end += 1;
            (front.queued_at, front.rewritten) = (self.queue_end, false);
        }
    }
}
