//! How fast equal requests are: what holds for as long as they go on, apart from how they started.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::finding::Confidence;
use flashscope_record::observation::{
    Direction, LinkLimit, LongWrite, Order, SpeedCase, SpeedCell, SpeedData,
};

use crate::statistics::{count, median, quantile};
use crate::streams::batch_means::{BATCHES, Mean, STUDENT_95};
use crate::streams::drift::{Drift, settled_from};
use crate::streams::slowdown::{Slowdown, Stretch};
use crate::streams::stalls::{Stalls, stalls};

/// Requests are looked at in so many groups at most.
const STRETCHES_MAX: usize = 240;
/// The first groups belong to the start-up while they differ by more than this factor from nearly all of the later half,
const STARTUP_RATIO: f64 = 1.25;
const LATER_LOW: f64 = 0.05;
const LATER_HIGH: f64 = 0.95;
/// up to this share of all.
const STARTUP_SHARE: usize = 2;
/// A mean over less time is none: the host's own hold-ups last as long.
pub const CLEAR_AFTER: Duration = Duration::from_secs(2);
/// And one over fewer requests: those behind a start may be of two kinds.
const CLEAR_REQUESTS: usize = 24;
/// The interval that is narrow enough, on either side.
const CLEAR_HALF_WIDTH: f64 = 0.01;
/// And the one that is not even wide.
const VAGUE_HALF_WIDTH: f64 = 0.02;
/// Two halves of what is clear differ by no more.
const CLEAR_HALVES: f64 = 0.02;
/// Speeds are known no better than this, however equal the parts: a row ends where it looks clear, and what comes later than its few
/// seconds wavers by as much.
const HALF_WIDTH_MIN: f64 = 0.01;
/// What the model can be wrong about: speeds that change on a longer scale.
const CONFIDENCE: f64 = 0.95;
/// A write that takes so many times as long as half of its row may be a stall.
const LONG_RATIO: f64 = 3.0;
/// A row tells the speed that lasts from so many periods of stalls on: fewer may hold one more or less than their share.
const PERIODS_MIN: usize = 4;
/// So many are enough of a row that is to go on for long, where rows before met such stalls in as many as that: only the writes between are
/// still unknown.
const PERIODS_MIN_BEHIND: usize = 2;
/// A write has met a stall where it is held up by more than this share of what one takes typically.
const STALL_LEAST: f64 = 0.5;
/// Where rows before met so many times as many stalls, a few more tell little of how long they take.
const FEW_BESIDE: f64 = 4.0;
/// Student's t for 95 % is no more than this and a share of the other for each degree of freedom, from three on.
const NORMAL_95: f64 = 1.96;
const STUDENT_BEYOND: f64 = 3.7;
/// Stalls that take less of a row's time do not show in its interval.
const STALLS_SHARE: f64 = CLEAR_HALF_WIDTH;
/// One that takes less of it may be there or not.
const STALL_SMALL: f64 = CLEAR_HALF_WIDTH / 2.0;
/// A start that is no more of a period is a part of it: the first write may be the one that stalls.
const START_WITHIN_PERIOD: f64 = 1.0 / 16.0;
/// What a link is said to carry may be exceeded by so much before a result is not believed: clocks differ.
const LINK_TOLERANCE: f64 = 1.02;

/// Writes are no writes where more than one place in so many has lost what was written there: the speed is no better known.
const LOST_SHARE: u32 = 50;

/// No flash gives a page in less: the fastest kind takes 25 us (HP, "Solid state storage technology for `ProLiant` servers", table of
/// NAND timings).
const FLASH_READ_SECONDS: f64 = 25e-6;

/// How fast equal requests are.
#[derive(Debug, Clone, PartialEq)]
pub struct Speed {
    /// Which requests.
    pub case: SpeedCase,
    /// The mean of the running phase, bytes per second.
    pub bytes_per_s: f64,
    /// It is hardly less than this.
    pub bytes_per_s_low: f64,
    /// It is hardly more than this.
    pub bytes_per_s_high: f64,
    /// How sure the interval is.
    pub confidence: Confidence,
    /// How many requests the running phase has.
    pub requests: usize,
    /// How long it lasted, seconds.
    pub seconds: f64,
    /// Of writes: what the rows had written when it began, and when it ended.
    pub written: Option<(Bytes, Bytes)>,
    /// What went before it, if that was of another speed.
    pub startup: Option<Startup>,
    /// How long requests of the running phase took.
    pub latency: Latencies,
    /// Why the speed that lasts may be another one, where that shows.
    pub unsettled: Option<Unsettled>,
    /// Why this is no speed of the device, where it cannot be.
    pub cached: Option<String>,
}

