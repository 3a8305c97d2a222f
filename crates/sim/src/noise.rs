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
    chance: Chance,
    outliers: u64,
}

impl HoldUps {
    pub(crate) fn new(noise: &Noise, chance: Chance) -> Self {
        Self {
            jitter: noise.jitter,
            outlier_probability: noise.outliers_per_million / 1e6,
            outlier_ns: noise.outlier_us * 1e3,
            chance,
            outliers: 0,
        }
    }

    /// The time with noise on it: never shorter than ideal.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "noise is positive and needs no more than 53 bits"
    )]
    pub(crate) fn lengthen(&mut self, ideal_ns: u64) -> u64 {
        let mut noise_ns = self.jitter * self.chance.exponential() * ideal_ns as f64;
        if self.chance.happens(self.outlier_probability) {
            self.outliers += 1;
            noise_ns += self.outlier_ns * self.chance.exponential();
        }
        ideal_ns.saturating_add(noise_ns as u64)
    }

    /// Adds the requests that were held up to what else happened.
    pub(crate) const fn count(&self, statistics: Statistics) -> Statistics {
        Statistics { outliers: self.outliers, ..statistics }
    }
}
