//! Recurring stalls in a stream of writes: single writes of many times the typical time, after the same
//! number of bytes each.

use flashscope_device::Bytes;

use flashscope_record::observation::LongWrite;

use crate::statistics::{count, median, quantile, whole_bytes};
use crate::streams::batch_means::error_of;
use crate::streams::slowdown::Stretch;
use crate::thresholds::LITTLE;

/// At most this many adjacent long writes are a stall, since a write buffer may spread one over two. More of
/// them are a slowdown.
const STALL_WRITES_MAX: usize = 2;
/// The factor between thresholds for stalls that are tried: long stalls are separated from the host's own
/// delays. Guess.
const STEP: f64 = 2.0;
/// The fewest stalls with a period: two distances, which can agree.
const STALLS_MIN: usize = 3;
/// The distances of at least 80 % of the stalls lie within this share of a multiple of the period. Guess.
const DEVIATION_MAX: f64 = 0.12;
/// The largest distance of two stalls, in periods: some stalls hide behind other delays. Guess.
const MISSING_MAX: f64 = 3.5;

/// Recurring stalls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stalls {
    /// Bytes written from one to the next.
    pub period: Bytes,
    /// The lower end of its interval.
    pub period_low: Bytes,
    /// The upper end of its interval.
    pub period_high: Bytes,
    /// How many were seen.
    pub seen: usize,
    /// The median stall, seconds.
    pub seconds: f64,
    /// The longest, seconds.
    pub seconds_max: f64,
    /// Their share of the time from the first to the last of them.
    pub share: f64,
    /// The mean time per byte from the first to the last of them, stalls included, seconds.
    pub seconds_per_byte: f64,
    /// Its standard error as a share, from the differences between periods.
    pub error: f64,
}

/// The recurring stalls among the long writes of a stream of `request` bytes each; `None` if none recur after
/// the same number of bytes.
#[must_use]
pub fn stalls(long: &[LongWrite], request: Bytes) -> Option<Stalls> {
    let long = &joined(&brief(long, request), request);
    let shortest = long.iter().map(|write| write.took.as_secs_f64()).fold(f64::INFINITY, f64::min);
    let longest = long.iter().map(|write| write.took.as_secs_f64()).fold(0.0, f64::max);
    let thresholds = std::iter::successors(Some(shortest), |at| Some(at * STEP));
    thresholds
        .take_while(|at| *at <= longest)
        .take(64)
        .filter_map(|at| periodic(&at_least(long, at), request))
        .max_by(|(one, regular), (other, other_regular)| {
            (one.share * regular).total_cmp(&(other.share * other_regular))
        })
        .map(|(stalls, _)| stalls)
        .filter(|stalls| stalls.share >= LITTLE)
}

/// The long writes that may be stalls: single ones, and pairs.
#[must_use]
pub fn brief(long: &[LongWrite], request: Bytes) -> Vec<LongWrite> {
    let runs = long.chunk_by(|one, next| one.written + request == next.written);
    runs.filter(|run| run.len() <= STALL_WRITES_MAX).flatten().copied().collect()
}

/// Joins two adjacent long writes: with a write buffer, the write that meets a stall waits for the buffer,
/// and the next one for the rest of the stall.
fn joined(brief: &[LongWrite], request: Bytes) -> Vec<LongWrite> {
    let mut joined: Vec<LongWrite> = Vec::with_capacity(brief.len());
    for write in brief {
        match joined.last_mut().filter(|last| last.written + request == write.written) {
            Some(last) => *last = LongWrite { took: last.took + write.took, ..*write },
            None => joined.push(*write),
        }
    }
    joined
}

fn at_least(long: &[LongWrite], seconds: f64) -> Vec<LongWrite> {
    long.iter().filter(|write| write.took.as_secs_f64() >= seconds).copied().collect()
}

/// The period of these stalls, and the share of their distances that are multiples of it. Other delays lie
/// anywhere between two stalls, and would shift the period.
fn periodic(stalls: &[LongWrite], request: Bytes) -> Option<(Stalls, f64)> {
    if stalls.len() < STALLS_MIN {
        return None;
    }
    let gaps: Vec<f64> =
        stalls.windows(2).map(|pair| pair[1].written.as_f64() - pair[0].written.as_f64()).collect();
    let typical = median(&gaps).filter(|gap| *gap > 0.0)?;
    let times = |gap: &f64| (gap / typical).round();
    let deviation =
        |gap: &f64| (gap / typical - times(gap)).abs().max(if times(gap) < 1.0 { 1.0 } else { 0.0 });
    // An offset is known to one write.
    let allowed = DEVIATION_MAX.max(1.01 * request.as_f64() / typical).min(0.5);
    let regular: Vec<&f64> =
        gaps.iter().filter(|gap| deviation(gap) <= allowed && **gap / typical < MISSING_MAX).collect();
    if count(regular.len()) < 0.8 * count(gaps.len()) || typical < 2.0 * request.as_f64() {
        return None;
    }
    let steps: f64 = regular.iter().map(|gap| times(gap)).sum();
    let period = regular.iter().copied().sum::<f64>() / steps;
    let half = (request.as_f64() / steps).max(period * 0.01);
    let took: Vec<f64> = stalls.iter().map(|write| write.took.as_secs_f64()).collect();
    let (first, last) = (stalls.first()?, stalls.last()?);
    let between = (last.ended.checked_sub(first.ended)?).as_secs_f64();
    let found = Stalls {
        period: whole_bytes(period),
        period_low: whole_bytes(period - half),
        period_high: whole_bytes(period + half),
        seen: stalls.len(),
        seconds: median(&took)?,
        seconds_max: quantile(&took, 1.0)?,
        share: took.iter().skip(1).sum::<f64>() / between.max(f64::MIN_POSITIVE),
        seconds_per_byte: between / (last.written.as_f64() - first.written.as_f64()),
        error: error_of(&stretches_between(stalls)?),
    };
    Some((found, count(regular.len()) / count(gaps.len())))
}