/// Why the speed that lasts may be another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsettled {
    /// The row was still becoming faster or slower when it ended.
    Drifts(Drift),
    /// A row of writes in order before it spent a cache of so much, and it wrote less: as long as a controller works that off, writes take
    /// longer.
    BehindCache(Bytes),
}

/// What went before the running phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Startup {
    /// How much was transferred.
    pub bytes: Bytes,
    /// How fast, typically.
    pub bytes_per_s: f64,
}

/// How long requests took, seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Latencies {
    /// The shortest.
    pub min: f64,
    /// Half took no longer.
    pub p50: f64,
    /// Nine in ten took no longer.
    pub p90: f64,
    /// 99 of a hundred took no longer.
    pub p99: f64,
    /// 999 of a thousand took no longer.
    pub p999: f64,
    /// The longest.
    pub max: f64,
}

impl Speed {
    /// Where earlier rows stalled, or else this one: the speed over whole periods of these stalls, or, of a row that went on for a few of
    /// them only, an interval that holds one stall more or less.
    fn with_stalls(&mut self, before: &[SpeedCell], cell: &SpeedCell) {
        let own = || Expected::of_its_own(cell);
        let expected = Expected::of(cell.case, before).map(Expected::in_few_periods);
        let Some(expected) = expected.or_else(own) else { return };
        let lasted = cell.ended_ns.last().map_or(0.0, |ended| seconds(*ended));
        if !expected.is_worth_it(cell, lasted) {
            return;
        }
        match expected.over_periods(cell).filter(|_| expected.holds(self.startup)) {
            Some(Periods { seconds, half, .. }) => {
                self.with_start(cell);
                self.bytes_per_s = 1.0 / seconds;
                self.bytes_per_s_low = self.bytes_per_s / (1.0 + half);
                self.bytes_per_s_high = self.bytes_per_s * (1.0 + half);
            }
            None => {
                let (more, less) = expected.more_or_less(cell);
                self.bytes_per_s_low = self.bytes_per_s_low.min(self.bytes_per_s / (1.0 + more / lasted));
                self.bytes_per_s_high = self.bytes_per_s_high.max(self.bytes_per_s * (1.0 + less / lasted));
            }
        }
    }

    /// The start belongs to the running phase.
    fn with_start(&mut self, cell: &SpeedCell) {
        self.startup = None;
        self.requests = cell.took_ns.len();
        self.seconds = cell.ended_ns.last().map_or(0.0, |ended| seconds(*ended));
        self.latency = latencies(&cell.took_ns).unwrap_or(self.latency);
    }

    /// What the running phase transferred.
    #[must_use]
    pub const fn transferred(&self) -> Bytes {
        Bytes::new(self.case.request.get() * self.requests as u64)
    }

    /// Requests a second.
    #[must_use]
    pub fn requests_per_s(&self) -> f64 {
        self.bytes_per_s / self.case.request.as_f64()
    }
}

/// How fast the requests of a cell are; `None` from too few, and where a single one took most of the time. `link` tells what cannot be.
#[must_use]
pub fn speed(cell: &SpeedCell, link: Option<&LinkLimit>) -> Option<Speed> {
    let course = Course::of(cell).filter(|_| !is_one_request(cell))?;
    let mean = course.mean()?;
    let half = (mean.error * STUDENT_95).max(HALF_WIDTH_MIN);
    let bytes_per_s = 1.0 / mean.seconds_per_byte;
    let running = cell.took_ns.get(course.running_from_request()..).unwrap_or(&[]);
    Some(Speed {
        case: cell.case,
        bytes_per_s,
        bytes_per_s_low: bytes_per_s / (1.0 + half),
        bytes_per_s_high: bytes_per_s * (1.0 + half),
        confidence: Confidence::new(CONFIDENCE),
        requests: running.len(),
        seconds: mean.seconds,
        written: None,
        startup: course.startup(cell.case.request),
        latency: latencies(running)?,
        unsettled: course.drift.filter(|_| !is_clear(cell)).map(Unsettled::Drifts),
        cached: link.and_then(|link| impossible(bytes_per_s, link)),
    })
}

/// Whether nothing ended in most of a row's time but one request: a mean of so many tells of that one, be it a device that hung or a
/// clock that jumped.
fn is_one_request(cell: &SpeedCell) -> bool {
    let gaps = cell.ended_ns.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
    let longest = gaps.chain(cell.ended_ns.first().copied()).max().unwrap_or_default();
    cell.ended_ns.last().is_some_and(|last| longest > last / 2)
}

