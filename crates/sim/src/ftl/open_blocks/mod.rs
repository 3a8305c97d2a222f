//! A limited number of open erase blocks, and the cost to close one.
//!
//! After FAST (S.-W. Lee et al., "A log buffer-based flash translation layer using fully-associative sector
//! translation", ACM TECS 6(3), 2007), with one log per erase block. An open unit takes data in *runs*: a run
//! continues where it ended. A run from start to end of the unit replaces the old block for free. A run that
//! is broken or closed earlier costs a merge: the missing part is copied from the old block. Data that
//! neither continues a run nor begins at the unit's start puts the unit in random mode: such runs go to its
//! log, and a full log costs several copies. A layer without random mode may fill gaps instead: it copies
//! what a write skipped, and the run continues. The pages of an MLC block can only be programmed in order.
//!
//! All costs are closed forms; nothing iterates over pages.

mod audit;
mod closing;
mod open_unit;
mod opening;

use crate::arithmetic::{pages_touched, share};
use crate::curve::Curve;
use crate::ftl::inconsistency::Inconsistency;
use crate::ftl::layer::{Counts, Placement, TranslationLayer};
use crate::profile::{self, Victim};
use crate::rng::StreamRng;
use open_unit::{NO_RUN, OpenUnit};
use opening::Opening;

/// The layer: the slots of open units, and the costs of a merge.
#[derive(Debug, Clone)]
pub(crate) struct OpenBlocks {
    block_bytes: u64,
    page_bytes: u64,
    open_max: usize,
    random_max: usize,
    victim: Victim,
    completes_broken_runs: bool,
    fills_gaps: bool,
    merge: Curve,
    random_merge: Curve,
    block_pages: u64,
    random_merge_pages: u64,
    opening: Opening,
    log_pages: u64,
    fat_area_end: u64,
    open: Vec<OpenUnit>,
    last_unit: Option<u64>,
    writes: u64,
    /// The last position given out in the order of opening.
    queue_end: u64,
    rng: StreamRng,
    counts: Counts,
}

