//! The slowdown of a stream of writes: two levels of the time per byte, and the change point between them.
//!
//! The change point leaves the fewest writes on the wrong side: a cumulative sum of bounded scores (E. Page,
//! "Continuous inspection schemes", Biometrika 41, 1954), so that outliers and stalls do not decide.

use crate::statistics::{count, median};
use crate::thresholds::{ITERATIONS, NOT_NOISE};

/// A stretch of a stream: its bytes, and the time per byte.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// How many bytes.
    pub bytes: f64,
    /// Seconds per byte.
    pub seconds_per_byte: f64,
}

impl Stretch {
    /// Both as one.
    pub const fn and(&self, other: &Self) -> Self {
        let bytes = self.bytes + other.bytes;
        let seconds = self.bytes * self.seconds_per_byte + other.bytes * other.seconds_per_byte;
        Self { bytes, seconds_per_byte: seconds / bytes }
    }
}

/// Where a stream becomes slow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slowdown {
    /// The first stretch that is slow throughout.
    pub index: usize,
    /// Bytes written before it.
    pub bytes: f64,
    /// The lower end of their interval.
    pub bytes_low: f64,
    /// The upper end of their interval.
    pub bytes_high: f64,
    /// Before, seconds per byte.
    pub fast: f64,
    /// After, seconds per byte.
    pub slow: f64,
    /// The share of stretches before it on the fast side, or of those after it on the slow side, whichever is
    /// smaller.
    pub agreement: f64,
}

/// The least ratio of the levels: speed varies by less on its own. Guess.
pub const RATIO_MIN: f64 = 1.1;
/// The least agreement of a slowdown. Guess.
const AGREEMENT_MIN: f64 = 0.8;

impl Slowdown {
    /// The slowdown of a stream, if it has one.
    #[must_use]
    pub fn of(stream: &[Stretch]) -> Option<Self> {
        if stream.len() < 2 * NOT_NOISE {
            return None;
        }
        let times: Vec<f64> = stream.iter().map(|stretch| stretch.seconds_per_byte).collect();
        let starts = [NOT_NOISE, times.len() / 16, times.len() / 4].map(|first| first.max(NOT_NOISE));
        let found = starts.into_iter().filter_map(|first| settle(&times, first));
        let best = found.max_by(|a, b| agreement(&times, a).total_cmp(&agreement(&times, b)))?;
        let slowdown = best.of(stream);
        (slowdown.agreement >= AGREEMENT_MIN).then_some(slowdown)
    }
}

impl Slowdown {
    /// The same, after `before` bytes that were written before the stream.
    #[must_use]
    pub fn after(self, before: f64) -> Self {
        Self {
            bytes: self.bytes + before,
            bytes_low: self.bytes_low + before,
            bytes_high: self.bytes_high + before,
            ..self
        }
    }
}

/// Two levels, and the first index of the second.
#[derive(Debug, Clone, Copy)]
struct Levels {
    index: usize,
    fast: f64,
    slow: f64,
}

/// Levels and change point, starting from the level of the `first` stretches and that of the last quarter.
fn settle(times: &[f64], first: usize) -> Option<Levels> {
    let last = times.len() - (times.len() / 4).max(NOT_NOISE);
    let mut levels = Levels { index: 0, fast: median(&times[..first])?, slow: median(&times[last..])? };
    for _ in 0..ITERATIONS {
        let index = change(times, levels.fast, levels.slow);
        if index < NOT_NOISE || times.len() - index < NOT_NOISE {
            return None;
        }
        levels = Levels { index, fast: median(&times[..index])?, slow: median(&times[index..])? };
        if levels.slow < levels.fast * RATIO_MIN {
            return None;
        }
    }
    Some(levels)
}

/// The index with the most stretches on their own side, each weighted by its distance from the middle, at
/// most 1.
fn change(times: &[f64], fast: f64, slow: f64) -> usize {
    let (middle, half) = (f64::midpoint(fast, slow), (slow - fast) / 2.0);
    let mut sum = 0.0;
    let mut best = (0, 0.0);
    for (index, time) in times.iter().enumerate() {
        sum += ((middle - time) / half).clamp(-1.0, 1.0);
        if sum > best.1 {
            best = (index + 1, sum);
        }
    }
    best.0
}

