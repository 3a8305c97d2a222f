//! The stalls that a row will meet, known from earlier rows, and what they do to its speed.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::observation::{Direction, Order, SpeedCase, SpeedCell};

use crate::statistics::count;
use crate::streams::speed::clear::CLEAR_HALF_WIDTH;
use crate::streams::speed::periods::{
    Periods, STALL_SHARE_MIN, Sample, median_request_s, stall_times, stalls_in,
};
use crate::streams::speed::phases::{Startup, seconds};
use crate::thresholds::SEVERAL;

/// The fewest periods of stalls that give a steady speed if earlier rows met such stalls in at least
/// [`SEVERAL`]: only the writes between are still unknown (docs/maintainers/speed.md). Guess.
const PERIODS_MIN_KNOWN: usize = 2;
/// Stalls below this share of a row's time do not show in its interval, whose half width is as large.
const STALLS_SHARE: f64 = CLEAR_HALF_WIDTH;
/// A stall below this share of a row's time changes its speed by less than half the half width of its
/// interval.
const STALL_SMALL: f64 = CLEAR_HALF_WIDTH / 2.0;
/// A start-up of at most this share of a period is a part of it: the first write may be the one that stalls.
/// Guess.
const START_WITHIN_PERIOD: f64 = 1.0 / 16.0;

/// The stalls that a row of sequential writes will meet, by those of earlier rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// Bytes written from one to the next.
    pub(super) period: Bytes,
    /// The median stall, seconds.
    pub(super) seconds: f64,
    /// The stalls of the earlier row.
    before: Sample,
    /// The fewest periods that give a speed, if their stalls are like those of the earlier row.
    periods_min: usize,
}

impl Expected {
    /// Those of the earlier row with the most; `None` if no row of sequential writes had any.
    #[must_use]
    pub fn of(case: SpeedCase, before: &[SpeedCell]) -> Option<Self> {
        let is_sequential =
            |case: SpeedCase| (case.direction, case.order) == (Direction::Write, Order::Linear);
        let sequential = before.iter().filter(|cell| is_sequential(cell.case));
        let sequential = sequential.filter(|_| case.direction == Direction::Write);
        let (cell, stalls) = sequential
            .filter_map(|cell| stalls_in(cell).map(|stalls| (cell, stalls)))
            .max_by_key(|(_, stalls)| stalls.seen)?;
        let (period, seconds) = (stalls.period, stalls.seconds);
        let before = Sample::of(&stall_times(cell, seconds));
        (period >= case.request).then_some(Self { period, seconds, before, periods_min: SEVERAL })
    }

    /// The same if few periods are to be enough, since one takes long.
    #[must_use]
    pub fn in_few_periods(self) -> Self {
        let is_known = self.before.number >= count(SEVERAL);
        Self { periods_min: if is_known { PERIODS_MIN_KNOWN } else { SEVERAL }, ..self }
    }

    /// Those of a row without earlier ones.
    #[must_use]
    pub fn of_its_own(cell: &SpeedCell) -> Option<Self> {
        Self::of(cell.case, std::slice::from_ref(cell)).map(|own| Self { before: Sample::default(), ..own })
    }

    /// The whole periods of a row; `None` from too few.
    pub(super) fn over_periods(&self, cell: &SpeedCell) -> Option<Periods> {
        let requests =
            usize::try_from(self.period / cell.case.request).ok().filter(|requests| *requests > 0)?;
        let ends: Vec<f64> = cell
            .ended_ns
            .chunks_exact(requests)
            .filter_map(|part| part.last())
            .map(|end| seconds(*end))
            .collect();
        let starts = std::iter::once(0.0).chain(ends.iter().copied());
        let each: Vec<f64> = ends.iter().zip(starts).map(|(end, start)| end - start).collect();
        let bytes = cell.case.request.as_f64() * count(requests);
        let one_in_each = self.one_in_each(cell, requests);
        if cell.case.order == Order::Random && one_in_each.is_none() {
            return None;
        }
        let like_before = one_in_each.filter(|stalls| Sample::of(stalls).is_like(&self.before));
        if each.len() < if like_before.is_some() { self.periods_min } else { SEVERAL } {
            return None;
        }
        let periods = match like_before {
            Some(stalls) => Periods::with(&each, &stalls, &self.before),
            None => Periods::of(&Sample::of(&each), &Sample::default()),
        };
        (periods.seconds > 0.0).then(|| Periods { seconds: periods.seconds / bytes, ..periods })
    }

