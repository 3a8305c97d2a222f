//! Classifies writes as slow or fast by their latency: slow ones contain a merge.

use std::time::Duration;

use crate::statistics::{lower_quartile, median};
use crate::thresholds::{CLEARLY_LONGER, OF_THE_SAME_KIND};

/// Separates writes with a merge from writes without, by the latencies of writes without one.
///
/// A merge copies up to a whole erase block, a write a few pages. So the probability is soft around twice the
/// typical time and firm elsewhere: neither the exact threshold nor the shape of the noise matters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlowClassifier {
    typical_seconds: f64,
    /// The threshold, in multiples of the typical time.
    threshold: f64,
    /// The distance of the median of writes without a merge from their least, as a share of that.
    spread: f64,
    /// The latency of writes with a merge in multiples of the typical time, if merges are all alike.
    merges: Option<f64>,
    /// Whether small steps count.
    is_small: bool,
}

/// The lowest threshold if small steps count. Guess.
const THRESHOLD_SMALL_MIN: f64 = 1.13;
/// The highest threshold, whatever the spread. Guess.
const THRESHOLD_MAX: f64 = 3.0;
/// The lowest threshold if the duration of merges is known. Guess.
const THRESHOLD_KNOWN_MIN: f64 = 1.3;
/// The highest one. Guess.
const THRESHOLD_KNOWN_MAX: f64 = 15.0;
/// The lowest threshold in random order, where writes alone take longer on some cards. Guess.
const THRESHOLD_RANDOM: f64 = 2.2;
/// Exponential noise exceeds this many times the distance from its least to its median with probability
/// 0.001.
const SPREADS: f64 = 10.0;
/// The largest log odds from a single latency: the model of latencies is no better. Guess.
const ODDS_MAX: f64 = 9.0;

/// The same writes changed if their time changed by this factor, or by that of the threshold if lower. Guess.
const CHANGED: f64 = 2.0;
/// The same writes are unchanged if each is within this factor. Guess.
const UNCHANGED: f64 = 1.25;

impl SlowClassifier {
    /// From the latencies of writes without a merge; `None` of none.
    #[must_use]
    pub fn from_baseline(baseline: &[Duration]) -> Option<Self> {
        let seconds: Vec<f64> = baseline.iter().map(Duration::as_secs_f64).collect();
        let typical_seconds = median(&seconds).filter(|seconds| *seconds > 0.0)?;
        let fastest_s = seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let spread = typical_seconds / fastest_s.max(f64::MIN_POSITIVE) - 1.0;
        Some(Self {
            typical_seconds,
            threshold: (1.0 + SPREADS * spread).clamp(CLEARLY_LONGER, THRESHOLD_MAX),
            spread,
            merges: None,
            is_small: false,
        })
    }

    /// The same if a step may be far less than a write, on a slow link: the threshold follows the spread
    /// alone.
    #[must_use]
    pub fn for_small_steps(self) -> Self {
        let threshold = (1.0 + SPREADS * self.spread).clamp(THRESHOLD_SMALL_MIN, self.threshold);
        Self { threshold, is_small: true, ..self }
    }

    /// Whether small steps count.
    #[must_use]
    pub const fn is_small(self) -> bool {
        self.is_small
    }

    /// The same for writes in random order.
    #[must_use]
    pub const fn for_random_order(self) -> Self {
        Self { threshold: self.threshold.max(THRESHOLD_RANDOM), ..self }
    }

