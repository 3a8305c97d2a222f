//! The speed of equal requests with its interval, and why the steady speed may be another one.

use flashscope_device::Bytes;

use flashscope_record::finding::{Cached, Confidence};
use flashscope_record::observation::{Direction, LinkLimit, SpeedCase, SpeedCell, SpeedData};

use crate::streams::drift::Drift;
use crate::streams::speed::clear::{CLEAR_HALF_WIDTH, is_clear};
use crate::streams::speed::expected::Expected;
use crate::streams::speed::not_flash::{cached, impossible};
use crate::streams::speed::periods::Periods;
use crate::streams::speed::phases::{Latencies, Phases, Startup, seconds};
use crate::streams::speed::recovery::ExhaustedCache;
use crate::thresholds::{COVERED, THE_RULE};

/// A flush of writes that takes a smaller share of their time does not matter. Guess.
const FLUSH_SHARE_MIN: f64 = 0.1;
/// The writes decide by themselves if the ends of their interval differ by less. Guess.
const WIDE: f64 = 1.5;
/// The half width of a speed that includes the flush. Guess.
const FLUSHED_HALF_WIDTH: f64 = 0.1;

/// The speed of equal requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Speed {
    /// Which requests.
    pub case: SpeedCase,
    /// The mean of the steady phase, bytes per second.
    pub bytes_per_s: f64,
    /// The interval's lower end.
    pub bytes_per_s_low: f64,
    /// The interval's upper end.
    pub bytes_per_s_high: f64,
    /// How sure the interval is.
    pub confidence: Confidence,
    /// Requests in the steady phase.
    pub requests: usize,
    /// Duration of the steady phase, seconds.
    pub seconds: f64,
    /// Of writes: what all rows had written when the steady phase started, and when it ended.
    pub written: Option<(Bytes, Bytes)>,
    /// The start-up, if its speed differed.
    pub startup: Option<Startup>,
    /// Latencies of the steady phase.
    pub latency: Latencies,
    /// Why the steady speed may be another one, where that shows.
    pub unsettled: Option<Unsettled>,
    /// Why this cannot be the device's speed, where it cannot.
    pub cached: Option<Cached>,
}

/// Why the steady speed may be another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsettled {
    /// The row was still becoming faster or slower when it ended.
    Drifts(Drift),
    /// An earlier row of sequential writes exhausted a cache of this size, and this row wrote less. While the
    /// controller folds the data of the cache, writes are slower.
    AfterExhaustedCache(Bytes),
}

