//! Noise on request times: jitter on every request, and rare outliers.

use crate::profile::Noise;
use crate::rng::StreamRng;
use crate::statistics::Statistics;

/// Noise on request times, and the count of outliers.
#[derive(Debug, Clone)]
pub(crate) struct RequestNoise {
    jitter: f64,
    outlier_probability: f64,
    outlier_ns: f64,
    requests_to_outlier: u64,
    outliers: u64,
    rng: StreamRng,
}

impl RequestNoise {
    pub(crate) fn new(noise: &Noise, mut rng: StreamRng) -> Self {
        let outlier_probability = noise.outliers_per_million / 1e6;
        Self {
            jitter: noise.jitter,
            outlier_probability,
            outlier_ns: noise.outlier_us * 1e3,
            requests_to_outlier: rng.trials_until(outlier_probability),
            outliers: 0,
            rng,
        }
    }

    /// The time with noise; at least the ideal time.
    #[expect(clippy::cast_precision_loss, reason = "noise needs no more than 53 bits")]
    pub(crate) fn add_noise(&mut self, ideal_ns: u64) -> u64 {
        let mut noise_ns = self.jitter * self.rng.exponential() * ideal_ns as f64;
        self.requests_to_outlier -= 1;
        if self.requests_to_outlier == 0 {
            noise_ns += self.draw_outlier_ns();
        }
        ideal_ns.saturating_add(whole(noise_ns))
    }

    #[cold]
    fn draw_outlier_ns(&mut self) -> f64 {
        self.outliers += 1;
        self.requests_to_outlier = self.rng.trials_until(self.outlier_probability);
        self.outlier_ns * self.rng.exponential()
    }

    /// Adds the count of outliers.
    pub(crate) const fn add_counters(&self, statistics: Statistics) -> Statistics {
        Statistics { outliers: self.outliers, ..statistics }
    }
}

/// Whole nanoseconds of a non-negative time. (A signed conversion is one instruction.)
#[expect(clippy::cast_possible_truncation, reason = "saturates at 292 years")]
const fn whole(nanoseconds: f64) -> u64 {
    (nanoseconds as i64).cast_unsigned()
}