/// How fast the requests of one cell of a run are, held against what link, method and flash allow; `None` from too few.
#[must_use]
pub fn speed_of(data: &SpeedData, cell: &SpeedCell) -> Option<Speed> {
    let mut speed = speed(cell, data.link.as_ref())?;
    let before: Vec<SpeedCell> = data.cells.iter().take_while(|seen| *seen != cell).cloned().collect();
    speed.with_stalls(&before, cell);
    if cell.case.direction == Direction::Write {
        let written: Bytes = before.iter().map(SpeedCell::transferred).sum();
        let end = written + cell.transferred();
        speed.written = Some((end - speed.transferred(), end));
        speed.unsettled = speed.unsettled.or_else(|| behind_cache(&before, cell));
    }
    speed.cached = speed.cached.or_else(|| not_read(data, cell)).or_else(|| not_kept(data, cell));
    Some(speed)
}

/// The cache that rows in order before spent, of a row that wrote less than it holds; `None` once a row has become as fast as it stays.
fn behind_cache(before: &[SpeedCell], cell: &SpeedCell) -> Option<Unsettled> {
    let owed = Owed::by(before).filter(|owed| owed.is_open(cell))?;
    Some(Unsettled::BehindCache(owed.cache))
}

/// A cache that rows of writes in order spent. As long as a controller works that off, writes take longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owed {
    cache: Bytes,
}

impl Owed {
    /// The largest that these rows spent; `None` once one of them has become as fast as it stays.
    #[must_use]
    pub fn by(rows: &[SpeedCell]) -> Option<Self> {
        if rows.iter().any(has_recovered) {
            return None;
        }
        let is_in_order =
            |cell: &&SpeedCell| (cell.case.direction, cell.case.order) == (Direction::Write, Order::Linear);
        let cache = rows.iter().filter(is_in_order).filter_map(spent_cache).max()?;
        Some(Self { cache })
    }

    /// Whether this row behind them may still be slower for it.
    #[must_use]
    pub fn is_open(self, cell: &SpeedCell) -> bool {
        cell.transferred() < self.cache && !has_recovered(cell)
    }
}

/// Whether a row of writes was slow at first, became faster, and told what it stays at.
fn has_recovered(cell: &SpeedCell) -> bool {
    let drift = || Course::of(cell).and_then(|course| course.drift);
    cell.case.direction == Direction::Write && drift() == Some(Drift::Faster) && is_clear(cell)
}

/// What a row of writes wrote until it became slow.
fn spent_cache(cell: &SpeedCell) -> Option<Bytes> {
    let course = Course::of(cell)?;
    let startup = course.startup(cell.case.request)?;
    let running = 1.0 / course.mean()?.seconds_per_byte;
    (startup.bytes_per_s > running * STARTUP_RATIO).then_some(startup.bytes)
}

/// Why writes were taken by something else than flash: here and there those of all such rows tell, in order each row for itself, since the one
/// before it may lie within what a stick holds.
fn not_kept(data: &SpeedData, cell: &SpeedCell) -> Option<String> {
    let rows = match cell.case.order {
        Order::Linear => std::slice::from_ref(cell),
        Order::Random => data.cells.as_slice(),
    };
    let (places, lost) = rows
        .iter()
        .filter(|seen| seen.case.order == cell.case.order)
        .fold((0, 0), |(places, lost), seen| (places + seen.read_back.places, lost + seen.read_back.lost));
    (cell.case.direction == Direction::Write && lost > places / LOST_SHARE).then(|| {
        format!(
            "{lost} of {places} places that were read back do not hold what was written there, as on a stick that holds less than it \
             claims"
        )
    })
}

/// Why reads were answered by something else than flash.
fn not_read(data: &SpeedData, cell: &SpeedCell) -> Option<String> {
    if cell.case.direction != Direction::Read {
        return None;
    }
    if data.is_buffered {
        return Some("the requests went through the page cache, which reads ahead".to_owned());
    }
    let is_blank = data.contents.mostly_blank() == Some(true);
    // What holds nothing is answered alike in every row; what a cache may hold, only where it is too fast.
    let shows = |seen: &&SpeedCell| (is_blank || *seen == cell) && is_faster_than_flash(seen);
    data.cells.iter().find(shows).map(|seen| {
        let request = seen.case.request;
        let nothing = if is_blank { "; what was read holds nothing, and no flash was asked" } else { "" };
        format!(
            "no flash gives {request} here and there in less than {:.0} us{nothing}",
            FLASH_READ_SECONDS * 1e6
        )
    })
}

/// One read at a time, here and there, so that nothing can be read ahead: half of them took less than flash takes for a page.
fn is_faster_than_flash(cell: &SpeedCell) -> bool {
    let case = cell.case;
    (case.direction, case.order, case.queue_depth) == (Direction::Read, Order::Random, 1)
        && latencies(&cell.took_ns).is_some_and(|times| times.p50 < FLASH_READ_SECONDS)
}

