//! How much a write's latency speaks for a merge in it.

use std::time::Duration;

use crate::statistics::{median, quickest_quarter};

/// Tells writes with a merge from writes without, by what writes without one take.
///
/// A merge copies up to a whole erase block, a write a few pages. So the judgement is soft around twice the typical time
/// and firm elsewhere: neither the exact limit nor the shape of the noise matters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slowness {
    typical_seconds: f64,
    /// From this multiple of the typical time on a write is more likely slow than quick.
    limit: f64,
    /// How far the median of unmerged writes lies above their least, as a share of that.
    spread: f64,
    /// The multiple that merges take, where they are all alike.
    merges: Option<f64>,
    /// Whether small steps count.
    is_small: bool,
}

/// No limit is lower: a write takes that much longer for other reasons than a merge.
const LIMIT_MIN: f64 = 1.5;
/// And none at all where small steps count.
const LIMIT_SMALL_MIN: f64 = 1.13;
/// Nor need it be higher, however much the times spread.
const LIMIT_MAX: f64 = 3.0;
/// The same where it is known what merges take.
const LIMIT_KNOWN_MIN: f64 = 1.3;
const LIMIT_KNOWN_MAX: f64 = 15.0;
/// Where all merges are alike, none takes less than this share of the usual.
const MERGE_SHARE: f64 = 0.4;
/// The same where some merges may be much shorter than those that were seen.
const LIMIT_ANY_MAX: f64 = 4.0;
/// Out of order a write takes longer by itself on some cards.
const LIMIT_OUT_OF_ORDER: f64 = 2.2;
/// Exponential noise reaches so many times the distance from its least to its median once in a thousand times.
const SPREADS: f64 = 10.0;
/// The times alone never decide further than this: what they are like is not known that well.
const ODDS_MAX: f64 = 9.0;

/// By how much the same writes may change over a measurement, unless less is taken for a merge.
const CHANGED: f64 = 2.0;
/// By how much they may, and are the same.
const UNCHANGED: f64 = 1.25;

impl Slowness {
    /// From the times of writes that contain no merge; `None` without any.
    #[must_use]
    pub fn beyond(unmerged: &[Duration]) -> Option<Self> {
        let seconds: Vec<f64> = unmerged.iter().map(Duration::as_secs_f64).collect();
        let typical_seconds = median(&seconds).filter(|seconds| *seconds > 0.0)?;
        let least = seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let spread = typical_seconds / least.max(f64::MIN_POSITIVE) - 1.0;
        Some(Self {
            typical_seconds,
            limit: (1.0 + SPREADS * spread).clamp(LIMIT_MIN, LIMIT_MAX),
            spread,
            merges: None,
            is_small: false,
        })
    }

    /// The same where what has to be completed may be far less than a write, on a slow link: the limit follows the spread alone.
    #[must_use]
    pub fn for_small_steps(self) -> Self {
        let limit = (1.0 + SPREADS * self.spread).clamp(LIMIT_SMALL_MIN, self.limit);
        Self { limit, is_small: true, ..self }
    }

    /// Whether small steps count.
    #[must_use]
    pub const fn is_small(self) -> bool {
        self.is_small
    }

    /// The same where part of a step shows, if small steps count: a log may complete less than usual.
    #[must_use]
    pub fn for_parts_of_steps(self) -> Self {
        let limit = if self.is_small { f64::midpoint(1.0, self.limit) } else { self.limit };
        Self { limit, ..self }
    }

    /// The same for writes out of order.
    #[must_use]
    pub const fn out_of_order(self) -> Self {
        Self { limit: self.limit.max(LIMIT_OUT_OF_ORDER), ..self }
    }

