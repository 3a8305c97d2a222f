//! When a row of *speed* has enough requests.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_infer::streams::speed::{
    CLEAR_AFTER, Expected, is_changing, is_clear, is_one_request, is_vague,
};
use flashscope_record::observation::{Direction, Order, SpeedCase, SpeedCell, SpeedData};

use crate::contract::Extent;
use crate::experiment::speed::limits::{
    BRIEF_TIME, BRIEF_TIME_MAX, WRITE_TIME_MAX, first_bytes, is_first, is_large, time, time_max,
};
use crate::experiment::speed::thorough;
use crate::experiment::speed::thorough::{CHECK_SHARE, Goal};

/// The fewest requests of a row: fewer give no interval.
const REQUESTS_MIN: usize = 24;
/// The fewest bytes of the first row and of large writes: the start of a device may be managed otherwise.
const BYTES_MIN: Bytes = Bytes::mib(64);
/// The first row of large writes lasts at least a minute, or until it has written [`first_bytes`], so that it
/// exhausts a cache of many gigabytes.
const FIRST_LARGE_TIME_MIN: Duration = Duration::from_secs(60);
/// The least time of writes. Random areas and logs absorb them for a while, and stalls come once in hundreds
/// of writes. Guess.
const WRITE_TIME_MIN: Duration = Duration::from_secs(10);

/// When a row ends.
#[derive(Debug)]
pub(super) struct StoppingRule {
    next_check: Duration,
    /// The stalls that it will meet.
    expected: Option<Expected>,
    /// Whether no earlier row shows if there are stalls.
    pub(super) is_first: bool,
    /// The bytes after which the first row of large writes may end within a minute.
    bytes_within_a_minute: Bytes,
    /// The goal of a thorough row.
    goal: Option<Goal>,
    is_brief: bool,
}

impl StoppingRule {
    /// The rule for a row after those in `data`. No row is clear before [`CLEAR_AFTER`]. Large writes meet
    /// stalls of their own.
    pub(super) fn new(case: SpeedCase, data: &SpeedData, capacity: Bytes, extent: Extent) -> Self {
        let before = &data.cells;
        let expected = Expected::of(case, before).filter(|_| !is_large(case));
        let expected = if data.is_thorough { expected.map(Expected::in_few_periods) } else { expected };
        let is_first = is_first(case, before.iter().map(|cell| cell.case), data.is_thorough);
        let bytes_within_a_minute =
            if is_first && is_large(case) { first_bytes(capacity) } else { Bytes::ZERO };
        let goal = data.is_thorough.then(|| Goal::new(case, is_first, before, capacity)).flatten();
        let is_brief = extent == Extent::Brief;
        Self { next_check: CLEAR_AFTER, expected, is_first, bytes_within_a_minute, goal, is_brief }
    }

    /// Whether a row with the default number of requests gets more.
    pub(super) fn needs_more(&mut self, cell: &SpeedCell) -> bool {
        let lasted = cell.ended_ns.last().map_or(Duration::ZERO, |ended| Duration::from_nanos(*ended));
        let awaits_stalls = self.goal.is_some() && self.awaited_stalls(cell, lasted).is_some();
        awaits_stalls || self.goal_is_open(cell, lasted) || is_changing(cell)
    }

    /// The stalls a row waits for: they take a part of its time, and enough of them come before its time
    /// ends.
    fn awaited_stalls(&self, cell: &SpeedCell, lasted: Duration) -> Option<Expected> {
        let lasted = lasted.as_secs_f64();
        self.expected.filter(|expected| {
            expected.is_worth_it(cell, lasted)
                && expected.seconds_until_enough(cell, lasted) <= self.stall_time_max().as_secs_f64()
        })
    }

    const fn stall_time_max(&self) -> Duration {
        if self.goal.is_some() { thorough::TIME_MAX } else { WRITE_TIME_MAX }
    }

    /// Whether a row that has lasted for `lasted` ends.
    pub(super) fn is_enough(&mut self, cell: &SpeedCell, lasted: Duration) -> bool {
        let few = cell.took_ns.len() < REQUESTS_MIN;
        if self.is_brief {
            return lasted >= BRIEF_TIME_MAX || lasted >= BRIEF_TIME && !few && !is_one_request(cell);
        }
        if let Some(expected) = self.awaited_stalls(cell, lasted).filter(|_| !few) {
            return lasted >= self.stall_time_max() || self.stalls_are_clear(&expected, cell, lasted);
        }
        match &mut self.goal {
            // The goal alone ends the first row.
            Some(goal) if self.is_first => {
                lasted >= thorough::TIME_MAX || !few && !goal.is_open(cell, lasted)
            }
            Some(_) => self.is_enough_by_default(cell, lasted, few) && !self.goal_is_open(cell, lasted),
            None => self.is_enough_by_default(cell, lasted, few),
        }
    }