/// Whether more requests would tell little more.
#[must_use]
pub fn is_clear(cell: &SpeedCell) -> bool {
    let Some(course) = Course::of(cell) else { return false };
    let running = cell.took_ns.len() - course.running_from_request();
    course.mean().is_some_and(|mean| {
        running >= CLEAR_REQUESTS
            && mean.seconds >= CLEAR_AFTER.as_secs_f64()
            && mean.error * STUDENT_95 <= CLEAR_HALF_WIDTH
            && mean.halves <= CLEAR_HALVES
    })
}

/// Whether a row became faster or slower throughout, and has not yet told for long what it stays at.
#[must_use]
pub fn is_changing(cell: &SpeedCell) -> bool {
    Course::of(cell).is_some_and(|course| course.drift.is_some()) && !is_clear(cell)
}

/// Whether a row became faster, and has since gone on for less than twice as long as that took: what it stays at is told too low while it
/// still becomes a little faster.
#[must_use]
pub fn is_fresh(cell: &SpeedCell) -> bool {
    Course::of(cell).is_some_and(|course| course.drift == Some(Drift::Faster) && !course.is_mostly_running())
}

/// Whether nothing better than a wide interval is known, so that a row is worth more time than most.
#[must_use]
pub fn is_vague(cell: &SpeedCell) -> bool {
    let mean = Course::of(cell).and_then(|course| course.mean());
    mean.is_none_or(|mean| mean.error * STUDENT_95 > VAGUE_HALF_WIDTH)
}

/// The stalls that a row of writes in order will meet, as rows before it met them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// So much is written from one to the next.
    period: Bytes,
    /// By how much one holds up, typically.
    seconds: f64,
    /// By how much those of the row before did.
    before: Sample,
    /// Of so many periods with stalls like those before a row tells.
    periods_min: usize,
}

impl Expected {
    /// Those of the row before that had most; `None` where no row of writes in order had any.
    #[must_use]
    pub fn of(case: SpeedCase, before: &[SpeedCell]) -> Option<Self> {
        let is_in_order = |case: SpeedCase| (case.direction, case.order) == (Direction::Write, Order::Linear);
        let in_order = before.iter().filter(|cell| is_in_order(cell.case));
        let in_order = in_order.filter(|_| case.direction == Direction::Write);
        let (cell, stalls) = in_order
            .filter_map(|cell| stalls_in(cell).map(|stalls| (cell, stalls)))
            .max_by_key(|(_, stalls)| stalls.seen)?;
        let (period, seconds) = (stalls.period, stalls.seconds);
        let before = Sample::of(&holds(cell, seconds));
        (period >= case.request).then_some(Self { period, seconds, before, periods_min: PERIODS_MIN })
    }

    /// The same where few periods are to be enough, as one takes long.
    #[must_use]
    pub fn in_few_periods(self) -> Self {
        let is_known = self.before.number >= count(PERIODS_MIN);
        Self { periods_min: if is_known { PERIODS_MIN_BEHIND } else { PERIODS_MIN }, ..self }
    }

    /// Those of a row that has none before it.
    #[must_use]
    pub fn of_its_own(cell: &SpeedCell) -> Option<Self> {
        Self::of(cell.case, std::slice::from_ref(cell)).map(|own| Self { before: Sample::default(), ..own })
    }

    /// What the whole periods tell that a row went through; `None` from too few.
    fn over_periods(&self, cell: &SpeedCell) -> Option<Periods> {
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
        if each.len() < if like_before.is_some() { self.periods_min } else { PERIODS_MIN } {
            return None;
        }
        let periods = match like_before {
            Some(stalls) => Periods::with(&each, &stalls, &self.before),
            None => Periods::of(&Sample::of(&each), &Sample::default()),
        };
        (periods.seconds > 0.0).then(|| Periods { seconds: periods.seconds / bytes, ..periods })
    }

    /// By how much the one stall of each whole period held up; `None` where one has none or several, or requests overlap.
    fn one_in_each(&self, cell: &SpeedCell, requests: usize) -> Option<Vec<f64>> {
        let usual = usual(cell);
        let one = |part: &[u64]| {
            let held_up = part.iter().map(|took| seconds(*took) - usual);
            let mut long = held_up.filter(|held_up| *held_up > self.seconds * STALL_LEAST);
            long.next().filter(|_| long.next().is_none())
        };
        let parts = cell.took_ns.chunks_exact(requests);
        parts.map(one).collect::<Option<Vec<f64>>>().filter(|_| cell.case.queue_depth == 1)
    }

    /// By how much stalls may hold up such a row more than they did, and by how much less: by one of them, but by no more than the share of
    /// one that belongs to less than a period, and not by less where it met none.
    fn more_or_less(&self, cell: &SpeedCell) -> (f64, f64) {
        let periods = cell.transferred().as_f64() / self.period.as_f64();
        let less = if holds(cell, self.seconds).is_empty() { 0.0 } else { self.seconds };
        (self.seconds * periods.min(1.0), less)
    }

