//! Seeded random numbers: the same draws on every machine.

use std::sync::LazyLock;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A random generator. Each random quantity has a stream of its own, so that none disturbs another.
#[derive(Debug, Clone)]
pub(crate) struct StreamRng {
    random: Xoshiro256PlusPlus,
    ziggurat: &'static Ziggurat,
}

impl StreamRng {
    /// The generator of `stream` under `seed`.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut base = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mixed = base.next_u64() ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self { random: Xoshiro256PlusPlus::seed_from_u64(mixed), ziggurat: &ZIGGURAT }
    }

    /// Uniform in (0, 1].
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in a float")]
    fn unit(&mut self) -> f64 {
        ((self.random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Exponential with mean 1. 99 % of the draws cost one random number, one product and one comparison.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in a float")]
    pub(crate) fn exponential(&mut self) -> f64 {
        let ziggurat = self.ziggurat;
        loop {
            let bits = self.random.next_u64();
            let layer = usize::from(bits.to_le_bytes()[0]);
            let x = ((bits >> 11) as f64 / (1u64 << 53) as f64) * ziggurat.edges[layer];
            if x < ziggurat.edges[layer + 1] {
                return x;
            }
            if layer == 0 {
                return TAIL - self.unit().ln();
            }
            let (low, high) = (ziggurat.heights[layer], ziggurat.heights[layer + 1]);
            if low + (high - low) * self.unit() < (-x).exp() {
                return x;
            }
        }
    }

    /// Geometric: the number of trials up to and including the first success; `u64::MAX` for probability 0.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count; saturates")]
    pub(crate) fn trials_until(&mut self, probability: f64) -> u64 {
        let rate = -(-probability).ln_1p();
        if rate > 0.0 { 1u64.saturating_add((self.exponential() / rate) as u64) } else { u64::MAX }
    }

    /// Uniform in `0..count`; 0 if `count` is 0.
    #[expect(clippy::cast_possible_truncation, reason = "the high half of the product is below count")]
    pub(crate) fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.random.next_u64()) * count as u128) >> 64) as usize
    }
}

const LAYERS: usize = 256;

// Where the lowest layer's rectangle ends and the tail begins, and the area of each layer.
const TAIL: f64 = 7.697_117_470_131_05;
const AREA: f64 = 0.003_949_659_822_581_557;

/// The exponential density cut into layers of equal area, widest first (G. Marsaglia and W. W. Tsang, "The
/// ziggurat method for generating random variables", Journal of Statistical Software 5(8), 2000).
#[derive(Debug)]
struct Ziggurat {
    edges: [f64; LAYERS + 1],
    heights: [f64; LAYERS + 1],
}

static ZIGGURAT: LazyLock<Ziggurat> = LazyLock::new(|| {
    let mut edges = [0.0; LAYERS + 1];
    (edges[0], edges[1]) = (AREA / (-TAIL).exp(), TAIL);
    for layer in 2..LAYERS {
        let below: f64 = edges[layer - 1];
        edges[layer] = -(AREA / below + (-below).exp()).ln();
    }
    Ziggurat { edges, heights: edges.map(|x| (-x).exp()) }
});

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u32 = 1_000_000;

    #[test]
    fn exponential_draws_match_the_distribution_up_to_the_tail() {
        let mut rng = StreamRng::new(1, 1);
        let mut draws: Vec<f64> = (0..DRAWS).map(|_| rng.exponential()).collect();
        draws.sort_by(f64::total_cmp);
        // Kolmogorov's statistic exceeds 1.95 once in a thousand samples.
        let distance = (1..).zip(&draws).map(|(rank, x)| {
            let below = f64::from(rank) / f64::from(DRAWS);
            (below - (1.0 - (-x).exp())).abs()
        });
        let statistic = distance.fold(0.0, f64::max) * f64::from(DRAWS).sqrt();
        assert!(statistic < 1.95, "{statistic}");
        let tail = draws.iter().filter(|x| **x > TAIL).count();
        let expected = f64::from(DRAWS) * (-TAIL).exp();
        assert!((tail as f64 - expected).abs() < 4.0 * expected.sqrt(), "{tail} in the tail, not {expected}");
    }

    /// Between two edges of layers a draw passes a comparison with the density: neither half may be
    /// preferred.
    #[test]
    fn draws_between_two_edges_keep_the_density() {
        let mut rng = StreamRng::new(1, 1);
        let edges = &ZIGGURAT.edges;
        let is_in_lower_half = |x: f64| {
            let below = edges.partition_point(|edge| *edge > x);
            below > 0 && below < edges.len() && x < f64::midpoint(edges[below - 1], edges[below])
        };
        let lower: u32 = (0..DRAWS).map(|_| u32::from(is_in_lower_half(rng.exponential()))).sum();
        let density = |low: f64, high: f64| (-low).exp() - (-high).exp();
        let halves = edges.windows(2).map(|edge| density(edge[1], f64::midpoint(edge[0], edge[1])));
        let share: f64 = halves.sum();
        let (expected, deviation) =
            (f64::from(DRAWS) * share, (f64::from(DRAWS) * share * (1.0 - share)).sqrt());
        assert!((f64::from(lower) - expected).abs() < 4.0 * deviation, "{lower}, not {expected}");
    }

    #[test]
    fn ziggurat_closes_at_the_top() {
        let top = ZIGGURAT.edges[LAYERS - 1];
        assert!((top * (1.0 - (-top).exp()) - AREA).abs() < 1e-12);
        assert!(ZIGGURAT.edges.is_sorted_by(|wide, narrow| wide > narrow));
    }

    #[test]
    fn trials_until_success_average_one_over_the_probability() {
        let mut rng = StreamRng::new(1, 1);
        for probability in [0.5, 0.01] {
            let total: u64 = (0..100_000).map(|_| rng.trials_until(probability)).sum();
            let mean = total as f64 / 1e5;
            assert!((mean * probability - 1.0).abs() < 0.02, "{probability}: {mean}");
        }
        assert_eq!((rng.trials_until(0.0), rng.trials_until(1.0)), (u64::MAX, 1));
    }
}