impl Speed {
    /// If earlier rows stalled, or else this one: the speed over whole periods of these stalls. For a row of
    /// too few periods, an interval that holds one stall more or less.
    fn with_stalls(&mut self, before: &[SpeedCell], cell: &SpeedCell) {
        let own = || Expected::of_its_own(cell);
        let expected = Expected::of(cell.case, before).map(Expected::in_few_periods);
        let Some(expected) = expected.or_else(own) else { return };
        let lasted = cell.ended_ns.last().map_or(0.0, |ended| seconds(*ended));
        if !expected.is_worth_it(cell, lasted) {
            return;
        }
        match expected.over_periods(cell).filter(|_| expected.covers(self.startup)) {
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

    /// The start-up belongs to the steady phase.
    fn with_start(&mut self, cell: &SpeedCell) {
        self.startup = None;
        self.requests = cell.took_ns.len();
        self.seconds = cell.ended_ns.last().map_or(0.0, |ended| seconds(*ended));
        self.latency = Latencies::of(&cell.took_ns).unwrap_or(self.latency);
    }

    /// A write buffer took most of the writes, and the flush wrote them: the speed over both. The buffer
    /// fills at one speed and empties at the other, so that only their sum is that of the flash.
    fn with_flush(&mut self, cell: &SpeedCell) {
        let lasted = cell.ended_ns.last().map_or(0.0, |ended| seconds(*ended));
        let flush = cell.flush.map_or(0.0, |flush| flush.as_secs_f64());
        let is_wide = self.bytes_per_s_high > WIDE * self.bytes_per_s_low;
        let is_buffered = flush > THE_RULE * lasted || (is_wide && flush > FLUSH_SHARE_MIN * lasted);
        let bytes_per_s = cell.transferred().as_f64() / (lasted + flush);
        if !is_buffered || bytes_per_s > self.bytes_per_s_low {
            return;
        }
        self.with_start(cell);
        self.seconds = lasted + flush;
        self.bytes_per_s = bytes_per_s;
        self.bytes_per_s_low = bytes_per_s / (1.0 + FLUSHED_HALF_WIDTH);
        self.bytes_per_s_high = bytes_per_s * (1.0 + FLUSHED_HALF_WIDTH);
    }

    /// Bytes transferred in the steady phase.
    #[must_use]
    pub const fn transferred(&self) -> Bytes {
        Bytes::new(self.case.request.get() * self.requests as u64)
    }

    /// Requests per second (IOPS).
    #[must_use]
    pub fn requests_per_s(&self) -> f64 {
        self.bytes_per_s / self.case.request.as_f64()
    }
}

/// The speed of a row's requests, at most that of `link`; `None` from too few, and if a single one took most
/// of the time.
#[must_use]
pub fn speed(cell: &SpeedCell, link: Option<&LinkLimit>) -> Option<Speed> {
    let phases = Phases::of(cell).filter(|_| !is_one_request(cell))?;
    let mean = phases.mean()?;
    let half = mean.half_width().max(CLEAR_HALF_WIDTH);
    let bytes_per_s = 1.0 / mean.seconds_per_byte;
    let steady = cell.took_ns.get(phases.first_steady_request()..).unwrap_or(&[]);
    Some(Speed {
        case: cell.case,
        bytes_per_s,
        bytes_per_s_low: bytes_per_s / (1.0 + half),
        bytes_per_s_high: bytes_per_s * (1.0 + half),
        confidence: Confidence::new(COVERED),
        requests: steady.len(),
        seconds: mean.seconds,
        written: None,
        startup: phases.startup(cell.case.request),
        latency: Latencies::of(steady)?,
        unsettled: phases.drift.filter(|_| !is_clear(cell)).map(Unsettled::Drifts),
        cached: link.and_then(|link| impossible(bytes_per_s, link)),
    })
}

/// Whether one request took most of a row's time, as on a device that hung or after a clock jump: the mean is
/// then that of this one.
#[must_use]
pub fn is_one_request(cell: &SpeedCell) -> bool {
    let gaps = cell.ended_ns.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
    let longest = gaps.chain(cell.ended_ns.first().copied()).max().unwrap_or_default();
    cell.ended_ns.last().is_some_and(|last| longest > last / 2)
}

/// The speed of one row of a run, checked against link, method and flash; `None` from too few requests.
#[must_use]
pub fn speed_of(data: &SpeedData, cell: &SpeedCell) -> Option<Speed> {
    let mut speed = speed(cell, data.link.as_ref())?;
    let before: Vec<SpeedCell> = data.cells.iter().take_while(|seen| *seen != cell).cloned().collect();
    speed.with_stalls(&before, cell);
    if cell.case.direction == Direction::Write {
        speed.with_flush(cell);
        let written: Bytes = before.iter().map(SpeedCell::transferred).sum();
        let end = written + cell.transferred();
        speed.written = Some((end - speed.transferred(), end));
        speed.unsettled = speed.unsettled.or_else(|| after_cache(&before, cell));
    }
    speed.cached = speed.cached.or_else(|| cached(data, cell));
    Some(speed)
}

/// The cache that earlier rows exhausted, if this row wrote less than it holds and none has reached its
/// steady speed since.
fn after_cache(before: &[SpeedCell], cell: &SpeedCell) -> Option<Unsettled> {
    let exhausted = ExhaustedCache::after(before).filter(|exhausted| exhausted.may_slow(cell))?;
    Some(Unsettled::AfterExhaustedCache(exhausted.size))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::streams::speed::periods::{Sample, stall_times};
    use flashscope_record::observation::{Contents, Order};

    /// Sequential writes of 1 MiB with these latencies in milliseconds.
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
    fn the_startup_is_separated_whether_slower_or_faster() {
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
    fn a_single_stall_later_does_not_hide_a_slow_start() {
        let took = |index| match index {
            0..24 => 300,
            200 => 2000,
            _ => 50,
        };
        let seen = speed(&cell((0..240).map(took)), None).unwrap();
        let startup = seen.startup.unwrap();
        assert_eq!(startup.bytes, Bytes::mib(24));
        assert!(near(startup.bytes_per_s, 1_048_576.0 / 0.3), "{startup:?}");
        // 215 writes of 50 ms, and one of 2 s.
        assert!(near(seen.bytes_per_s, 1_048_576.0 * 216.0 / 12.75), "{seen:?}");
    }

    /// 256 writes of 4 KiB fit into a write buffer, and 12 more wait for the flash.
    #[test]
    fn the_flush_counts_where_a_write_buffer_took_most_writes() {
        let request = Bytes::kib(4);
        let case = SpeedCase { direction: Direction::Write, order: Order::Random, request, queue_depth: 1 };
        let with = |flush: Option<Duration>, buffered: usize| {
            let (mut cell, mut ended) = (SpeedCell::new(case), Duration::ZERO);
            for index in 0..268 {
                let took = Duration::from_micros(if index < buffered { 100 } else { 260_000 });
                ended += took;
                cell.keep(took, ended);
            }
            cell.flush = flush;
            let data = SpeedData { cells: vec![cell.clone()], ..SpeedData::default() };
            speed_of(&data, &cell).unwrap()
        };
        let flushed = with(Some(Duration::from_millis(66_560)), 256);
        assert!((flushed.requests_per_s() * 0.26 - 1.0).abs() < 0.02, "{flushed:?}");
        assert!(flushed.bytes_per_s_high < 1.22 * flushed.bytes_per_s_low);
        let inside = flushed.bytes_per_s_low..flushed.bytes_per_s_high;
        assert!(inside.contains(&flushed.bytes_per_s) && inside.start < flushed.bytes_per_s, "{flushed:?}");
        let unbuffered = with(Some(Duration::from_secs(1)), 0);
        assert_eq!(unbuffered.bytes_per_s, with(None, 0).bytes_per_s, "a flush of one second of seventy");
    }

    #[test]
    fn stalls_count_in_the_speed_and_its_interval() {
        let seen = speed(&cell((0..320).map(|index| if index % 16 == 7 { 500 } else { 50 })), None).unwrap();
        assert!(near(seen.bytes_per_s, 1_048_576.0 / 0.078_125), "{seen:?}");
        assert!(seen.startup.is_none() && near(seen.latency.p50, 0.05) && near(seen.latency.max, 0.5));
        assert!(seen.bytes_per_s_low < seen.bytes_per_s && seen.bytes_per_s < seen.bytes_per_s_high);
    }

    #[test]
    fn a_row_is_clear_if_it_is_long_and_even() {
        assert!(is_clear(&cell((0..60).map(|_| 50))));
        assert!(!is_clear(&cell((0..30).map(|_| 50))), "too short");
        assert!(!is_clear(&cell((0..90).map(|index| 20 + index))), "it drifts");
        assert!(speed(&cell((0..5).map(|_| 50)), None).is_none(), "too few");
        let jumped = |by| cell((0..300).map(move |index| if index == 200 { by } else { 50 }));
        assert!(speed(&jumped(3_600_000), None).is_none(), "one write took most of the time");
        assert!(speed(&jumped(5_000), None).is_some());
    }

    #[test]
    fn a_row_shorter_than_a_known_stall_period_has_a_wider_interval() {
        let stalling = cell((0..320).map(|index| if index % 16 == 7 { 1050 } else { 50 }));
        let short = cell((0..60).map(|_| 50));
        let mut data = SpeedData { cells: vec![short.clone()], ..SpeedData::default() };
        let alone = speed_of(&data, &short).unwrap();
        assert!(alone.bytes_per_s_low > alone.bytes_per_s * 0.98);
        data.cells.insert(0, stalling.clone());
        let after = speed_of(&data, &short).unwrap();
        // 60 MiB in 3 s, and one stall of a second more.
        assert!((after.bytes_per_s_low / after.bytes_per_s - 3.0 / 4.05).abs() < 0.02, "{after:?}");
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
    fn two_periods_of_stalls_are_enough_only_if_an_earlier_row_met_four_stalls() {
        let took = |index: u64| if index % 16 == 15 { 1050 } else { 50 };
        let ends = |writes_before: u64| {
            let short = cell((0..32).map(took));
            let cells = vec![cell((0..writes_before).map(took)), short.clone()];
            let data = SpeedData { cells, ..SpeedData::default() };
            let seen = speed_of(&data, &short).unwrap();
            assert!(near(seen.bytes_per_s, 1_048_576.0 * 16.0 / 1.8), "{seen:?}");
            seen.bytes_per_s_high / seen.bytes_per_s_low
        };
        assert!(ends(64) < 1.03, "four stalls: {}", ends(64));
        // One stall more changes 3.6 s by a second.
        assert!(ends(48) > 1.25, "three stalls: {}", ends(48));
    }

    #[test]
    fn earlier_rows_narrow_the_length_of_a_stall() {
        let took = |index: u64| if index % 16 == 15 { 1000 + index * 7919 % 1400 } else { 50 };
        let before = cell((0..3200).map(took));
        let short = cell((0..96).map(took));
        let expected = Expected::of(short.case, std::slice::from_ref(&before)).unwrap();
        let (seen, alone) = (
            expected.over_periods(&short).unwrap(),
            Expected::of_its_own(&short).unwrap().over_periods(&short).unwrap(),
        );
        let truth = (16.0 * 0.05 + Sample::of(&stall_times(&before, 1.7)).mean) / Bytes::mib(16).as_f64();
        assert!(
            (seen.seconds / truth - 1.0).abs() < 0.01 && seen.half < alone.half / 3.0,
            "{seen:?}, {alone:?}"
        );
        assert!(seen.few_beside && !alone.few_beside && expected.is_clear(&short));
        // The stalls of this row are three times as long: they are of another kind, and only its own count.
        let other = cell((0..96).map(|index| took(index) * if index % 16 == 15 { 3 } else { 1 }));
        let seen = expected.over_periods(&other).unwrap();
        assert!(seen.seconds > truth * 1.5 && !seen.few_beside, "{seen:?}");
        // In random order they count if one comes in each period.
        let random =
            |cell: SpeedCell| SpeedCell { case: SpeedCase { order: Order::Random, ..cell.case }, ..cell };
        assert!(expected.is_clear(&random(short)));
        let irregular =
            cell((0..96).map(|index| if [3, 9, 40, 41, 70, 95].contains(&index) { 1700 } else { 50 }));
        assert_eq!(expected.over_periods(&random(irregular)), None);
    }

    #[test]
    fn stalls_are_separated_from_writes_that_take_nearly_as_long() {
        let before = cell((0..640).map(|index| if index % 16 == 15 { 200 } else { 50 }));
        let random = SpeedCase { order: Order::Random, ..before.case };
        let expected = Expected::of(random, std::slice::from_ref(&before)).unwrap();
        assert!(near(expected.seconds, 0.15), "{expected:?}");
        let slower = cell((0..96).map(|index| if index % 16 == 15 { 265 } else { 115 }));
        assert!(expected.is_clear(&SpeedCell { case: random, ..slower }));
    }

    /// Random reads of 4 KiB with this latency in microseconds, and sequential reads beside them.
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
    fn reads_faster_than_any_flash_are_marked_as_cached() {
        let cached = |data: &SpeedData| {
            data.cells.iter().map(|cell| speed_of(data, cell).unwrap().cached.is_some()).collect::<Vec<_>>()
        };
        assert_eq!(cached(&reads(110)), [false, false]);
        assert_eq!(cached(&reads(9)), [true, false]);
        let mut blank = reads(9);
        blank.contents = Contents { looked_at: 16, blank: 16 };
        assert_eq!(cached(&blank), [true, true]);
        let why = speed_of(&blank, &blank.cells[1]).unwrap().cached.unwrap();
        let expected = Cached::FasterThanFlash { request: Bytes::kib(4), flash_s: 25e-6, is_blank: true };
        assert_eq!(why, expected);
        blank.cells[0] = reads(110).cells[0].clone();
        assert_eq!(cached(&blank), [false, false], "blank, but as slow as flash: may be flash");
    }

    #[test]
    fn reads_through_the_page_cache_are_marked_as_cached() {
        let mut data = reads(110);
        data.is_buffered = true;
        assert!(data.cells.iter().all(|cell| speed_of(&data, cell).unwrap().cached.is_some()));
        for cell in &mut data.cells {
            cell.case.direction = Direction::Write;
        }
        assert!(data.cells.iter().all(|cell| speed_of(&data, cell).unwrap().cached.is_none()));
    }

    #[test]
    fn a_speed_above_the_link_is_marked_as_cached() {
        let link = LinkLimit { bytes_per_s: Bytes::new(53_200_000), name: "USB at 480 Mbit/s".to_owned() };
        let fast = speed(&cell((0..300).map(|_| 2)), Some(&link)).unwrap();
        assert!(matches!(fast.cached, Some(Cached::Link { name, .. }) if name.contains("480 Mbit/s")));
        assert_eq!(speed(&cell((0..300).map(|_| 25)), Some(&link)).unwrap().cached, None);
    }
}
