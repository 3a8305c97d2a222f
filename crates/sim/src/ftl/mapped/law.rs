//! How many valid units the blocks hold after endless uniformly random overwriting.
//!
//! Every unit is overwritten with the same probability, so a block with `i` valid units loses one at a rate proportional to
//! `i`. Blocks are filled and collected at the same rate, so as many blocks come down to any number of valid units as leave
//! it, and the share of blocks with `i` valid units is proportional to 1/i, from a full block down to those that are collected
//! (P. Desnoyers, SYSTOR 2012; B. Van Houdt, SIGMETRICS 2013). The share of valid units overall says where that is: a part `x`
//! of all blocks comes down to `last` valid units, and the rest is collected with one more.

/// The law for one number of units in a block and one mean.
#[derive(Debug, Clone, Copy)]
pub(super) struct Law {
    block_units: u32,
    /// Collected blocks hold this many, or one more.
    last: u32,
    /// The share of blocks that come down to `last`.
    x: f64,
}

impl Law {
    /// The law under which blocks hold `mean` valid units on average. Below what the law can reach, some blocks hold none.
    pub(super) fn with_mean(block_units: u32, mean: f64) -> Self {
        let (mut blocks, mut units) = (0.0, 0.0);
        for last in (0..block_units).rev() {
            let level = f64::from(last + 1);
            // With all of this level: blocks 1/level, one unit's worth of flow.
            if (units + 1.0) / (blocks + 1.0 / level) <= mean {
                let x = (mean * blocks - units) / (1.0 - mean / level);
                return Self { block_units, last, x: if x.is_finite() { x.clamp(0.0, 1.0) } else { 1.0 } };
            }
            blocks += 1.0 / level;
            units += 1.0;
        }
        Self { block_units, last: 0, x: 1.0 }
    }

    /// Valid units of each of `count` blocks, fullest first, that hold `total` in all.
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
        let partial = (self.last + 1, self.x / f64::from(self.last + 1));
        full.chain(std::iter::once(partial)).collect()
    }

    /// Rounding leaves the sum a little off: the difference is spread over the blocks.
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

    #[test]
    fn as_many_blocks_come_down_to_each_level_as_leave_it() {
        // Blocks of 4, of which levels 4, 3, 2 and a part of 1 weigh 1/4, 1/3, 1/2 and x: (3 + x) / (13/12 + x) = 2.5.
        let law = Law::with_mean(4, 2.5);
        let weights = law.weights();
        let mean = weights.iter().map(|(valid, weight)| f64::from(*valid) * weight).sum::<f64>()
            / weights.iter().map(|(_, weight)| weight).sum::<f64>();
        assert!((mean - 2.5).abs() < 1e-9, "{law:?}");
        assert!(law.last == 0 && (law.x - 0.19444).abs() < 1e-4, "{law:?}");
    }

    #[test]
    fn counts_hold_the_total_exactly() {
        for (block_units, count, total) in [(256, 1000, 230_000), (4, 11, 30), (1, 9, 5), (1536, 33, 40_001)]
        {
            let counts = Law::with_mean(block_units, total as f64 / count as f64).counts(count, total);
            assert_eq!(
                (counts.len(), counts.iter().map(|each| u64::from(*each)).sum::<u64>()),
                (count, total)
            );
            assert!(counts.iter().all(|each| *each <= block_units));
        }
    }

    #[test]
    fn a_law_for_large_blocks_meets_the_closed_form() {
        // U = (1 - u) / ln(1/u): at u = 0.5, 0.7213.
        let law = Law::with_mean(100_000, 72_134.75);
        assert!((f64::from(law.last) / 1e5 - 0.5).abs() < 1e-3, "{law:?}");
    }
}
