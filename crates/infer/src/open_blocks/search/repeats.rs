//! Whether the same blocks merge in every round, or all in a fixed cycle, which random eviction does not do.

use std::collections::BTreeMap;

use flashscope_record::observation::Order;

use statrs::function::beta::{beta_reg, ln_beta};

use super::weighed::Search;
use crate::open_blocks::evidence::WriteSequence;
use crate::statistics::count;
use crate::thresholds::{CLEAR, THE_RULE};

/// The prior probability that a controller evicts in a fixed cycle which is not that of LRU, such as FIFO.
/// Guess: rarer than random eviction. With it, 1.5 % of simulated searches of two blocks under random
/// eviction lose a fifth of their confidence, and at most 0.2 % of those of 3 to 32 blocks (1,000 searches
/// each).
const CYCLE: f64 = 0.01;
/// The highest probability that two numbers of merges are equal under random eviction: short searches know
/// the mean badly. Guess.
const EQUAL_MAX: f64 = 0.9;
/// The least merges from one of a block to its next, unless there are stalls: one evicts it, the next may be
/// its own.
const MERGES_BETWEEN_MIN: usize = 2;

impl Search<'_> {
    /// Whether some blocks merge in most rounds and others in few, though random eviction closes each equally
    /// often: then slots belong to a part of the blocks each, or blocks share an erase block.
    pub(super) fn merges_the_same_blocks(&self, order: Order) -> bool {
        let mut rounds: BTreeMap<(usize, u32), Vec<(u32, bool)>> = BTreeMap::new();
        for (part, sequence) in self.of(order).iter().enumerate() {
            for (open_units, unit, is_merge) in self.beyond(order, sequence) {
                rounds.entry((part, open_units)).or_default().push((unit, is_merge));
            }
        }
        let (statistic, freedom) = rounds
            .values()
            .filter_map(|writes| chi_square(writes))
            .fold((0.0, 0.0), |sum, (statistic, freedom)| (sum.0 + statistic, sum.1 + freedom));
        freedom > 0.0 && statistic - freedom > CLEAR * (2.0 * freedom).sqrt()
    }

    /// The probability that blocks are evicted in a fixed cycle instead of at random, by sequential writes.
    pub(super) fn cycle_probability(&self) -> f64 {
        let of_part = |sequence: &WriteSequence<'_>| {
            let merging = self.beyond(Order::Linear, sequence).filter(|(.., is_merge)| *is_merge);
            cycle_bayes_factor(&merging.map(|(_, unit, _)| unit).collect::<Vec<_>>())
        };
        let odds = self.sequences.iter().map(of_part).product::<f64>() * CYCLE / (1.0 - CYCLE);
        if odds.is_finite() { odds / (1.0 + odds) } else { 1.0 }
    }

    /// The writes of this part into more units than fit: their number, the unit, and whether it merged.
    fn beyond<'b>(
        &'b self,
        order: Order,
        sequence: &WriteSequence<'b>,
    ) -> impl Iterator<Item = (u32, u32, bool)> + 'b {
        let classifier = sequence.classifier.at_least_as_strict_as(self.classifier);
        let fits = self.fits(order).unwrap_or(u32::MAX);
        let beyond = sequence.writes(order).filter(move |(open_units, ..)| *open_units > fits);
        beyond.map(move |(open_units, unit, latency)| (open_units, unit, classifier.is_slow(latency)))
    }
}