    fn goal_is_open(&mut self, cell: &SpeedCell, lasted: Duration) -> bool {
        self.goal.as_mut().is_some_and(|goal| goal.is_open(cell, lasted))
    }

    fn is_enough_by_default(&mut self, cell: &SpeedCell, lasted: Duration, few: bool) -> bool {
        let default = time(cell.case);
        let may_continue = few || cell.case.direction == Direction::Write;
        if lasted >= if may_continue { time_max(cell.case) } else { default } {
            return true;
        }
        if few || self.is_short(cell, lasted) || lasted < self.next_check {
            return false;
        }
        self.next_check = lasted + lasted / CHECK_SHARE;
        is_clear(cell) || lasted >= default && !self.is_first && !is_open(cell)
    }

    /// Whether a row has met enough of the expected stalls. Random writes give no position for stalls, unless
    /// one came in every period so far: then one stall more or less must not matter.
    fn stalls_are_clear(&mut self, expected: &Expected, cell: &SpeedCell, lasted: Duration) -> bool {
        let is_random = cell.case.order == Order::Random;
        if is_random && lasted < WRITE_TIME_MIN {
            return false;
        }
        if lasted >= self.next_check && expected.is_at_end_of_one(cell) {
            self.next_check = lasted + lasted / CHECK_SHARE;
            if expected.is_clear(cell) {
                return true;
            }
        }
        is_random && expected.is_small_beside(lasted) && is_clear(cell)
    }

    /// Whether a row is so short that its speed may still change, however clear it is so far.
    fn is_short(&self, cell: &SpeedCell, lasted: Duration) -> bool {
        let written = cell.transferred();
        let is_at_start = (self.is_first || is_large(cell.case)) && written < BYTES_MIN;
        let is_in_cache = lasted < FIRST_LARGE_TIME_MIN && written < self.bytes_within_a_minute;
        is_at_start || is_in_cache || cell.case.direction == Direction::Write && lasted < WRITE_TIME_MIN
    }
}

/// Whether a row is worth more than its default time: its speed is vague, or it writes and its speed changes.
fn is_open(cell: &SpeedCell) -> bool {
    is_vague(cell) || cell.case.direction == Direction::Write && is_changing(cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(request: Bytes) -> SpeedCell {
        let order = Order::Linear;
        SpeedCell::new(SpeedCase { direction: Direction::Write, order, request, queue_depth: 1 })
    }

    /// Whether small writes end after 11 s without a stall, at 1 MiB/s. Large writes before them stalled five
    /// times, each time after this number of seconds, for a tenth of it.
    fn ends_before_a_stall(seconds_between: u32, is_thorough: bool) -> bool {
        let (second, mut ended) = (Duration::from_secs(1), Duration::ZERO);
        let (mut large, mut small) = (cell(Bytes::mib(1)), cell(Bytes::kib(64)));
        for index in 1..=seconds_between * 5 {
            let is_stalled = index.is_multiple_of(seconds_between);
            let took = if is_stalled { second + second * seconds_between / 10 } else { second };
            ended += took;
            large.keep(took, ended);
        }
        for index in 1..=11 * 16 {
            small.keep(second / 16, second * index / 16);
        }
        let data = SpeedData { cells: vec![large], is_thorough, ..SpeedData::default() };
        let mut rule = StoppingRule::new(small.case, &data, Bytes::gib(16), Extent::thorough_if(is_thorough));
        rule.is_enough(&small, second * 11)
    }

    /// Four stalls within four minutes, or two within an hour in a thorough row.
    #[test]
    fn row_waits_for_known_stalls_only_if_enough_of_them_come_in_time() {
        assert!(!ends_before_a_stall(50, false), "four take 220 s");
        assert!(ends_before_a_stall(100, false), "two take 220 s, four 440 s");
        assert!(!ends_before_a_stall(1000, true), "two take 2200 s, four 4400 s");
        assert!(ends_before_a_stall(2000, true), "two take 4400 s");
    }
}