/// The stretch from each stall to the next; `None` if time ran backwards.
fn stretches_between(stalls: &[LongWrite]) -> Option<Vec<Stretch>> {
    let stretch = |pair: &[LongWrite]| {
        let bytes = pair[1].written.as_f64() - pair[0].written.as_f64();
        let seconds = pair[1].ended.checked_sub(pair[0].ended)?.as_secs_f64();
        Some(Stretch { bytes, seconds_per_byte: seconds / bytes })
    };
    stalls.windows(2).map(stretch).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Writes of 1 MiB that took these milliseconds: those that took a second and more.
    fn long(milliseconds: &[u64]) -> Vec<LongWrite> {
        let (mut written, mut ended, mut long) = (Bytes::ZERO, Duration::ZERO, Vec::new());
        for took in milliseconds.iter().map(|each| Duration::from_millis(*each)) {
            written += Bytes::mib(1);
            ended += took;
            if took.as_secs() >= 1 {
                long.push(LongWrite { written, took, ended });
            }
        }
        long
    }

    fn found(milliseconds: &[u64]) -> Option<Stalls> {
        stalls(&long(milliseconds), Bytes::mib(1))
    }

    #[test]
    fn a_period_is_found_among_other_delays_and_with_one_stall_missing() {
        let mut writes: Vec<u64> =
            (0..400).map(|index| if index % 16 == 15 { 2000 + index } else { 50 }).collect();
        (writes[37], writes[111], writes[79]) = (1000, 1100, 50);
        let stalls = found(&writes).unwrap();
        assert_eq!(stalls.period, Bytes::mib(16));
        assert!(stalls.period_low < Bytes::mib(16) && stalls.period_high > Bytes::mib(16));
        assert!((2.0..2.4).contains(&stalls.seconds) && stalls.seconds_max >= 2.3 && stalls.share > 0.6);
    }

    #[test]
    fn the_speed_is_measured_over_whole_periods() {
        let writes: Vec<u64> = (0..1000).map(|index| if index % 300 == 299 { 30_000 } else { 50 }).collect();
        let stalls = found(&writes).unwrap();
        assert_eq!(stalls.period, Bytes::mib(300));
        let truth = (299.0 * 0.05 + 30.0) / Bytes::mib(300).as_f64();
        assert!((stalls.seconds_per_byte / truth - 1.0).abs() < 0.001, "{stalls:?}");
    }

    #[test]
    fn delays_between_stalls_do_not_shift_the_period() {
        // Of a fifth as long as the shortest stall, in one period of twenty: near enough to its end to look
        // like a short period.
        let delay = |index: u64| index % 5120 == 29;
        let writes: Vec<u64> = (0..16_384)
            .map(|index| match index {
                _ if index % 256 == 255 => 5000 + index % 7 * 500,
                _ if delay(index) => 1000,
                _ => 50,
            })
            .collect();
        assert_eq!(found(&writes).unwrap().period, Bytes::mib(256));
    }

    #[test]
    fn a_stall_spread_over_two_writes_counts_once() {
        let writes: Vec<u64> =
            (0..400).map(|index| if [14, 15].contains(&(index % 16)) { 1000 + index } else { 50 }).collect();
        let stalls = found(&writes).unwrap();
        assert_eq!(stalls.period, Bytes::mib(16));
        assert!((2.0..2.8).contains(&stalls.seconds) && stalls.seen == 25, "{stalls:?}");
    }

    #[test]
    fn a_drop_to_another_level_is_no_stall() {
        let drop = || std::iter::repeat_n(1100, 16);
        let writes: Vec<u64> = (0..100).map(|_| 50).chain(drop()).chain((0..100).map(|_| 50)).collect();
        assert_eq!(found(&writes), None);
        let stall = |index: u64| if index % 16 == 15 { 2000 } else { 50 };
        let writes: Vec<u64> = (0..160).map(stall).chain(drop()).chain((0..160).map(stall)).collect();
        let stalls = found(&writes).unwrap();
        assert_eq!((stalls.period, stalls.seen), (Bytes::mib(16), 19));
    }

    #[test]
    fn two_stalls_and_irregular_stalls_have_no_period() {
        let writes: Vec<u64> = (0..400).map(|index| if index % 190 == 189 { 2000 } else { 50 }).collect();
        assert_eq!(found(&writes), None);
        let irregular = [3, 20, 24, 70, 75, 131, 133, 290, 350];
        let writes: Vec<u64> =
            (0..400).map(|index| if irregular.contains(&index) { 2000 } else { 50 }).collect();
        assert_eq!(found(&writes), None);
    }
}