    /// The same for writes that take this many times as long.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self { typical_seconds: self.typical_seconds * factor, ..self }
    }

    /// The same where only what takes so many times as long is slow.
    #[must_use]
    pub const fn beyond_stalls(self, limit: f64) -> Self {
        Self { limit: self.limit.max(limit), ..self }
    }

    /// The same with a limit no lower than that of the other, or for small steps if that is.
    #[must_use]
    pub fn as_firm_as(self, other: Self) -> Self {
        if other.is_small { self.for_small_steps() } else { self.beyond_stalls(other.limit) }
    }

    /// The same where merges are known to take this long beside the write: the limit lies in the middle, by ratio.
    #[must_use]
    pub fn for_merges(self, seconds: Option<f64>) -> Self {
        let Some(seconds) = seconds else { return self };
        let middle = (1.0 + seconds / self.typical_seconds).max(1.0).sqrt();
        let limit = middle.clamp(LIMIT_KNOWN_MIN, LIMIT_KNOWN_MAX);
        // Where a higher limit was found to tell more, stalls reach that far.
        Self { limit: if self.limit > LIMIT_MAX { limit.max(self.limit) } else { limit }, ..self }
    }

    /// The same where all merges take about this long beside the write: what takes less than some of that is none.
    #[must_use]
    pub fn for_equal_merges(self, seconds: f64) -> Self {
        let beside = (seconds / self.typical_seconds).max(0.0);
        let limit = (1.0 + MERGE_SHARE * beside).max(LIMIT_KNOWN_MIN);
        Self { limit, merges: Some(1.0 + beside), ..self }
    }

    /// How far, in the logarithm, from the limit on a time is firmly slow or quick.
    fn firm(self) -> f64 {
        let to_merges =
            self.merges.map_or(f64::INFINITY, |merges| (merges / self.limit).max(LIMIT_KNOWN_MIN));
        self.limit.min(to_merges).ln()
    }

    /// The same where merges are known to take this long as a rule, and some may be shorter.
    #[must_use]
    pub fn for_any_merges(self, seconds: Option<f64>) -> Self {
        let known = self.for_merges(seconds);
        Self { limit: known.limit.min(LIMIT_ANY_MAX), ..known }
    }

    /// The same out of order where merges are far shorter than in order.
    #[must_use]
    pub fn for_shorter_merges(self) -> Self {
        Self { limit: self.limit.min(LIMIT_OUT_OF_ORDER), merges: None, ..self }
    }

    /// What a write without a merge takes, seconds.
    #[must_use]
    pub const fn typical_seconds(self) -> f64 {
        self.typical_seconds
    }

    /// The probability that a write of this latency is a slow one, were both as frequent.
    #[must_use]
    pub fn probability(self, latency: Duration) -> f64 {
        let over = (latency.as_secs_f64() / self.limit_seconds()).max(1e-9).ln();
        let odds = (over / self.firm() * ODDS_MAX).clamp(-ODDS_MAX, ODDS_MAX);
        1.0 / (1.0 + (-odds).exp())
    }

    /// What the same writes take by now, seconds, if that has changed: all but their quickest quarter became slow, or most became
    /// quicker than any was at first. Stalls among few writes do neither.
    #[must_use]
    pub fn changed(self, now: &[Duration]) -> Option<f64> {
        let seconds: Vec<f64> = now.iter().map(Duration::as_secs_f64).collect();
        let (typical, quickest) = (median(&seconds)?, quickest_quarter(&seconds)?);
        let changed = self.limit.min(CHANGED);
        let is_slow =
            quickest > self.typical_seconds * changed && quickest * changed.sqrt() > self.limit_seconds();
        let is_quick =
            typical * CHANGED < self.typical_seconds && typical * CHANGED.sqrt() < self.least_seconds();
        (is_slow || is_quick).then_some(typical)
    }

    /// The least that a write without a merge took, seconds.
    fn least_seconds(self) -> f64 {
        self.typical_seconds / (1.0 + self.spread)
    }

    /// Whether every one of the same writes takes by now what they took.
    #[must_use]
    pub fn is_unchanged(self, now: &[Duration]) -> bool {
        let longest = self.typical_seconds * UNCHANGED;
        let shortest = self.least_seconds() / UNCHANGED;
        now.iter().all(|latency| (shortest..=longest).contains(&latency.as_secs_f64()))
    }

    /// From this time on a write is more likely slow than quick, seconds.
    #[must_use]
    pub fn limit_seconds(self) -> f64 {
        self.typical_seconds * self.limit
    }

    /// Whether a write of this latency is more likely slow than quick.
    #[must_use]
    pub fn is_slow(self, latency: Duration) -> bool {
        latency.as_secs_f64() > self.limit_seconds()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_follows_the_spread_and_what_merges_take() {
        let of = |tenths: &[u64]| {
            let times: Vec<Duration> =
                tenths.iter().map(|tenths| Duration::from_micros(tenths * 100)).collect();
            Slowness::beyond(&times).unwrap()
        };
        let quiet = of(&[40, 40, 40]);
        let probability =
            |slowness: Slowness, tenths: u64| slowness.probability(Duration::from_micros(tenths * 100));
        assert!(probability(quiet, 40) < 0.001 && probability(quiet, 80) > 0.97);
        assert!((0.1..0.9).contains(&probability(quiet, 60)));
        assert!(probability(of(&[36, 40, 60]), 60) < 0.1);
        assert!(probability(quiet.for_small_steps(), 48) > 0.95 && probability(quiet, 48) < 0.01);
        assert!(probability(of(&[39, 40, 41]).for_small_steps(), 46) < 0.1, "no more than it spreads");
        assert!(probability(quiet.for_merges(Some(0.4)), 120) < 0.1);
        let now = |tenths: u64, number| vec![Duration::from_micros(tenths * 100); number];
        let stalled = [now(40, 3), now(900, 4)].concat();
        assert_eq!(quiet.changed(&stalled), None);
        assert!(quiet.changed(&now(900, 7)).is_some() && quiet.changed(&now(15, 7)).is_some());
        assert_eq!(of(&[33, 33, 118, 225, 434]).changed(&now(37, 7)), None, "most stalled at first");
        let merges = quiet.for_equal_merges(1.5);
        assert!(probability(merges, 2_000) < 0.001 && probability(merges, 15_000) > 0.999);
    }

    #[test]
    fn writes_that_take_what_they_took_are_unchanged() {
        let milliseconds = |times: [u64; 4]| times.map(Duration::from_millis);
        let slowness = Slowness::beyond(&milliseconds([10, 10, 11, 10])).unwrap();
        assert!(slowness.is_unchanged(&milliseconds([10, 11, 12, 9])));
        assert!(!slowness.is_unchanged(&milliseconds([10, 10, 10, 14])), "one of them may be a stall");
        assert!(!slowness.is_unchanged(&milliseconds([10, 10, 10, 6])));
    }
}