    /// Whether a start is a part of the periods: there is none, or it is short beside one.
    fn holds(&self, startup: Option<Startup>) -> bool {
        startup.is_none_or(|startup| startup.bytes.as_f64() <= self.period.as_f64() * START_WITHIN_PERIOD)
    }

    /// Whether one more or less makes no difference to a row that has lasted so long.
    #[must_use]
    pub fn is_small_beside(&self, lasted: Duration) -> bool {
        self.seconds <= lasted.as_secs_f64() * STALL_SMALL
    }

    /// Whether more periods would tell little more.
    #[must_use]
    pub fn is_clear(&self, cell: &SpeedCell) -> bool {
        self.over_periods(cell).is_some_and(|periods| periods.few_beside || periods.half <= CLEAR_HALF_WIDTH)
    }

    /// Whether a row is where a period ends: then it holds as many stalls as belong to it.
    #[must_use]
    pub fn is_at_end_of_one(&self, cell: &SpeedCell) -> bool {
        let behind = Bytes::new(cell.transferred().get() % self.period.get().max(1));
        cell.transferred() >= self.period && behind < cell.case.request
    }

    /// Whether they take a share of the time of a row that has lasted so many seconds.
    #[must_use]
    pub fn is_worth_it(&self, cell: &SpeedCell, lasted: f64) -> bool {
        self.seconds >= self.seconds_of(1, cell, lasted) * STALLS_SHARE
    }

    /// How long a row takes until it tells, at the speed it had so far and with the stalls that are still to come.
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

/// What the whole periods of a row tell.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Periods {
    /// What one takes, or a byte.
    seconds: f64,
    /// Half the width of its interval as a share of it.
    half: f64,
    /// All but how long a stall takes is clear, and rows before met so many of them that some more tell little.
    few_beside: bool,
}

impl Periods {
    /// Those that took so long each, with one stall in each, where rows before met such stalls too.
    fn with(each: &[f64], stalls: &[f64], before: &Sample) -> Self {
        let rest: Vec<f64> = each.iter().zip(stalls).map(|(all, stall)| all - stall).collect();
        let (rest, own) = (Sample::of(&rest), Sample::of(stalls));
        let periods = Self::of(&rest, &own.and(before));
        let is_rest_clear = rest.half() <= periods.seconds * CLEAR_HALF_WIDTH;
        Self { few_beside: is_rest_clear && own.number * FEW_BESIDE <= before.number, ..periods }
    }

    /// The sum of both.
    fn of(rest: &Sample, stall: &Sample) -> Self {
        let seconds = rest.mean + stall.mean;
        let half = rest.half().hypot(stall.half()) / seconds;
        Self { seconds, half: half.max(HALF_WIDTH_MIN), few_beside: false }
    }
}

/// So many numbers, with their mean and variance.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Sample {
    number: f64,
    mean: f64,
    variance: f64,
}

impl Sample {
    fn of(values: &[f64]) -> Self {
        let number = count(values.len());
        let mean = values.iter().sum::<f64>() / number.max(1.0);
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        Self { number, mean, variance: squares / (number - 1.0).max(1.0) }
    }

    /// Both as one, where they are of one kind.
    fn and(&self, other: &Self) -> Self {
        let number = self.number + other.number;
        let weigh = |one: f64, two: f64| (one * self.number + two * other.number) / number.max(1.0);
        Self { number, mean: weigh(self.mean, other.mean), variance: weigh(self.variance, other.variance) }
    }

    /// Half the width of the interval of the mean, for 95 %.
    fn half(&self) -> f64 {
        let freedom = (self.number - 1.0).max(1.0);
        (self.variance / self.number.max(1.0)).sqrt() * (NORMAL_95 + STUDENT_BEYOND / freedom)
    }

    /// Whether the means may be the same; there is no telling from none.
    fn is_like(&self, other: &Self) -> bool {
        let error = (other.variance * (1.0 / self.number.max(1.0) + 1.0 / other.number.max(1.0))).sqrt();
        other.number > 0.0
            && (self.mean - other.mean).abs() <= (error * NORMAL_95).max(other.mean * CLEAR_HALF_WIDTH)
    }
}

/// By how much a row's writes were held up that may have met a stall, which typically takes so long.
fn holds(cell: &SpeedCell, stall: f64) -> Vec<f64> {
    let usual = usual(cell);
    let held_up = cell.took_ns.iter().map(|took| seconds(*took) - usual);
    held_up.filter(|held_up| *held_up > stall * STALL_LEAST).collect()
}

/// What a request of a row takes that nothing holds up.
fn usual(cell: &SpeedCell) -> f64 {
    latencies(&cell.took_ns).map_or(0.0, |times| times.p50)
}

