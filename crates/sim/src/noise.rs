//! What makes two equal requests differ: jitter on all, and now and then one that is held up.

use crate::chance::Chance;
use crate::profile::Noise;
use crate::statistics::Statistics;

/// What makes two equal requests differ.
#[derive(Debug, Clone)]
pub(crate) struct HoldUps {
    jitter: f64,
    outlier_probability: f64,
    outlier_ns: f64,
    until_outlier: u64,
    outliers: u64,
    chance: Chance,
}

impl HoldUps {
    pub(crate) fn new(noise: &Noise, mut chance: Chance) -> Self {
        let outlier_probability = noise.outliers_per_million / 1e6;
        Self {
            jitter: noise.jitter,
            outlier_probability,
            outlier_ns: noise.outlier_us * 1e3,
            until_outlier: chance.trials_until(outlier_probability),
            outliers: 0,
            chance,
        }
    }

    /// The time with noise on it: never shorter than ideal.
    #[expect(clippy::cast_precision_loss, reason = "noise needs no more than 53 bits")]
    pub(crate) fn lengthen(&mut self, ideal_ns: u64) -> u64 {
        let mut noise_ns = self.jitter * self.chance.exponential() * ideal_ns as f64;
        self.until_outlier -= 1;
        if self.until_outlier == 0 {
            noise_ns += self.hold_up_ns();
        }
        ideal_ns.saturating_add(whole(noise_ns))
    }

    #[cold]
    fn hold_up_ns(&mut self) -> f64 {
        self.outliers += 1;
        self.until_outlier = self.chance.trials_until(self.outlier_probability);
        self.outlier_ns * self.chance.exponential()
    }

    /// Adds the requests that were held up to what else happened.
    pub(crate) const fn count(&self, statistics: Statistics) -> Statistics {
        Statistics { outliers: self.outliers, ..statistics }
    }
}

/// Whole nanoseconds of a time that is not negative. (Through a signed number, which the processor converts to directly.)
#[expect(clippy::cast_possible_truncation, reason = "saturates at 292 years")]
const fn whole(nanoseconds: f64) -> u64 {
    (nanoseconds as i64).cast_unsigned()
}