fn agreement(times: &[f64], levels: &Levels) -> f64 {
    let middle = f64::midpoint(levels.fast, levels.slow);
    let (before, after) = times.split_at(levels.index);
    let share = |times: &[f64], fits: &dyn Fn(f64) -> bool| {
        count(times.iter().filter(|time| fits(**time)).count()) / count(times.len().max(1))
    };
    share(before, &|time| time < middle).min(share(after, &|time| time > middle))
}

impl Levels {
    /// The change point in bytes: a stretch next to it is divided by where its time lies between the levels.
    fn of(self, stream: &[Stretch]) -> Slowdown {
        let before = |index: usize| stream[..index].iter().map(|stretch| stretch.bytes).sum::<f64>();
        let fast_share = |stretch: &Stretch| {
            ((self.slow - stretch.seconds_per_byte) / (self.slow - self.fast)).clamp(0.0, 1.0)
        };
        let around = self.index - 1..(self.index + 1).min(stream.len());
        let (low, high) = (before(around.start), before(around.end));
        let between: f64 = stream[around.clone()].iter().map(|each| each.bytes * fast_share(each)).sum();
        let times: Vec<f64> = stream.iter().map(|stretch| stretch.seconds_per_byte).collect();
        Slowdown {
            index: around.end,
            bytes: low + between,
            bytes_low: low,
            bytes_high: high,
            fast: self.fast,
            slow: self.slow,
            agreement: agreement(&times, &self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stretches of one byte with these times.
    fn stream(times: &[f64]) -> Vec<Stretch> {
        times.iter().map(|time| Stretch { bytes: 1.0, seconds_per_byte: *time }).collect()
    }

    #[test]
    fn the_change_point_is_found_within_a_stretch_despite_outliers() {
        let mut times = vec![1.0; 30];
        times.extend([2.2]);
        times.extend(vec![4.0; 50]);
        (times[3], times[40], times[60]) = (90.0, 200.0, 90.0);
        let found = Slowdown::of(&stream(&times)).unwrap();
        assert!((found.bytes - 30.6).abs() < 0.01, "{found:?}");
        assert!(found.bytes_low <= 30.0 && found.bytes_high >= 31.0 && found.index == 32, "{found:?}");
    }

    #[test]
    fn waves_and_stalls_are_no_slowdown() {
        let waves: Vec<f64> = (0..200).map(|index| 1.15 + 0.15 * (f64::from(index) / 9.0).sin()).collect();
        assert_eq!(Slowdown::of(&stream(&waves)), None);
        let stalls: Vec<f64> = (0..200).map(|index| if index % 16 == 0 { 9.0 } else { 1.0 }).collect();
        assert_eq!(Slowdown::of(&stream(&stalls)), None);
        assert_eq!(Slowdown::of(&stream(&[1.0; 64])), None);
    }

    #[test]
    fn a_speed_that_falls_by_less_than_a_tenth_is_no_slowdown() {
        let slows = |slow: f64| Slowdown::of(&stream(&[vec![1.0; 30], vec![slow; 30]].concat())).is_some();
        assert_eq!([1.05, 1.15].map(slows), [false, true]);
    }

    #[test]
    fn a_stream_that_becomes_faster_has_no_slowdown() {
        let times = [vec![4.0; 30], vec![1.0; 30]].concat();
        assert_eq!(Slowdown::of(&stream(&times)), None);
    }

    #[test]
    fn one_or_two_stretches_at_either_end_are_no_level() {
        let with = |fast: usize, slow: usize| {
            let found = Slowdown::of(&stream(&[vec![1.0; fast], vec![4.0; slow]].concat()));
            found.map(|found| found.bytes.round())
        };
        assert_eq!([with(1, 20), with(2, 10), with(2, 60), with(10, 2)], [None; 4]);
        assert_eq!([with(3, 9), with(9, 3)], [Some(3.0), Some(9.0)]);
    }
}