/// The Bayes factor of a fixed cycle compared with random eviction, from the units in the sequence of their
/// merges. In a cycle the merges from one of a unit to its next are as many as the time before, by a share of
/// at least one half of which nothing else is known. Under random eviction they follow a geometric
/// distribution.
fn cycle_bayes_factor(merging: &[u32]) -> f64 {
    let mut last = BTreeMap::new();
    let between: Vec<usize> = merging
        .iter()
        .enumerate()
        .filter_map(|(index, unit)| last.insert(*unit, index).map(|before| index - before))
        .collect();
    let Some(least) = between.iter().min() else { return 1.0 };
    let equal = count(between.windows(2).filter(|pair| pair[0] == pair[1]).count());
    let other = count(between.len() - 1) - equal;
    let mean = count(between.iter().sum()) / count(between.len());
    // Two of a geometric distribution are equal with this probability.
    let more = (mean - count((*least).min(MERGES_BETWEEN_MIN))).max(0.0);
    let equal_at_random = (1.0 / (2.0 * more + 1.0)).min(EQUAL_MAX);
    let random = other * (1.0 - equal_at_random).ln() + equal * equal_at_random.ln();
    let mostly = 1.0 - beta_reg(equal + 1.0, other + 1.0, THE_RULE);
    let cycle = ln_beta(equal + 1.0, other + 1.0) + (mostly / (1.0 - THE_RULE)).ln();
    (cycle - random).exp()
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
    use std::time::Duration;

    use flashscope_device::Bytes;
    use flashscope_record::observation::{OpenUnitsCell, OpenUnitsData};

    use super::*;
    use crate::geometry::first_reads::tests::scattered;

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
        assert!(of_part > 5.0, "{of_part}");
        let scattered = statistic(|round, block| (round * 7 + block * 3) % 10 < 4);
        assert!(scattered < 0.0, "{scattered}");
    }

    /// Merges of nine units, of which eight fit: the unit that each merge evicts is the next to merge.
    fn merging(evicted: impl Fn(usize) -> usize) -> Vec<u32> {
        let mut open: Vec<u32> = (0..8).collect();
        let (mut closed, mut units) = (8, Vec::new());
        for merge in 0..80 {
            units.push(closed);
            let index = evicted(merge);
            open.push(closed);
            closed = open.remove(index);
        }
        units
    }

    #[test]
    fn first_in_first_out_is_a_cycle_and_random_eviction_is_none() {
        let fifo = cycle_bayes_factor(&merging(|_| 0));
        assert!(fifo > 1e6, "{fifo}");
        let random = cycle_bayes_factor(&merging(|merge| (merge * merge * 7 + merge / 3) % 8));
        assert!(random < 1.0, "{random}");
        assert!((cycle_bayes_factor(&[]) - 1.0).abs() < 1e-9, "nothing is known");
        let few_equal = cycle_bayes_factor(&merging(|merge| if merge % 4 == 0 { 0 } else { merge * 5 % 8 }));
        assert!(few_equal < 10.0, "{few_equal}");
    }

    #[test]
    fn few_merges_hardly_tell_a_cycle_from_random_eviction() {
        let is = |merging: &[u32], factor: f64| {
            let seen = cycle_bayes_factor(merging);
            assert!((seen - factor).abs() < 1e-6, "{merging:?}: {seen} instead of {factor}");
        };
        // With one distance there is nothing to compare it with.
        is(&[0, 1, 0], 1.0);
        // Two pairs of equal distances: 0.9 each at random, and seven twelfths for shares above one half.
        is(&[0, 1, 0, 1, 0], 7.0 / 12.0 / 0.81);
    }

    /// Round-robin writes into five blocks, of which four fit and were opened out of their sequence.
    /// `evicted` gives the slot that each merge frees, by the open blocks; the block opened first has slot 0.
    fn search_with(evicted: impl Fn(u32, &[u32]) -> usize) -> OpenUnitsData {
        let (fast, slow) = (Duration::from_millis(8), Duration::from_millis(240));
        let mut data = OpenUnitsData { erase_block: Bytes::mib(32), ..OpenUnitsData::default() };
        let mut write = |number, unit, latency| {
            OpenUnitsCell::keep(&mut data.cells, (Order::Linear, number, Bytes::kib(32)), unit, latency);
        };
        (0..12).for_each(|_| write(1, 0, fast));
        let (mut open, mut merges) = (vec![0, 2, 1, 3], 0);
        (0..24).for_each(|index| write(4, [0, 2, 1, 3][index % 4], fast));
        for unit in (0..60).flat_map(|_| 0..5) {
            let is_open = open.contains(&unit);
            write(5, unit, if is_open { fast } else { slow });
            if !is_open {
                let slot = evicted(merges, &open);
                open.remove(slot);
                open.push(unit);
                merges += 1;
            }
        }
        data
    }

    /// The probability that the slow writes of this search, of which four blocks fit, are no merges.
    fn error(data: &OpenUnitsData) -> f64 {
        let Ok(search) = Search::new(data) else { panic!("nothing is known") };
        assert_eq!(search.fits(Order::Linear), Some(4));
        search.merge_model_error(Order::Linear)
    }

    #[test]
    fn blocks_that_are_evicted_in_a_cycle_are_not_evicted_at_random() {
        let first_in_first_out = error(&search_with(|_, _| 0));
        assert!(first_in_first_out > 0.9, "{first_in_first_out}");
        let random = error(&search_with(|merge, _| scattered(merge) as usize % 4));
        assert!(random < 0.1, "{random}");
    }

    /// Every second merge closes the first block or the last one, so that these merge twice as often.
    #[test]
    fn blocks_that_are_evicted_more_often_than_others_are_not_evicted_at_random() {
        let one_of_a_pair = |merge: u32, open: &[u32]| {
            if merge.is_multiple_of(2) {
                return scattered(merge) as usize % 4;
            }
            open.iter().position(|unit| unit.is_multiple_of(4)).unwrap()
        };
        let error = error(&search_with(one_of_a_pair));
        assert!((error - 0.5).abs() < 1e-6, "{error}");
    }

    #[test]
    fn merges_of_every_write_show_no_difference_between_blocks() {
        assert_eq!(chi_square(&[(0, true), (1, true)]), None);
    }
}
