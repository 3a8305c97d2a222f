//! The flash translation layer: a few open erase blocks, and what it costs to close one.
//!
//! After FAST (S.-W. Lee et al., "A log buffer-based flash translation layer using fully-associative sector translation",
//! ACM TECS 6(3), 2007), with logs that belong to one erase block each. An open unit takes data in *runs*: a run continues
//! where it ended. A run from start to end replaces the old block as it stands, for free. A run that is broken
//! or must be closed before that is merged: what it lacks is copied from the old block. Only data that neither continues a run nor
//! begins at the unit's start puts the unit in random mode: such runs go to its log, and a full log is merged with
//! several copies. All costs are closed forms: no page is ever walked over.

use crate::chance::Chance;
use crate::link::nanoseconds;
use crate::profile::{self, Victim};
use crate::writes::pages_touched;

// No offset continues here.
const NOWHERE: u64 = u64::MAX;

#[derive(Debug, Clone)]
pub(crate) struct Ftl {
    block_bytes: u64,
    page_bytes: u64,
    open_max: usize,
    random_max: usize,
    victim: Victim,
    merge_ns: u64,
    random_merge_ns: u64,
    log_pages: u64,
    fat_area_end: u64,
    open: Vec<OpenUnit>,
    writes: u64,
    chance: Chance,
    counts: Counts,
}

/// What the layer did inside.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) merges: u64,
    pub(crate) erases: u64,
    pub(crate) pages_copied: u64,
}

/// One open erase block. Offsets are relative to its start.
#[derive(Debug, Clone, Copy)]
struct OpenUnit {
    unit: u64,
    written_at: u64,
    random: bool,
    run_start: u64,
    run_end: u64,
    run_pages: u64,
    log_pages: u64,
    superseded_bytes: u64,
}

impl OpenUnit {
    const fn new(unit: u64) -> Self {
        Self {
            unit,
            written_at: 0,
            random: false,
            run_start: NOWHERE,
            run_end: NOWHERE,
            run_pages: 0,
            log_pages: 0,
            superseded_bytes: 0,
        }
    }

    const fn is_fresh(&self) -> bool {
        !self.random && self.run_start == NOWHERE
    }

    const fn is_sequential(&self) -> bool {
        self.run_start == 0
    }

    const fn begin_run(&mut self, at: u64) {
        (self.run_start, self.run_end, self.run_pages) = (at, at, 0);
    }

    const fn extend_run(&mut self, end: u64, pages: u64) {
        self.run_end = end;
        self.run_pages += pages;
    }
}

impl Ftl {
    pub(crate) fn new(ftl: &profile::Ftl, chance: Chance) -> Self {
        Self {
            block_bytes: ftl.erase_block.get(),
            page_bytes: ftl.page.get(),
            open_max: ftl.open_units_linear as usize,
            random_max: ftl.open_units_random as usize,
            victim: ftl.victim,
            merge_ns: nanoseconds(ftl.merge_us),
            random_merge_ns: nanoseconds(ftl.merge_us * ftl.random_merge_copies),
            log_pages: ftl.random_log.unwrap_or(ftl.erase_block) / ftl.page,
            fat_area_end: ftl.fat_area.get(),
            open: Vec::with_capacity(ftl.open_units_linear as usize),
            writes: 0,
            chance,
            counts: Counts::default(),
        }
    }

    pub(crate) const fn counts(&self) -> Counts {
        self.counts
    }

    /// Takes the data from `start` to `end` and returns what had to be copied for it, in nanoseconds.
    pub(crate) fn write(&mut self, start: u64, end: u64) -> u64 {
        let mut next = start.max(self.fat_area_end);
        let mut copying_ns = 0;
        while next < end {
            let unit = next / self.block_bytes;
            let unit_start = unit * self.block_bytes;
            let piece_end = end.min(unit_start + self.block_bytes);
            copying_ns += self.write_unit(unit, next - unit_start, piece_end - unit_start);
            next = piece_end;
        }
        copying_ns
    }

    fn write_unit(&mut self, unit: u64, from: u64, to: u64) -> u64 {
        self.writes += 1;
        let (mut slot, mut copying_ns) = self.slot_of(unit);
        if self.open[slot].run_end != from {
            copying_ns += self.jump(&mut slot, from);
        }
        let open = &mut self.open[slot];
        let pages = pages_touched(from, to, self.page_bytes);
        open.written_at = self.writes;
        open.extend_run(to, pages);
        if open.random && !open.is_sequential() {
            copying_ns += self.log(slot, pages);
        }
        if to == self.block_bytes {
            copying_ns += self.reach_end(slot);
        }
        copying_ns
    }