    /// The same for writes of this many times the typical time.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self { typical_seconds: self.typical_seconds * factor, ..self }
    }

    /// The same with a threshold of at least this multiple.
    #[must_use]
    pub const fn with_threshold_min(self, threshold: f64) -> Self {
        Self { threshold: self.threshold.max(threshold), ..self }
    }

    /// The same with at least the threshold of another, or for small steps if that is.
    #[must_use]
    pub fn at_least_as_strict_as(self, other: Self) -> Self {
        if other.is_small { self.for_small_steps() } else { self.with_threshold_min(other.threshold) }
    }

    /// The same if merges are known to add this time, seconds: the threshold is the geometric mean.
    #[must_use]
    pub fn for_merges(self, seconds: Option<f64>) -> Self {
        let Some(seconds) = seconds else { return self };
        let middle = (1.0 + seconds / self.typical_seconds).max(1.0).sqrt();
        Self { threshold: middle.clamp(THRESHOLD_KNOWN_MIN, THRESHOLD_KNOWN_MAX), ..self }
    }

    /// The same if all merges add about this time, seconds: less than [`OF_THE_SAME_KIND`] of it is none.
    #[must_use]
    pub fn for_equal_merges(self, seconds: f64) -> Self {
        let beside = (seconds / self.typical_seconds).max(0.0);
        let threshold = (1.0 + OF_THE_SAME_KIND * beside).max(THRESHOLD_KNOWN_MIN);
        Self { threshold, merges: Some(1.0 + beside), ..self }
    }

    /// The distance from the threshold, as a logarithm, from which a latency is firmly slow or fast.
    fn firm(self) -> f64 {
        let to_merges =
            self.merges.map_or(f64::INFINITY, |merges| (merges / self.threshold).max(THRESHOLD_KNOWN_MIN));
        self.threshold.min(to_merges).ln()
    }

    /// The typical latency of a write without a merge, seconds.
    #[must_use]
    pub const fn typical_seconds(self) -> f64 {
        self.typical_seconds
    }

    /// The probability that a write of this latency is slow, with equal priors.
    #[must_use]
    pub fn probability(self, latency: Duration) -> f64 {
        let over = (latency.as_secs_f64() / self.threshold_seconds()).max(1e-9).ln();
        let odds = (over / self.firm() * ODDS_MAX).clamp(-ODDS_MAX, ODDS_MAX);
        1.0 / (1.0 + (-odds).exp())
    }

    /// The present median of the same writes, seconds, if it changed: all but their fastest quarter became
    /// slow, or most became faster than any was at first. A few stalls do neither.
    #[must_use]
    pub fn changed(self, now: &[Duration]) -> Option<f64> {
        let seconds: Vec<f64> = now.iter().map(Duration::as_secs_f64).collect();
        let (typical, fastest) = (median(&seconds)?, lower_quartile(&seconds)?);
        let changed = self.threshold.min(CHANGED);
        let is_slow =
            fastest > self.typical_seconds * changed && fastest * changed.sqrt() > self.threshold_seconds();
        let is_fast =
            typical * CHANGED < self.typical_seconds && typical * CHANGED.sqrt() < self.least_seconds();
        (is_slow || is_fast).then_some(typical)
    }

    /// The least latency of a write without a merge, seconds.
    fn least_seconds(self) -> f64 {
        self.typical_seconds / (1.0 + self.spread)
    }

    /// Whether every one of the same writes has its former latency.
    #[must_use]
    pub fn is_unchanged(self, now: &[Duration]) -> bool {
        let longest = self.typical_seconds * UNCHANGED;
        let shortest = self.least_seconds() / UNCHANGED;
        now.iter().all(|latency| (shortest..=longest).contains(&latency.as_secs_f64()))
    }

    /// The threshold, seconds.
    #[must_use]
    pub fn threshold_seconds(self) -> f64 {
        self.typical_seconds * self.threshold
    }

    /// Whether a write of this latency is more likely slow than fast.
    #[must_use]
    pub fn is_slow(self, latency: Duration) -> bool {
        latency.as_secs_f64() > self.threshold_seconds()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_follows_the_spread_and_the_duration_of_merges() {
        let of = |tenths: &[u64]| {
            let times: Vec<Duration> =
                tenths.iter().map(|tenths| Duration::from_micros(tenths * 100)).collect();
            SlowClassifier::from_baseline(&times).unwrap()
        };
        let quiet = of(&[40, 40, 40]);
        let probability = |classifier: SlowClassifier, tenths: u64| {
            classifier.probability(Duration::from_micros(tenths * 100))
        };
        assert!(probability(quiet, 40) < 0.001 && probability(quiet, 80) > 0.97);
        assert!((0.1..0.9).contains(&probability(quiet, 60)));
        assert!(probability(of(&[36, 40, 60]), 60) < 0.1);
        assert!(probability(quiet.for_small_steps(), 48) > 0.95 && probability(quiet, 48) < 0.01);
        assert!(probability(of(&[39, 40, 41]).for_small_steps(), 46) < 0.1, "no more than it spreads");
        assert!(probability(quiet.at_least_as_strict_as(quiet), 48) < 0.01);
        assert!(probability(quiet.at_least_as_strict_as(quiet.for_small_steps()), 48) > 0.95);
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
    fn writes_with_their_former_latency_are_unchanged() {
        let milliseconds = |times: [u64; 4]| times.map(Duration::from_millis);
        let classifier = SlowClassifier::from_baseline(&milliseconds([10, 10, 11, 10])).unwrap();
        assert!(classifier.is_unchanged(&milliseconds([10, 11, 12, 9])));
        assert!(!classifier.is_unchanged(&milliseconds([10, 10, 10, 14])), "one of them may be a stall");
        assert!(!classifier.is_unchanged(&milliseconds([10, 10, 10, 6])));
    }

    #[test]
    fn writes_changed_if_they_take_less_than_half_or_clearly_longer_than_at_first() {
        let times = |tenths: &[u64]| -> Vec<Duration> {
            tenths.iter().map(|tenths| Duration::from_micros(tenths * 100)).collect()
        };
        let changed = |first: &[u64], now: u64| {
            let classifier = SlowClassifier::from_baseline(&times(first)).unwrap();
            let median_s = classifier.changed(&times(&[now; 7]))?;
            assert!((median_s - Duration::from_micros(now * 100).as_secs_f64()).abs() < 1e-9, "{median_s}");
            Some(now)
        };
        let alike = |now| changed(&[40, 40, 40], now).is_some();
        assert_eq!([15, 25, 55, 65].map(alike), [true, false, false, true]);
        // At first, half of them took 4 ms at least, and the fastest 2 ms.
        let spread = |now| changed(&[20, 40, 60], now).is_some();
        assert_eq!([13, 17, 82, 90].map(spread), [true, false, false, true]);
    }
}
