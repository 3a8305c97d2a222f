//! Chance from a seed: the same draws on every machine.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A generator of its own for each thing that varies, so that one does not disturb another.
#[derive(Debug, Clone)]
pub(crate) struct Chance(Xoshiro256PlusPlus);

impl Chance {
    /// The generator of `stream` under `seed`.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut base = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mixed = base.next_u64() ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }

    /// Uniform in (0, 1].
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in a float")]
    fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Exponential with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -self.unit().ln()
    }

    /// True with this probability.
    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.unit() <= probability
    }

    /// Uniform in `0..count`; 0 if `count` is 0.
    #[expect(clippy::cast_possible_truncation, reason = "the high half of the product is below count")]
    pub(crate) fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.0.next_u64()) * count as u128) >> 64) as usize
    }
}