    /// The slot of an open unit; opens it, closing another if all slots are taken.
    fn slot_of(&mut self, unit: u64) -> (usize, u64) {
        if let Some(slot) = self.open.iter().position(|open| open.unit == unit) {
            return (slot, 0);
        }
        let mut copying_ns = 0;
        if self.open.len() == self.open_max {
            let victim = self.victim(|_| true);
            copying_ns = self.close(victim);
        }
        self.open.push(OpenUnit::new(unit));
        (self.open.len() - 1, copying_ns)
    }

    /// Data that does not continue the run of the unit in `slot`.
    fn jump(&mut self, slot: &mut usize, from: u64) -> u64 {
        let mut copying_ns = 0;
        if !self.open[*slot].is_fresh() {
            copying_ns = if self.random_max == 0 { self.reopen(slot) } else { self.break_run(slot, from) };
        }
        self.open[*slot].begin_run(from);
        copying_ns
    }

    /// Merges a unit and opens it anew: the only way where there is no random mode.
    fn reopen(&mut self, slot: &mut usize) -> u64 {
        let unit = self.open[*slot].unit;
        let copying_ns = self.close(*slot);
        self.open.push(OpenUnit::new(unit));
        *slot = self.open.len() - 1;
        copying_ns
    }

    /// Ends a run: a sequential one is completed from the old block, another goes to the log.
    fn break_run(&mut self, slot: &mut usize, from: u64) -> u64 {
        let open = self.open[*slot];
        let mut copying_ns = 0;
        if open.is_sequential() {
            copying_ns += self.complete_run(&open);
        } else if !open.random {
            copying_ns += self.enter_random_mode(slot);
            copying_ns += self.log(*slot, open.run_pages);
        }
        if from != 0 {
            copying_ns += self.enter_random_mode(slot);
        }
        copying_ns
    }

    /// Puts a unit in random mode; merges another if too many are.
    fn enter_random_mode(&mut self, slot: &mut usize) -> u64 {
        let mut copying_ns = 0;
        let in_random_mode = || self.open.iter().filter(|open| open.random).count();
        if !self.open[*slot].random && in_random_mode() == self.random_max {
            let unit = self.open[*slot].unit;
            let victim = self.victim(|open| open.random);
            copying_ns = self.close(victim);
            *slot = self.open.iter().position(|open| open.unit == unit).unwrap_or(victim);
        }
        self.open[*slot].random = true;
        copying_ns
    }

    /// Adds pages to the log of a unit in random mode, and merges as often as that fills it.
    fn log(&mut self, slot: usize, pages: u64) -> u64 {
        let open = &mut self.open[slot];
        open.log_pages += pages;
        let times = open.log_pages / self.log_pages;
        open.log_pages %= self.log_pages;
        self.count_merges(times, self.block_bytes);
        times * self.random_merge_ns
    }

    /// The run of the unit in `slot` reached the unit's end.
    fn reach_end(&mut self, slot: usize) -> u64 {
        let open = self.open[slot];
        if open.is_sequential() {
            self.forget(slot);
            0
        } else if open.random {
            self.open[slot].begin_run(NOWHERE);
            0
        } else {
            self.close(slot)
        }
    }

    /// Small writes went elsewhere: what they replace in an open unit need never be merged.
    pub(crate) fn supersede(&mut self, start: u64, end: u64) {
        let unit = start / self.block_bytes;
        let Some(slot) = self.open.iter().position(|open| open.unit == unit) else { return };
        let open = &mut self.open[slot];
        open.superseded_bytes += end - start;
        if open.superseded_bytes >= self.block_bytes {
            self.forget(slot);
        }
    }

    /// Nothing of the old data in the unit in `slot` is wanted: it is erased without a copy.
    fn forget(&mut self, slot: usize) {
        self.counts.erases += 1;
        self.open.swap_remove(slot);
    }

    /// Closes the unit in `slot`: with several copies if it was written out of order.
    fn close(&mut self, slot: usize) -> u64 {
        let open = self.open.swap_remove(slot);
        if open.random {
            self.count_merges(1, self.block_bytes);
            self.random_merge_ns
        } else {
            self.complete_run(&open)
        }
    }

    /// Copies what a run lacks of its block.
    fn complete_run(&mut self, open: &OpenUnit) -> u64 {
        let lacks = self.block_bytes - (open.run_end - open.run_start);
        self.count_merges(1, lacks);
        scale(self.merge_ns, lacks, self.block_bytes)
    }

    const fn count_merges(&mut self, times: u64, bytes_copied: u64) {
        self.counts.merges += times;
        self.counts.erases += times;
        self.counts.pages_copied += times * bytes_copied.div_ceil(self.page_bytes);
    }

    /// The slot that has to go, among those that `may`; at least one does.
    fn victim(&mut self, may: impl Fn(&OpenUnit) -> bool) -> usize {
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