/// The stalls of a row that come again after the same number of bytes; each takes as long as it holds up, without what its writes take anyway.
fn stalls_in(cell: &SpeedCell) -> Option<Stalls> {
    let usual = usual(cell);
    let requests = (1..).zip(cell.took_ns.iter().zip(&cell.ended_ns));
    let long = requests.filter(|(_, (took, _))| seconds(**took) > usual * LONG_RATIO);
    let long = long.map(|(index, (took, ended))| LongWrite {
        written: cell.case.request * index,
        took: Duration::from_secs_f64(seconds(*took) - usual),
        ended: Duration::from_nanos(*ended),
    });
    let total = seconds(*cell.ended_ns.last()?);
    stalls(&long.collect::<Vec<_>>(), cell.case.request, total)
}

/// Whether this is more than a link carries.
#[must_use]
pub fn exceeds(bytes_per_s: f64, link: &LinkLimit) -> bool {
    bytes_per_s > link.bytes_per_s.as_f64() * LINK_TOLERANCE
}

/// Why a speed cannot be the device's.
pub fn impossible(bytes_per_s: f64, link: &LinkLimit) -> Option<String> {
    exceeds(bytes_per_s, link).then(|| format!("{} carries no more than {} MB/s", link.name, megabytes(link)))
}

fn megabytes(link: &LinkLimit) -> u64 {
    link.bytes_per_s.get() / 1_000_000
}

/// The requests in groups, and from which of them on the speed is the one that stays.
struct Course {
    stream: Vec<Stretch>,
    group: usize,
    running_from: usize,
    /// Which way they go behind a cache that was filled, and what had to be opened.
    drift: Option<Drift>,
}

impl Course {
    fn of(cell: &SpeedCell) -> Option<Self> {
        let requests = cell.ended_ns.len();
        let group = requests.div_ceil(STRETCHES_MAX).max(1);
        let ends: Vec<u64> = cell.ended_ns.chunks(group).filter_map(|part| part.last().copied()).collect();
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let lengths = cell.ended_ns.chunks(group).map(<[u64]>::len);
        let stretch = |((end, start), length): ((&u64, u64), usize)| {
            let bytes = cell.case.request.as_f64() * count(length);
            Stretch { bytes, seconds_per_byte: seconds(end.saturating_sub(start)) / bytes }
        };
        let stream: Vec<Stretch> = ends.iter().zip(starts).zip(lengths).map(stretch).collect();
        (stream.len() >= BATCHES).then(|| {
            let started = running_from(&stream);
            let behind = stream.get(started..).unwrap_or(&[]);
            let drift = Drift::of(behind);
            let recovering = if drift == Some(Drift::Faster) { settled_from(behind) } else { 0 };
            Self { running_from: started + recovering, stream, group, drift }
        })
    }

    fn mean(&self) -> Option<Mean> {
        Mean::of(self.stream.get(self.running_from..)?)
    }

    /// Whether the rest is at least twice as long as the start-up.
    const fn is_mostly_running(&self) -> bool {
        self.running_from * 3 <= self.stream.len()
    }

    fn running_from_request(&self) -> usize {
        self.running_from * self.group
    }

    fn startup(&self, request: Bytes) -> Option<Startup> {
        let before = self.stream.get(..self.running_from).filter(|before| !before.is_empty())?;
        let times: Vec<f64> = before.iter().map(|each| each.seconds_per_byte).collect();
        let usual = median(&times).filter(|time| *time > 0.0)?;
        let bytes = request * self.running_from_request() as u64;
        Some(Startup { bytes, bytes_per_s: 1.0 / usual })
    }
}

/// The first group of the running phase: behind a cache that was filled, and behind what the first requests had to open.
fn running_from(stream: &[Stretch]) -> usize {
    let behind_cache = Slowdown::of(stream).map_or(0, |slowdown| slowdown.index);
    let times: Vec<f64> = stream.iter().map(|stretch| stretch.seconds_per_byte).collect();
    let later = &times[times.len() / 2..];
    let (Some(low), Some(high)) = (quantile(later, LATER_LOW), quantile(later, LATER_HIGH)) else {
        return behind_cache;
    };
    let differs = |time: &&f64| **time > high * STARTUP_RATIO || **time * STARTUP_RATIO < low;
    let opening = times.iter().take_while(differs).count().min(stream.len() / STARTUP_SHARE);
    let from = behind_cache.max(opening);
    if stream.len() - from < BATCHES { 0 } else { from }
}

/// How long requests took that each took so many nanoseconds.
fn latencies(took_ns: &[u64]) -> Option<Latencies> {
    let took: Vec<f64> = took_ns.iter().map(|nanoseconds| seconds(*nanoseconds)).collect();
    let at = |share| quantile(&took, share);
    Some(Latencies {
        min: at(0.0)?,
        p50: at(0.5)?,
        p90: at(0.9)?,
        p99: at(0.99)?,
        p999: at(0.999)?,
        max: at(1.0)?,
    })
}