    /// The one stall of each whole period, seconds; `None` if one has none or several, or requests overlap.
    fn one_in_each(&self, cell: &SpeedCell, requests: usize) -> Option<Vec<f64>> {
        let median_request_s = median_request_s(cell);
        let one = |part: &[u64]| {
            let extra = part.iter().map(|took| seconds(*took) - median_request_s);
            let mut long = extra.filter(|extra| *extra > self.seconds * STALL_SHARE_MIN);
            long.next().filter(|_| long.next().is_none())
        };
        let parts = cell.took_ns.chunks_exact(requests);
        parts.map(one).collect::<Option<Vec<f64>>>().filter(|_| cell.case.queue_depth == 1)
    }

    /// How much longer a row may take for stalls than it did, and how much less, seconds: one stall more or
    /// less. Less than a period has a share of one; a row without stalls cannot have fewer.
    pub(super) fn more_or_less(&self, cell: &SpeedCell) -> (f64, f64) {
        let periods = cell.transferred().as_f64() / self.period.as_f64();
        let less = if stall_times(cell, self.seconds).is_empty() { 0.0 } else { self.seconds };
        (self.seconds * periods.min(1.0), less)
    }

    /// Whether a start-up is a part of the periods: there is none, or it is short beside one.
    pub(super) fn covers(&self, startup: Option<Startup>) -> bool {
        startup.is_none_or(|startup| startup.bytes.as_f64() <= self.period.as_f64() * START_WITHIN_PERIOD)
    }

    /// Whether one more or less makes no difference to a row of this duration.
    #[must_use]
    pub fn is_small_beside(&self, lasted: Duration) -> bool {
        self.seconds <= lasted.as_secs_f64() * STALL_SMALL
    }

    /// Whether more periods would change the speed little.
    #[must_use]
    pub fn is_clear(&self, cell: &SpeedCell) -> bool {
        self.over_periods(cell).is_some_and(|periods| periods.few_beside || periods.half <= CLEAR_HALF_WIDTH)
    }

    /// Whether a row is at the end of a period, and so has its full share of stalls.
    #[must_use]
    pub fn is_at_end_of_one(&self, cell: &SpeedCell) -> bool {
        let rest = Bytes::new(cell.transferred().get() % self.period.get().max(1));
        cell.transferred() >= self.period && rest < cell.case.request
    }

    /// Whether they take a share of the time of a row that has lasted `lasted` seconds.
    #[must_use]
    pub fn is_worth_it(&self, cell: &SpeedCell, lasted: f64) -> bool {
        self.seconds >= self.seconds_of(1, cell, lasted) * STALLS_SHARE
    }

    /// The seconds a row needs in all, at its speed so far and with the stalls to come.
    #[must_use]
    pub fn seconds_until_enough(&self, cell: &SpeedCell, lasted: f64) -> f64 {
        self.seconds_of(self.periods_min, cell, lasted)
    }

    fn seconds_of(&self, periods: usize, cell: &SpeedCell, lasted: f64) -> f64 {
        let bytes = self.period.as_f64() * count(periods);
        let to_come = count(periods) - (cell.transferred().as_f64() / self.period.as_f64()).floor();
        bytes * lasted / cell.transferred().as_f64().max(1.0) + self.seconds * to_come.max(0.0)
    }
}
