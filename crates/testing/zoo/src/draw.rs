//! Random draws from a seed: the same specimen on every machine.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A seeded random generator.
#[derive(Debug, Clone)]
pub(crate) struct Draw(Xoshiro256PlusPlus);

impl Draw {
    /// The generator of the specimen `index` under `seed`.
    pub(crate) fn new(seed: u64, index: u64) -> Self {
        let mut base = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mixed = base.next_u64() ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }

    /// A seed for another generator.
    pub(crate) fn seed(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in [0, 1).
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in a float")]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in [low, high).
    pub(crate) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Log-uniform in [low, high): every doubling is equally likely.
    pub(crate) fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        (self.uniform(low.ln(), high.ln())).exp()
    }

    /// A uniform integer from `low` to `high`, both included.
    pub(crate) fn uniform_integer(&mut self, low: u64, high: u64) -> u64 {
        let count = u128::from(high - low) + 1;
        low + ((u128::from(self.0.next_u64()) * count) >> 64) as u64
    }

    /// A log-uniform value in [low, high), rounded down.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounds are positive counts")]
    pub(crate) fn log_uniform_integer(&mut self, low: f64, high: f64) -> u64 {
        self.log_uniform(low, high) as u64
    }

    /// True with this probability.
    pub(crate) fn bernoulli(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// One of the choices, by weight. The weights need not sum to 1.
    pub(crate) fn weighted<T: Copy>(&mut self, choices: &[(f64, T)]) -> T {
        let total: f64 = choices.iter().map(|(weight, _)| weight).sum();
        let mut left = self.unit() * total;
        for (weight, choice) in choices {
            if left < *weight {
                return *choice;
            }
            left -= weight;
        }
        choices[choices.len() - 1].1
    }

    /// Exponential with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// Normal with mean 0 and standard deviation 1 (G. Box and M. Muller, Annals of Mathematical Statistics
    /// 29, 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        (2.0 * self.exponential()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_stay_in_bounds_and_reach_both_ends() {
        let mut draw = Draw::new(1, 0);
        let integers: Vec<u64> = (0..200).map(|_| draw.uniform_integer(3, 5)).collect();
        assert_eq!((integers.iter().min(), integers.iter().max()), (Some(&3), Some(&5)));
        let logs: Vec<f64> = (0..200).map(|_| draw.log_uniform(1.0, 100.0)).collect();
        assert!(logs.iter().all(|value| (1.0..=100.0).contains(value)));
        let below_ten = logs.iter().filter(|value| **value < 10.0).count();
        assert!((70..130).contains(&below_ten), "{below_ten} of 200 below the geometric middle");
    }

    #[test]
    fn weighted_choices_follow_their_weights() {
        let mut draw = Draw::new(1, 1);
        let heavy = (0..400).filter(|_| draw.weighted(&[(3.0, true), (1.0, false)])).count();
        assert!((260..340).contains(&heavy), "{heavy}");
        assert!((0..50).all(|_| draw.weighted(&[(0.0, false), (1.0, true)])));
    }
}
