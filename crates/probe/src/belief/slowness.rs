//! How much a write's latency speaks for a merge in it.

use std::time::Duration;

use crate::inference::statistics::median;

/// Tells writes with a merge from writes without, by what writes without one take.
///
/// A merge copies up to a whole erase block, a write a few pages. So the judgement is soft around twice the typical time
/// and firm elsewhere: neither the exact limit nor the shape of the noise matters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slowness {
    typical_seconds: f64,
}

/// From this multiple of the typical time on a write is more likely slow than quick.
const LIMIT: f64 = 2.2;
/// Around the limit the odds change by e for each such change of the time's logarithm.
const SOFTNESS: f64 = 0.08;
/// The times alone never decide further than this: what they are like is not known that well.
const ODDS_MAX: f64 = 9.0;

impl Slowness {
    /// From the times of writes that contain no merge; `None` without any.
    #[must_use]
    pub fn beyond(unmerged: &[Duration]) -> Option<Self> {
        let seconds: Vec<f64> = unmerged.iter().map(Duration::as_secs_f64).collect();
        let typical_seconds = median(&seconds).filter(|seconds| *seconds > 0.0)?;
        Some(Self { typical_seconds })
    }

    /// The same for writes that take this many times as long.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self { typical_seconds: self.typical_seconds * factor }
    }

    /// What a write without a merge takes, seconds.
    #[must_use]
    pub const fn typical_seconds(self) -> f64 {
        self.typical_seconds
    }

    /// The probability that a write of this latency is a slow one, were both as frequent.
    #[must_use]
    pub fn probability(self, latency: Duration) -> f64 {
        let over = (latency.as_secs_f64() / (self.typical_seconds * LIMIT)).max(1e-9).ln();
        let odds = (over / SOFTNESS).clamp(-ODDS_MAX, ODDS_MAX);
        1.0 / (1.0 + (-odds).exp())
    }

    /// Whether a write of this latency is more likely slow than quick.
    #[must_use]
    pub fn is_slow(self, latency: Duration) -> bool {
        latency.as_secs_f64() > self.typical_seconds * LIMIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_the_time_is_open_and_three_times_is_slow() {
        let slowness = Slowness::beyond(&[4, 4, 5].map(Duration::from_millis)).unwrap();
        let probability = |tenths: u64| slowness.probability(Duration::from_micros(tenths * 100));
        assert!(probability(40) < 0.001);
        assert!((0.1..0.9).contains(&probability(88)));
        assert!(probability(120) > 0.97);
    }
}