impl OpenBlocks {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the profile bounds pages and copies"
    )]
    pub(crate) fn new(ftl: &profile::Ftl, policy: &profile::OpenBlocks, rng: StreamRng) -> Self {
        let merge = Curve::level(&policy.merge_us);
        let random_merge = match &policy.random_merge_us {
            Some(curve) => Curve::level(curve),
            None => merge.clone().times(policy.random_merge_copies),
        };
        let block_pages = ftl.erase_block / ftl.page;
        Self {
            block_bytes: ftl.erase_block.get(),
            page_bytes: ftl.page.get(),
            open_max: policy.open_units_linear as usize,
            random_max: policy.open_units_random as usize,
            victim: policy.victim,
            completes_broken_runs: policy.completes_broken_runs,
            fills_gaps: policy.fills_gaps,
            merge,
            random_merge,
            block_pages,
            random_merge_pages: (block_pages as f64 * policy.random_merge_copies).round() as u64,
            opening: Opening::new(ftl, policy),
            log_pages: policy.random_log.unwrap_or(ftl.erase_block) / ftl.page,
            fat_area_end: ftl.fat_area.get(),
            open: Vec::with_capacity(policy.open_units_linear as usize),
            last_unit: None,
            writes: 0,
            queue_end: 0,
            rng,
            counts: Counts::default(),
        }
    }

    /// The position of the bytes from `start` to `end` relative to the last write and to the run of their
    /// unit.
    fn locality(&self, start: u64, end: u64) -> Placement {
        let (unit, from) = (start / self.block_bytes, start % self.block_bytes);
        let run_end =
            self.open.iter().find(|open| open.unit == unit && !open.is_fresh()).map(|open| open.run_end);
        let is_whole = from == 0 && end - start >= self.block_bytes;
        let switched = self.last_unit.is_some_and(|last| last != unit);
        Placement { switched, jumped: !is_whole && run_end.unwrap_or(0) != from, copying_ns: 0 }
    }

    fn write_unit(&mut self, unit: u64, from: u64, to: u64) -> u64 {
        self.writes += 1;
        self.last_unit = Some(unit);
        let (mut slot, mut copying_ns) = self.slot_of(unit);
        if from == 0 {
            copying_ns += self.opening.open_ns(unit);
        }
        if self.open[slot].run_end != from {
            copying_ns += self.jump(&mut slot, from);
        }
        let open = &mut self.open[slot];
        let pages = pages_touched(from, to, self.page_bytes);
        open.written_at = self.writes;
        open.superseded_bytes = 0;
        open.extend_run(from, to, pages);
        if open.random && !open.is_sequential() {
            copying_ns += self.log(slot, pages);
        }
        if to == self.block_bytes {
            copying_ns += self.end_of_block(slot);
        }
        copying_ns
    }

    /// The slot of a unit. Opens the unit if necessary, and closes another one if all slots are taken.
    fn slot_of(&mut self, unit: u64) -> (usize, u64) {
        if let Some(slot) = self.open.iter().position(|open| open.unit == unit) {
            self.open[slot].rewritten = true;
            return (slot, 0);
        }
        let mut copying_ns = 0;
        if self.open.len() == self.open_max {
            let victim = self.choose_victim(|_| true);
            copying_ns = self.close(victim);
        }
        (self.push(unit), copying_ns)
    }

    /// Opens a unit in a free slot, the last one.
    fn push(&mut self, unit: u64) -> usize {
        self.queue_end += 1;
        self.open.push(OpenUnit::new(unit, self.queue_end));
        self.open.len() - 1
    }

    /// Non-sequential data: it does not continue the run of the unit in `slot`.
    fn jump(&mut self, slot: &mut usize, from: u64) -> u64 {
        if self.fills_gaps {
            return self.fill_gap(slot, from);
        }
        let mut copying_ns = 0;
        if !self.open[*slot].is_fresh() {
            copying_ns = if self.random_max == 0 { self.reopen(slot) } else { self.break_run(slot, from) };
        }
        self.open[*slot].start_run(from);
        copying_ns
    }

    /// Copies what lies between the run of the unit in `slot`, or the unit's start, and `from`.
    fn fill_gap(&mut self, slot: &mut usize, from: u64) -> u64 {
        let mut copying_ns = 0;
        if !self.open[*slot].is_fresh() && self.open[*slot].run_end > from {
            copying_ns = self.reopen(slot);
        }
        if self.open[*slot].is_fresh() {
            self.open[*slot].start_run(0);
        }
        let open = &mut self.open[*slot];
        let gap = from - open.run_end;
        open.run_end = from;
        self.counts.pages_copied += share(self.block_pages, gap, self.block_bytes);
        copying_ns + share(self.merge.ns(open.held_bytes), gap, self.block_bytes)
    }

    /// Merges a unit and opens it again: for layers without random mode.
    fn reopen(&mut self, slot: &mut usize) -> u64 {
        let unit = self.open[*slot].unit;
        let copying_ns = self.close(*slot);
        *slot = self.push(unit);
        copying_ns
    }

    /// Ends a run. A sequential run is completed from the old block; another one goes to the log.
    fn break_run(&mut self, slot: &mut usize, from: u64) -> u64 {
        let open = self.open[*slot];
        let mut copying_ns = 0;
        if open.is_sequential() && self.completes_broken_runs {
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

    /// Puts a unit in random mode, and merges another one if all random slots are taken.
    fn enter_random_mode(&mut self, slot: &mut usize) -> u64 {
        let mut copying_ns = 0;
        let in_random_mode = || self.open.iter().filter(|open| open.random).count();
        if !self.open[*slot].random && in_random_mode() == self.random_max {
            let unit = self.open[*slot].unit;
            let victim = self.choose_victim(|open| open.random);
            copying_ns = self.close(victim);
            *slot = self.open.iter().position(|open| open.unit == unit).unwrap_or(victim);
        }
        self.open[*slot].random = true;
        copying_ns
    }

    /// The run of the unit in `slot` has reached the end of the unit.
    fn end_of_block(&mut self, slot: usize) -> u64 {
        let open = self.open[slot];
        if open.is_sequential() {
            self.switch_merge(slot);
            0
        } else if open.random {
            self.open[slot].start_run(NO_RUN);
            0
        } else if self.random_max > 0 && !self.completes_broken_runs {
            let mut slot = slot;
            let copying_ns = self.enter_random_mode(&mut slot) + self.log(slot, open.run_pages);
            self.open[slot].start_run(NO_RUN);
            copying_ns
        } else {
            self.close(slot)
        }
    }
}

impl TranslationLayer for OpenBlocks {
    fn write(&mut self, start: u64, end: u64) -> Placement {
        let mut next = start.max(self.fat_area_end);
        let mut placement = if next < end { self.locality(next, end) } else { Placement::default() };
        while next < end {
            let unit = next / self.block_bytes;
            let unit_start = unit * self.block_bytes;
            let part_end = end.min(unit_start + self.block_bytes);
            placement.copying_ns += self.write_unit(unit, next - unit_start, part_end - unit_start);
            next = part_end;
        }
        placement
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn supersede(&mut self, start: u64, end: u64) {
        let unit = start / self.block_bytes;
        let Some(slot) = self.open.iter().position(|open| open.unit == unit) else { return };
        let open = &mut self.open[slot];
        open.superseded_bytes += end - start;
        if open.superseded_bytes >= self.block_bytes {
            self.switch_merge(slot);
        }
    }

    fn audit(&self) -> Result<(), Inconsistency> {
        self.check()
    }
}
