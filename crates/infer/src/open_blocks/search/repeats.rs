//! Whether the same blocks merge in every round, which random eviction does not do.

use std::collections::BTreeMap;

use flashscope_record::observation::Order;

use super::weighed::Search;
use crate::statistics::count;

/// The merges of blocks differ by this many standard deviations of the sum under random eviction. Guess:
/// beyond chance in any search.
const DEVIATIONS_MIN: f64 = 5.0;

impl Search<'_> {
    /// Whether some blocks merge in most rounds and others in few, though random eviction closes each equally
    /// often: then slots belong to a part of the blocks each, or blocks share an erase block.
    pub(super) fn merges_the_same_blocks(&self, order: Order) -> bool {
        let Some(fits) = self.fits(order) else { return false };
        let mut rounds: BTreeMap<(usize, u32), Vec<(u32, bool)>> = BTreeMap::new();
        for (part, sequence) in self.of(order).iter().enumerate() {
            let classifier = sequence.classifier.at_least_as_strict_as(self.classifier);
            for (open_units, unit, latency) in sequence.writes(order) {
                if open_units > fits {
                    rounds.entry((part, open_units)).or_default().push((unit, classifier.is_slow(latency)));
                }
            }
        }
        let (statistic, freedom) = rounds
            .values()
            .filter_map(|writes| chi_square(writes))
            .fold((0.0, 0.0), |sum, (statistic, freedom)| (sum.0 + statistic, sum.1 + freedom));
        freedom > 0.0 && statistic - freedom > DEVIATIONS_MIN * (2.0 * freedom).sqrt()
    }
}

/// Pearson's chi-square of merges by block and its degrees of freedom, if all blocks merge equally often (K.
/// Pearson, Philosophical Magazine 50, 1900). `None` if every write merges or none does.
fn chi_square(writes: &[(u32, bool)]) -> Option<(f64, f64)> {
    let mut blocks: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for (unit, is_merge) in writes {
        let (written, merged) = blocks.entry(*unit).or_default();
        *written += 1;
        *merged += usize::from(*is_merge);
    }
    let merged: usize = blocks.values().map(|(_, merged)| merged).sum();
    let share = count(merged) / count(writes.len());
    if merged == 0 || merged == writes.len() {
        return None;
    }
    let of_block = |(written, merged): &(usize, usize)| {
        let expected = count(*written) * share;
        (count(*merged) - expected).powi(2) / (expected * (1.0 - share))
    };
    Some((blocks.values().map(of_block).sum(), count(blocks.len() - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds into ten blocks, of which `merges` gives the merging ones by round and block.
    fn statistic(merges: impl Fn(u32, u32) -> bool) -> f64 {
        let writes: Vec<(u32, bool)> = (0..8)
            .flat_map(|round| (0..10).map(move |block| (round, block)))
            .map(|(round, block)| (block, merges(round, block)))
            .collect();
        let (statistic, freedom) = chi_square(&writes).unwrap();
        (statistic - freedom) / (2.0 * freedom).sqrt()
    }

    #[test]
    fn the_same_blocks_merge_if_slots_belong_to_a_part_of_the_blocks() {
        let of_part = statistic(|_, block| block < 4);
        assert!(of_part > DEVIATIONS_MIN, "{of_part}");
        let scattered = statistic(|round, block| (round * 7 + block * 3) % 10 < 4);
        assert!(scattered < 0.0, "{scattered}");
    }

    #[test]
    fn merges_of_every_write_show_no_difference_between_blocks() {
        assert_eq!(chi_square(&[(0, true), (1, true)]), None);
    }
}
