//! The distribution of valid units over blocks in steady state, after endless uniformly random overwriting.
//!
//! Every unit is overwritten with the same probability, so a block with `i` valid units loses one at a rate
//! proportional to `i`. In steady state the flow of blocks into each level equals the flow out of it. So the
//! share of blocks with `i` valid units is proportional to 1/i, from a full block down to the level of
//! garbage collection (P. Desnoyers, SYSTOR 2012; B. Van Houdt, SIGMETRICS 2013). The overall share of valid
//! units determines that level: a share `last_share` of the blocks reaches `last` valid units, and the rest
//! is collected with one more.

/// The distribution for one block size and one mean.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValidDistribution {
    block_units: u32,
    /// The valid units of a collected block: this number, or one more.
    last: u32,
    /// The share of blocks that reach `last`.
    last_share: f64,
}

impl ValidDistribution {
    /// The distribution with a mean of `mean` valid units. For means below its reach, some blocks hold none.
    pub(super) fn with_mean(block_units: u32, mean: f64) -> Self {
        let (mut blocks, mut units) = (0.0, 0.0);
        for last in (0..block_units).rev() {
            let level = f64::from(last + 1);
            // This level adds 1/level blocks, and so one unit.
            if (units + 1.0) / (blocks + 1.0 / level) <= mean {
                let x = (mean * blocks - units) / (1.0 - mean / level);
                let last_share = if x.is_finite() { x.clamp(0.0, 1.0) } else { 1.0 };
                return Self { block_units, last, last_share };
            }
            blocks += 1.0 / level;
            units += 1.0;
        }
        Self { block_units, last: 0, last_share: 1.0 }
    }

    /// The valid units of each of `count` blocks, descending, with the sum `total`.
    pub(super) fn counts(self, count: usize, total: u64) -> Vec<u32> {
        let weights = self.weights();
        let all: f64 = weights.iter().map(|(_, weight)| weight).sum();
        let units: f64 = weights.iter().map(|(valid, weight)| f64::from(*valid) * weight).sum();
        let live = rounded(all / units, total).min(count);
        let mut counts = Vec::with_capacity(count);
        let mut share = 0.0;
        for (valid, weight) in weights {
            share += weight / all;
            counts.resize(counts.len().max(rounded(share, live as u64)), valid);
        }
        self.correct(&mut counts, total);
        counts.resize(count, 0);
        counts
    }

    fn weights(self) -> Vec<(u32, f64)> {
        let full = (self.last + 2..=self.block_units).rev().map(|valid| (valid, 1.0 / f64::from(valid)));
        let partial = (self.last + 1, self.last_share / f64::from(self.last + 1));
        full.chain(std::iter::once(partial)).collect()
    }

    /// Corrects the rounding error of the sum, spread over the blocks.
    fn correct(self, counts: &mut [u32], total: u64) {
        let mut sum: u64 = counts.iter().copied().map(u64::from).sum();
        while sum != total {
            for count in counts.iter_mut().rev() {
                if sum < total && *count < self.block_units {
                    *count += 1;
                    sum += 1;
                } else if sum > total && *count > 0 {
                    *count -= 1;
                    sum -= 1;
                }
            }
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of a number of blocks, both far below 2^53"
)]
fn rounded(share: f64, of: u64) -> usize {
    (share * of as f64).round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of 4 have the weights 1/4, 1/3, 1/2 and 1 on the levels 4, 3, 2 and 1. On the lowest level a
    /// share x counts: (3 + x) / (13/12 + x) = 2.5, or (2 + x) / (7/12 + x/2) = 3 down to level 2.
    #[test]
    fn weights_of_small_blocks_match_the_mean() {
        for (expected, last, last_share) in [(2.5, 0, 7.0 / 36.0), (3.0, 1, 0.5)] {
            let distribution = ValidDistribution::with_mean(4, expected);
            let weights = distribution.weights();
            let mean = weights.iter().map(|(valid, weight)| f64::from(*valid) * weight).sum::<f64>()
                / weights.iter().map(|(_, weight)| weight).sum::<f64>();
            assert!((mean - expected).abs() < 1e-9, "{distribution:?}: {mean}");
            assert_eq!(distribution.last, last, "{distribution:?}");
            assert!((distribution.last_share - last_share).abs() < 1e-9, "{distribution:?}");
        }
    }

    #[test]
    fn counts_sum_to_the_total() {
        for (block_units, count, total) in [(256, 1000, 230_000), (4, 11, 30), (1, 9, 5), (1536, 33, 40_001)]
        {
            let counts =
                ValidDistribution::with_mean(block_units, total as f64 / count as f64).counts(count, total);
            assert_eq!(
                (counts.len(), counts.iter().map(|each| u64::from(*each)).sum::<u64>()),
                (count, total)
            );
            assert!(counts.iter().all(|each| *each <= block_units));
        }
    }

    #[test]
    fn large_blocks_match_the_closed_form() {
        // U = (1 - u) / ln(1/u): at u = 0.5, 0.7213.
        let distribution = ValidDistribution::with_mean(100_000, 72_134.75);
        assert!((f64::from(distribution.last) / 1e5 - 0.5).abs() < 1e-3, "{distribution:?}");
    }
}