#[expect(
    clippy::cast_precision_loss,
    reason = "times of a measurement are far below 2^53 ns, which is 104 days"
)]
const fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_record::observation::Contents;

    /// Requests of 1 MiB one behind the other, each of so many milliseconds.
    fn cell(milliseconds: impl Iterator<Item = u64>) -> SpeedCell {
        let request = Bytes::mib(1);
        let case = SpeedCase { direction: Direction::Write, order: Order::Linear, request, queue_depth: 1 };
        let mut cell = SpeedCell::new(case);
        let mut ended = Duration::ZERO;
        for each in milliseconds.map(Duration::from_millis) {
            ended += each;
            cell.keep(each, ended);
        }
        cell
    }

    fn near(value: f64, truth: f64) -> bool {
        (value / truth - 1.0).abs() < 0.01
    }

    #[test]
    fn a_start_is_told_apart_whether_it_is_slower_or_faster() {
        for first in [2, 300] {
            let seen = speed(&cell((0..300).map(|index| if index < 20 { first } else { 50 })), None).unwrap();
            assert!(near(seen.bytes_per_s, 1_048_576.0 / 0.05), "{seen:?}");
            let startup = seen.startup.unwrap();
            assert!(near(startup.bytes_per_s, 1_048_576.0 / (first as f64 / 1e3)), "{startup:?}");
            assert!((20..=24).contains(&(startup.bytes / Bytes::mib(1))), "{startup:?}");
            assert!(near(seen.latency.p50, 0.05) && near(seen.latency.max, 0.05));
        }
    }

    #[test]
    fn stalls_are_part_of_the_speed_and_of_its_interval() {
        let seen = speed(&cell((0..320).map(|index| if index % 16 == 7 { 500 } else { 50 })), None).unwrap();
        assert!(near(seen.bytes_per_s, 1_048_576.0 / 0.078_125), "{seen:?}");
        assert!(seen.startup.is_none() && near(seen.latency.p50, 0.05) && near(seen.latency.max, 0.5));
        assert!(seen.bytes_per_s_low < seen.bytes_per_s && seen.bytes_per_s < seen.bytes_per_s_high);
    }

    #[test]
    fn enough_is_what_is_long_and_even() {
        assert!(is_clear(&cell((0..60).map(|_| 50))));
        assert!(!is_clear(&cell((0..30).map(|_| 50))), "too short");
        assert!(!is_clear(&cell((0..90).map(|index| 20 + index))), "it drifts");
        assert!(speed(&cell((0..5).map(|_| 50)), None).is_none(), "too few");
        let jumped = |by| cell((0..300).map(move |index| if index == 200 { by } else { 50 }));
        assert!(speed(&jumped(3_600_000), None).is_none(), "one took most of the time");
        assert!(speed(&jumped(5_000), None).is_some());
    }

    #[test]
    fn a_row_too_short_for_the_stalls_before_it_has_a_wider_interval() {
        let stalling = cell((0..320).map(|index| if index % 16 == 7 { 1050 } else { 50 }));
        let short = cell((0..60).map(|_| 50));
        let mut data = SpeedData { cells: vec![short.clone()], ..SpeedData::default() };
        let alone = speed_of(&data, &short).unwrap();
        assert!(alone.bytes_per_s_low > alone.bytes_per_s * 0.98);
        data.cells.insert(0, stalling.clone());
        let behind = speed_of(&data, &short).unwrap();
        // 60 MiB in 3 s, and one stall of a second more.
        assert!((behind.bytes_per_s_low / behind.bytes_per_s - 3.0 / 4.05).abs() < 0.02, "{behind:?}");
        let expected = Expected::of(short.case, &data.cells[..1]).unwrap();
        assert_eq!(expected.period, Bytes::mib(16));
        let at_end = |count: usize| expected.is_at_end_of_one(&cell((0..count as u64).map(|_| 50)));
        assert_eq!([15, 16, 17, 64].map(at_end), [false, true, false, true]);
        let long = cell((0..72).map(|index| if index % 16 == 15 { 1050 } else { 50 }));
        data.cells[1] = long.clone();
        let seen = speed_of(&data, &long).unwrap();
        assert!(near(seen.bytes_per_s, 1_048_576.0 / 0.1125) && expected.is_clear(&long), "{seen:?}");
        let read = SpeedCase { direction: Direction::Read, ..short.case };
        assert_eq!(Expected::of(read, &data.cells[..1]), None);
        assert_eq!(Expected::of(short.case, std::slice::from_ref(&short)), None);
    }

    #[test]
    fn how_long_a_stall_takes_is_known_from_the_rows_before_as_well() {
        let took = |index: u64| if index % 16 == 15 { 1000 + index * 7919 % 1400 } else { 50 };
        let before = cell((0..3200).map(took));
        let short = cell((0..96).map(took));
        let expected = Expected::of(short.case, std::slice::from_ref(&before)).unwrap();
        let (seen, alone) = (
            expected.over_periods(&short).unwrap(),
            Expected::of_its_own(&short).unwrap().over_periods(&short).unwrap(),
        );
        let truth = (16.0 * 0.05 + Sample::of(&holds(&before, 1.7)).mean) / Bytes::mib(16).as_f64();
        assert!(
            (seen.seconds / truth - 1.0).abs() < 0.01 && seen.half < alone.half / 3.0,
            "{seen:?}, {alone:?}"
        );
        assert!(seen.few_beside && !alone.few_beside && expected.is_clear(&short));
        // Those of this row take three times as long: they are of another kind, and only its own count.
        let other = cell((0..96).map(|index| took(index) * if index % 16 == 15 { 3 } else { 1 }));
        let seen = expected.over_periods(&other).unwrap();
        assert!(seen.seconds > truth * 1.5 && !seen.few_beside, "{seen:?}");
        // Here and there they count where they come in each period.
        let random =
            |cell: SpeedCell| SpeedCell { case: SpeedCase { order: Order::Random, ..cell.case }, ..cell };
        assert!(expected.is_clear(&random(short)));
        let by_chance =
            cell((0..96).map(|index| if [3, 9, 40, 41, 70, 95].contains(&index) { 1700 } else { 50 }));
        assert_eq!(expected.over_periods(&random(by_chance)), None);
    }

    #[test]
    fn stalls_are_told_from_writes_that_take_nearly_as_long() {
        let before = cell((0..640).map(|index| if index % 16 == 15 { 200 } else { 50 }));
        let random = SpeedCase { order: Order::Random, ..before.case };
        let expected = Expected::of(random, std::slice::from_ref(&before)).unwrap();
        assert!(near(expected.seconds, 0.15), "{expected:?}");
        let slower = cell((0..96).map(|index| if index % 16 == 15 { 265 } else { 115 }));
        assert!(expected.is_clear(&SpeedCell { case: random, ..slower }));
    }

    /// Reads of 4 KiB here and there, each of so many microseconds; and reads in order beside them.
    fn reads(microseconds: u64) -> SpeedData {
        let mut data = SpeedData::default();
        for (order, took) in [(Order::Random, microseconds), (Order::Linear, 400)] {
            let case =
                SpeedCase { direction: Direction::Read, order, request: Bytes::kib(4), queue_depth: 1 };
            let mut cell = SpeedCell::new(case);
            let took = Duration::from_micros(took);
            (1..=300).for_each(|index| cell.keep(took, took * index));
            data.cells.push(cell);
        }
        data
    }

    #[test]
    fn what_no_flash_can_do_is_no_speed_of_flash() {
        let cached = |data: &SpeedData| {
            data.cells.iter().map(|cell| speed_of(data, cell).unwrap().cached.is_some()).collect::<Vec<_>>()
        };
        assert_eq!(cached(&reads(110)), [false, false]);
        assert_eq!(cached(&reads(9)), [true, false]);
        let mut blank = reads(9);
        blank.contents = Contents { looked_at: 16, blank: 16 };
        assert_eq!(cached(&blank), [true, true]);
        let why = speed_of(&blank, &blank.cells[1]).unwrap().cached.unwrap();
        assert!(why.contains("25 us") && why.contains("holds nothing"), "{why}");
        blank.cells[0] = reads(110).cells[0].clone();
        assert_eq!(cached(&blank), [false, false], "blank and as slow as flash may be flash");
    }

    #[test]
    fn what_went_through_the_page_cache_is_no_read() {
        let mut data = reads(110);
        data.is_buffered = true;
        assert!(data.cells.iter().all(|cell| speed_of(&data, cell).unwrap().cached.is_some()));
        for cell in &mut data.cells {
            cell.case.direction = Direction::Write;
        }
        assert!(data.cells.iter().all(|cell| speed_of(&data, cell).unwrap().cached.is_none()));
    }

    #[test]
    fn what_the_link_cannot_carry_is_no_speed_of_the_device() {
        let link = LinkLimit { bytes_per_s: Bytes::new(53_200_000), name: "USB at 480 Mbit/s".to_owned() };
        let fast = speed(&cell((0..300).map(|_| 2)), Some(&link)).unwrap();
        assert!(fast.cached.unwrap().contains("480 Mbit/s"));
        assert_eq!(speed(&cell((0..300).map(|_| 25)), Some(&link)).unwrap().cached, None);
    }
}
