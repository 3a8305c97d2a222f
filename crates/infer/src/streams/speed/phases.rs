//! The phases of a row of equal requests: its start-up, and the steady phase after it.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::observation::SpeedCell;

use crate::statistics::{count, median, quantile};
use crate::streams::batch_means::{BATCHES, Mean};
use crate::streams::drift::{Drift, settled_from};
use crate::streams::slowdown::{Slowdown, Stretch};

/// The most groups that requests are joined into: it limits the work of finding the start-up. Guess.
const STRETCHES_MAX: usize = 240;
/// The first groups belong to the start-up while they differ by more than this factor from nearly all of the
/// later half, i.e. from its quantiles [`LATER_LOW`] and [`LATER_HIGH`]. Guess.
pub const STARTUP_RATIO: f64 = 1.25;
/// The lower quantile of the later half. Guess.
const LATER_LOW: f64 = 0.05;
/// The upper quantile of the later half. Guess.
const LATER_HIGH: f64 = 0.95;
/// The start-up is at most this part of the row: one half, since the later half is its reference.
const STARTUP_SHARE: usize = 2;

/// The least time of a steady phase. Guess: the host's own delays last up to two seconds.
pub const CLEAR_AFTER: Duration = Duration::from_secs(2);
/// The fewest requests that give a speed where they took at least [`CLEAR_AFTER`]: a device that takes
/// seconds for each is slow, however few there were. Guess.
const SLOW_REQUESTS_MIN: usize = 6;

/// The start-up of a row, if its speed differs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Startup {
    /// What was transferred.
    pub bytes: Bytes,
    /// Its typical speed.
    pub bytes_per_s: f64,
}

/// Latencies of the requests of a row, seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Latencies {
    /// The shortest.
    pub min: f64,
    /// The median.
    pub p50: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The 99.9th percentile.
    pub p999: f64,
    /// The longest.
    pub max: f64,
}

impl Latencies {
    /// Of latencies in nanoseconds; `None` of none.
    pub fn of(took_ns: &[u64]) -> Option<Self> {
        let took: Vec<f64> = took_ns.iter().map(|nanoseconds| seconds(*nanoseconds)).collect();
        let at = |share| quantile(&took, share);
        Some(Self {
            min: at(0.0)?,
            p50: at(0.5)?,
            p90: at(0.9)?,
            p99: at(0.99)?,
            p999: at(0.999)?,
            max: at(1.0)?,
        })
    }
}

/// The requests of a row in groups, and where its steady phase starts.
pub struct Phases {
    stream: Vec<Stretch>,
    group: usize,
    steady_from: usize,
    /// The direction of a drift after the cache was full and blocks were opened.
    pub drift: Option<Drift>,
}

impl Phases {
    /// Of a row; `None` from too few requests. A few slow ones are one phase.
    pub fn of(cell: &SpeedCell) -> Option<Self> {
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
        if stream.len() < BATCHES {
            let lasted = ends.last().copied().map_or(Duration::ZERO, Duration::from_nanos);
            let is_enough = stream.len() >= SLOW_REQUESTS_MIN && lasted >= CLEAR_AFTER;
            return is_enough.then_some(Self { stream, group, steady_from: 0, drift: None });
        }
        let started = startup_length(&stream);
        let after = stream.get(started..).unwrap_or(&[]);
        let drift = Drift::of(after);
        let recovering = if drift == Some(Drift::Faster) { settled_from(after) } else { 0 };
        Some(Self { steady_from: started + recovering, stream, group, drift })
    }

    /// The mean of the steady phase.
    pub fn mean(&self) -> Option<Mean> {
        let steady = self.stream.get(self.steady_from..)?;
        if self.stream.len() < BATCHES { Mean::of_few(steady) } else { Mean::of(steady) }
    }

    /// Whether the steady phase is at least twice as long as the start-up.
    pub const fn is_mostly_steady(&self) -> bool {
        self.steady_from * 3 <= self.stream.len()
    }

    /// The first request of the steady phase.
    pub const fn first_steady_request(&self) -> usize {
        self.steady_from * self.group
    }

    /// The start-up, if there is one.
    pub fn startup(&self, request: Bytes) -> Option<Startup> {
        let before = self.stream.get(..self.steady_from).filter(|before| !before.is_empty())?;
        let times: Vec<f64> = before.iter().map(|each| each.seconds_per_byte).collect();
        let typical = median(&times).filter(|time| *time > 0.0)?;
        let bytes = request * self.first_steady_request() as u64;
        Some(Startup { bytes, bytes_per_s: 1.0 / typical })
    }
}

/// The groups of the start-up: those before a cache is full, and those in which the first requests open
/// blocks.
fn startup_length(stream: &[Stretch]) -> usize {
    let until_full = Slowdown::of(stream).map_or(0, |slowdown| slowdown.index);
    let times: Vec<f64> = stream.iter().map(|stretch| stretch.seconds_per_byte).collect();
    let later = &times[times.len() / 2..];
    let (Some(low), Some(high)) = (quantile(later, LATER_LOW), quantile(later, LATER_HIGH)) else {
        return until_full;
    };
    let differs = |time: &&f64| **time > high * STARTUP_RATIO || **time * STARTUP_RATIO < low;
    let opening = times.iter().take_while(differs).count().min(stream.len() / STARTUP_SHARE);
    let from = until_full.max(opening);
    if stream.len() - from < BATCHES { 0 } else { from }
}

/// Nanoseconds in seconds.
#[expect(
    clippy::cast_precision_loss,
    reason = "times of a measurement are far below 2^53 ns, which is 104 days"
)]
pub const fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}
