//! The posterior probability of every erase block, from pairs of adjacent writes.
//!
//! A controller with all slots taken merges an open erase block before it opens another one. Two adjacent
//! writes open one only if an erase block ends between them: then they take a merge longer than elsewhere.

use std::collections::BTreeSet;
use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::observation::{BlockEndsData, Crossing, Opening};

use crate::geometry::boundary::limits::{ERASE_BLOCK_MAX, ERASE_BLOCK_MIN};
use crate::sizes::{FACTORS, OF_THREE, plausible, sizes};
use crate::slow_classifier::SlowClassifier;
use crate::statistics::{count, entropy, lower_quartile, median};
use crate::thresholds::{BY_STALLS_MAX, DECIDED, REPEATED, UNUSUAL};

/// The prior probability that no size explains where writes merge. Guess.
const NONE: f64 = 0.15;
/// The weight of the posterior of reads; the rest is spread over all sizes. Guess.
const READS_TRUSTED: f64 = 0.8;
/// Probabilities of a stall in two writes, from a quiet device to a busy one. Guess.
const STALLS: [f64; 5] = [0.002, 0.02, 0.08, 0.25, 0.45];
/// Probabilities that a merge does not show. Guess.
const HIDDEN: [f64; 3] = [0.005, 0.05, 0.2];
/// The prior weight of an erase block that holds everything written: opening blocks would merge nothing.
/// Guess.
const NOT_OF_DEVICE: f64 = 0.001;
/// The fewest pages of an erase block. Guess.
const PAGES_MIN: u64 = 8;
/// All slots are taken once this number of openings in a row merged, or more if other writes are slow.
pub const TAKEN: usize = 4;
/// The lowest threshold for slow writes, in multiples of a write, ...
const THRESHOLD_MIN: f64 = 2.0;
/// ... the factor from one threshold to the next, ...
const THRESHOLD_STEP: f64 = 1.5;
/// ... and the largest share of writes without a merge above it. Guess.
const ABOVE_THRESHOLD_MAX: f64 = 0.06;
/// A controller may keep most of its erase blocks open if there are at most this many. Guess.
const FEW: u64 = 32;

/// Where the second of two adjacent writes costs a merge.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rule {
    /// Where an erase block of this size ends.
    Blocks(Bytes),
    /// Everywhere.
    Always,
    /// Nowhere: earlier slow writes had another cause.
    Never,
}

impl Rule {
    const fn block(self) -> Option<Bytes> {
        match self {
            Self::Blocks(block) => Some(block),
            Self::Always | Self::Never => None,
        }
    }

    /// The probability of a merge in writes of this size that meet at this offset. It is 0.5 if the second
    /// ends with an erase block, since some controllers merge such a block at once, and if the erase block
    /// may still be open.
    fn merges(self, offset: Bytes, request: Bytes, written: &Written) -> f64 {
        let Self::Blocks(block) = self else { return if self == Self::Always { 1.0 } else { 0.0 } };
        match opened(offset, request, block) {
            Some(start) if written.may_be_open(start, block) => 0.5,
            Some(_) => 1.0,
            None if (offset + request).is_multiple_of(block) => 0.5,
            None => 0.0,
        }
    }
}

/// The start of the erase block that the second of two writes opens which meet at `offset`; `None` if none
/// ends between them.
fn opened(offset: Bytes, request: Bytes, block: Bytes) -> Option<Bytes> {
    let start = (offset + request).saturating_sub(Bytes::new(1)).round_down(block);
    (start + request >= offset).then_some(start)
}

/// Offsets that were written before.
#[derive(Debug, Clone)]
struct Written(BTreeSet<Bytes>);

impl Written {
    /// Whether the erase block that starts here was written and may still be open: there are few more erase
    /// blocks than slots.
    fn may_be_open(&self, start: Bytes, block: Bytes) -> bool {
        self.0.last().is_some_and(|last| *last / block < FEW)
            && self.0.range(start..start + block).next().is_some()
    }
}

/// One rule, with the logarithm of its weight for each share of stalls and of hidden merges.
#[derive(Debug, Clone)]
struct Hypothesis {
    rule: Rule,
    weights: [[f64; HIDDEN.len()]; STALLS.len()],
}

/// The posterior probability of every erase block.
#[derive(Debug, Clone)]
pub struct BlockPosterior {
    hypotheses: Vec<Hypothesis>,
    /// The size of the writes.
    request: Bytes,
    /// Where two writes met, and whether they merged.
    seen: Vec<(Bytes, bool)>,
    written: Written,
}

/// The prior of every size, in sum 1: on a device with this page, written up to `end`, after reads with this
/// posterior.
fn sizes_by_plausibility(page: Option<Bytes>, end: Bytes, reads: &[(Bytes, f64)]) -> Vec<(Bytes, f64)> {
    let fits = |block: Bytes| match page {
        _ if block > end => NOT_OF_DEVICE,
        Some(page) if !block.is_multiple_of(page) || block < page * PAGES_MIN => UNUSUAL,
        _ => 1.0,
    };
    let blocks: Vec<(Bytes, f64)> = sizes(FACTORS, ERASE_BLOCK_MIN, ERASE_BLOCK_MAX)
        .map(|block| (block, plausible(block, OF_THREE, UNUSUAL) * fits(block)))
        .collect();
    let total: f64 = blocks.iter().map(|(_, weight)| weight).sum();
    let of_reads = |block: Bytes| -> f64 {
        reads.iter().filter(|(size, _)| *size == block).map(|(_, probability)| probability).sum()
    };
    let by_reads = READS_TRUSTED * reads.iter().map(|(_, probability)| probability).sum::<f64>();
    blocks
        .into_iter()
        .map(|(block, weight)| (block, weight / total * (1.0 - by_reads) + READS_TRUSTED * of_reads(block)))
        .collect()
}

impl BlockPosterior {
    /// The prior from the page, if it is known, and from reads.
    fn new(data: &BlockEndsData, reads: &[(Bytes, f64)]) -> Self {
        let weigh = |rule: Rule, weight: f64| Hypothesis {
            rule,
            weights: [[weight.ln(); HIDDEN.len()]; STALLS.len()],
        };
        let written = data.openings.iter().map(|opening| opening.offset);
        let end = written.clone().chain(data.crossings.iter().map(|crossing| crossing.offset)).max();
        let blocks = sizes_by_plausibility(data.page, end.unwrap_or_default(), reads).into_iter();
        let hypotheses = blocks.map(|(block, weight)| weigh(Rule::Blocks(block), weight * (1.0 - NONE)));
        let without = [Rule::Always, Rule::Never].map(|rule| weigh(rule, NONE / 2.0));
        Self {
            hypotheses: hypotheses.chain(without).collect(),
            request: data.request,
            seen: Vec::new(),
            written: Written(written.collect()),
        }
    }

    /// The posterior after the stored writes; `None` if the slots were never all taken.
    #[must_use]
    pub fn of(data: &BlockEndsData, reads: &[(Bytes, f64)]) -> Option<Self> {
        let classifier = classifier(&data.openings)?;
        (is_full(&data.openings, classifier) || some_merge(&data.openings, classifier)).then_some(())?;
        let classifier =
            with_lowest_threshold(&data.openings, classifier, merge_seconds(&data.openings, classifier)?);
        let mut posterior = Self::new(data, reads);
        data.crossings.iter().for_each(|crossing| posterior.take(crossing, classifier));
        Some(posterior)
    }

    /// Takes two adjacent writes into account.
    fn take(&mut self, crossing: &Crossing, classifier: SlowClassifier) {
        let fast = |latency| 1.0 - classifier.probability(latency);
        let slow = 1.0 - fast(crossing.before) * fast(crossing.after);
        self.seen.push((crossing.offset, slow > 0.5));
        for hypothesis in &mut self.hypotheses {
            let merges = hypothesis.rule.merges(crossing.offset, self.request, &self.written);
            for (weights, stalls) in hypothesis.weights.iter_mut().zip(STALLS) {
                for (weight, hidden) in weights.iter_mut().zip(HIDDEN) {
                    let likelihood = merges * (1.0 - hidden) + (1.0 - merges) * stalls;
                    *weight += (likelihood * slow + (1.0 - likelihood) * (1.0 - slow)).ln();
                }
            }
        }
        self.written.0.extend([crossing.offset.saturating_sub(self.request), crossing.offset]);
    }

    /// The expected information of two writes that meet at this offset, nats, if the rules have these
    /// probabilities: the entropy of the outcome, less that under each rule.
    #[must_use]
    pub fn information_at(&self, offset: Bytes, blocks: &[(Option<Bytes>, f64)]) -> f64 {
        let (mut merges, mut left_open) = (0.0, 0.0);
        for (each, (_, probability)) in self.hypotheses.iter().zip(blocks) {
            let merge = each.rule.merges(offset, self.request, &self.written);
            merges += merge * probability;
            left_open += entropy(merge) * probability;
        }
        entropy(merges) - left_open
    }

    /// Each size, and `None` for no size, with its probability.
    #[must_use]
    pub fn blocks(&self) -> Vec<(Option<Bytes>, f64)> {
        let all = || self.hypotheses.iter().flat_map(|each| each.weights.iter().flatten().copied());
        let best = all().fold(f64::NEG_INFINITY, f64::max);
        let sum = |each: &Hypothesis| {
            each.weights.iter().flatten().map(|weight| (weight - best).exp()).sum::<f64>()
        };
        let total: f64 = self.hypotheses.iter().map(sum).sum();
        self.hypotheses.iter().map(|each| (each.rule.block(), sum(each) / total)).collect()
    }

    /// The most probable size, or none, with its probability.
    #[must_use]
    pub fn verdict(&self) -> (Option<Bytes>, f64) {
        let blocks = self.blocks();
        let none =
            blocks.iter().filter(|(block, _)| block.is_none()).map(|(_, probability)| probability).sum();
        let sizes = blocks.into_iter().filter(|(block, _)| block.is_some());
        let best = sizes.max_by(|(_, a), (_, b)| a.total_cmp(b));
        best.filter(|(_, probability)| *probability > none).unwrap_or((None, none))
    }

    /// The merges at ends of erase blocks of this size, and the pairs without one elsewhere.
    #[must_use]
    pub fn seen(&self, block: Bytes) -> (usize, usize) {
        let merged = self.seen.iter().filter(|(offset, merged)| self.is_end(*offset, block) && *merged);
        let free = self.seen.iter().filter(|(offset, merged)| !self.is_end(*offset, block) && !merged);
        (merged.count(), free.count())
    }

    /// Whether an erase block of this size ends within two writes that meet at `offset`, before the end of
    /// the second.
    #[must_use]
    pub fn is_end(&self, offset: Bytes, block: Bytes) -> bool {
        opened(offset, self.request, block).is_some()
    }

    /// Whether one size, or none, is left.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        let (block, probability) = self.verdict();
        probability > DECIDED && block.is_none_or(|block| self.missing(block).is_none())
    }

    /// The size at whose multiples too few pairs were written to accept this one: itself, or half of it.
    #[must_use]
    pub fn missing(&self, block: Bytes) -> Option<Bytes> {
        match self.seen(block) {
            (merged, _) if merged < REPEATED => Some(block),
            (_, free) if free < REPEATED => Some(block / 2),
            _ => None,
        }
    }
}

/// The classifier by writes without a merge: the second one into each erase block.
#[must_use]
pub fn classifier(openings: &[Opening]) -> Option<SlowClassifier> {
    let second: Vec<f64> = openings.iter().map(|opening| opening.second.as_secs_f64()).collect();
    SlowClassifier::from_baseline(&[Duration::try_from_secs_f64(median(&second)?).ok()?])
}

/// The classifier with a threshold for merges. Blocks with little data have shorter merges than the last
/// openings. So the threshold is the lowest that few writes without a merge exceed, and at most that for
/// equal merges.
fn with_lowest_threshold(openings: &[Opening], classifier: SlowClassifier, merge_s: f64) -> SlowClassifier {
    let equal = classifier.for_equal_merges(merge_s);
    let is_rare = |threshold: &SlowClassifier| {
        share(openings.iter().map(|opening| threshold.is_slow(opening.second))) <= ABOVE_THRESHOLD_MAX
    };
    let thresholds = std::iter::successors(Some(THRESHOLD_MIN), |threshold| Some(threshold * THRESHOLD_STEP));
    let thresholds = thresholds.map(|threshold| classifier.with_threshold_min(threshold));
    let low = thresholds
        .take_while(|threshold| threshold.threshold_seconds() < equal.threshold_seconds())
        .find(is_rare);
    low.unwrap_or(equal)
}

/// Whether all slots are taken: more openings in a row merged than writes are slow by chance.
#[must_use]
pub fn is_full(openings: &[Opening], classifier: SlowClassifier) -> bool {
    let in_a_row = merged_in_a_row(openings, classifier);
    let before = openings.get(..openings.len() - in_a_row).unwrap_or_default();
    let seconds = share(openings.iter().map(|opening| classifier.is_slow(opening.second)));
    let firsts = share(before.iter().map(|opening| classifier.is_slow(opening.first)));
    let stalls = seconds.max(firsts);
    in_a_row >= TAKEN && count(openings.len()) * stalls.powf(count(in_a_row)) <= BY_STALLS_MAX
}

/// The number of last openings in a row that merged.
fn merged_in_a_row(openings: &[Opening], classifier: SlowClassifier) -> usize {
    openings.iter().rev().take_while(|opening| classifier.is_slow(opening.first)).count()
}

/// The share that is true, with half a pseudo-count.
fn share(each: impl Iterator<Item = bool> + Clone) -> f64 {
    (count(each.clone().filter(|slow| *slow).count()) + 0.5) / (count(each.count()) + 1.0)
}

/// Whether openings merge more often than writes are slow by chance, even if not in a row: some blocks hold
/// nothing to copy, or only a run from a block's start has a log of its own.
#[must_use]
pub fn some_merge(openings: &[Opening], classifier: SlowClassifier) -> bool {
    let slow = |time: fn(&Opening) -> Duration| {
        openings.iter().filter(|opening| classifier.is_slow(time(opening))).count()
    };
    slow(|opening| opening.first) >= TAKEN + 2 * slow(|opening| opening.second)
}

/// The lower quartile of the last merging openings, less a write, seconds: stalls only add time.
fn merge_seconds(openings: &[Opening], classifier: SlowClassifier) -> Option<f64> {
    let merged = openings.iter().rev().map(|opening| opening.first);
    let last: Vec<f64> = merged
        .filter(|first| classifier.is_slow(*first))
        .take(merged_in_a_row(openings, classifier).max(TAKEN))
        .map(|first| first.as_secs_f64())
        .collect();
    lower_quartile(&last).map(|seconds| seconds - classifier.typical_seconds())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(crossings: Vec<Crossing>) -> BlockEndsData {
        let opening = |millis: u64| Opening {
            offset: Bytes::ZERO,
            first: Duration::from_millis(millis),
            second: Duration::from_millis(4),
        };
        let openings = [4, 4, 90, 91, 90, 88].map(opening).into();
        BlockEndsData { request: Bytes::kib(32), page: None, openings, crossings }
    }

    /// Two writes that meet at this many KiB, on a device with erase blocks of 6 MiB.
    fn crossing(kib: u64) -> Crossing {
        let after = Duration::from_millis(if kib.is_multiple_of(6144) { 94 } else { 4 });
        Crossing { offset: Bytes::kib(kib), before: Duration::from_millis(4), after }
    }

    #[test]
    fn the_smallest_size_whose_ends_merge_is_the_erase_block() {
        let met = [6144 * 35, 6144 * 16, 6144, 3072, 2048 * 5, 2048 * 35, 3072 * 7, 4096 * 5, 6144 * 11];
        let posterior = BlockPosterior::of(&data(met.map(crossing).into()), &[]).unwrap();
        assert_eq!(posterior.verdict().0, Some(Bytes::mib(6)), "{:?}", posterior.blocks());
        assert!(posterior.verdict().1 > 0.85, "{:?}", posterior.blocks());
    }

    #[test]
    fn a_block_written_before_may_not_merge_on_a_device_of_few_blocks() {
        let mut data = data([6144 * 11, 6144 * 7, 2048 * 5, 512 * 35, 3072 * 7].map(crossing).into());
        let fast = Duration::from_millis(4);
        let into = [4, 9, 2].map(|block| Bytes::kib(6144 * block));
        data.crossings.extend(into.map(|offset| Crossing { offset, before: fast, after: fast }));
        let of = |data: &BlockEndsData| BlockPosterior::of(data, &[]).unwrap().verdict();
        assert_ne!(of(&data).0, Some(Bytes::mib(6)));
        for (opening, offset) in data.openings.iter_mut().zip(into) {
            opening.offset = offset + Bytes::mib(1);
        }
        assert_eq!(of(&data).0, Some(Bytes::mib(6)));
        data.crossings.insert(0, crossing(6144 * 35));
        assert_ne!(of(&data).0, Some(Bytes::mib(6)), "of a larger device");
    }

    #[test]
    fn a_block_larger_than_the_written_range_is_implausible() {
        let mut data = data(vec![crossing(6144), crossing(1024)]);
        for (opening, place) in data.openings.iter_mut().zip(1..) {
            opening.offset = Bytes::mib(7 * place);
        }
        let posterior = BlockPosterior::of(&data, &[]).unwrap();
        let larger = posterior.blocks().into_iter().filter(|(block, _)| *block > Some(Bytes::mib(42)));
        assert!(larger.map(|(_, probability)| probability).sum::<f64>() < 0.01, "{:?}", posterior.blocks());
    }

    #[test]
    fn an_erase_block_is_likelier_of_whole_pages_and_of_at_least_eight() {
        let prior = sizes_by_plausibility(Some(Bytes::kib(48)), Bytes::gib(1), &[]);
        let of = |size: Bytes| prior.iter().find(|(block, _)| *block == size).unwrap().1;
        let [usual, eight] = [Bytes::mib(6), Bytes::kib(384)].map(of);
        assert!((eight / usual - 1.0).abs() < 1e-9, "eight pages are enough: {eight} {usual}");
        assert!(of(Bytes::mib(8)) < usual / 2.0, "170 2/3 pages: {} {usual}", of(Bytes::mib(8)));
        assert!(of(Bytes::kib(192)) < usual / 2.0, "four pages: {} {usual}", of(Bytes::kib(192)));
    }

    #[test]
    fn reads_decide_between_two_sizes_that_writes_leave() {
        let data = data([6144 * 11, 6144 * 16, 2048 * 5, 512 * 35].map(crossing).into());
        let of = |reads: &[(Bytes, f64)]| BlockPosterior::of(&data, reads).unwrap().verdict();
        assert_eq!(of(&[]).0, Some(Bytes::mib(6)));
        assert_eq!(of(&[(Bytes::mib(3), 0.6), (Bytes::mib(12), 0.4)]).0, Some(Bytes::mib(3)));
    }

    #[test]
    fn a_few_slow_openings_in_a_row_are_random_if_many_writes_are_slow() {
        let mut data = data(Vec::new());
        data.openings.extend(data.openings.clone());
        data.openings.iter_mut().step_by(3).for_each(|opening| opening.second = Duration::from_millis(80));
        assert!(BlockPosterior::of(&data, &[]).is_none());
    }

    /// One write in five stalls for 200 ms, and merges take 50 ms: those in a row are longer, in the mean, by
    /// the stalls among them.
    #[test]
    fn merges_are_found_beside_longer_stalls() {
        let met = [6144 * 35, 6144 * 16, 3072, 2048 * 5, 2048 * 35, 6144 * 11, 3072 * 7, 4096 * 5];
        let mut data = data(met.map(crossing).into());
        for crossing in &mut data.crossings {
            crossing.after = crossing.after.min(Duration::from_millis(50));
        }
        let took = |index: usize, fast: u64| if index.is_multiple_of(5) { 200 } else { fast };
        let merged = [277, 76, 59, 1002, 155, 252, 54];
        let firsts = (0..40).map(|index| took(index + 2, 4)).chain(merged);
        let openings = firsts.enumerate().map(|(index, first)| Opening {
            offset: Bytes::ZERO,
            first: Duration::from_millis(first),
            second: Duration::from_millis(took(index, 4)),
        });
        data.openings = openings.collect();
        let posterior = BlockPosterior::of(&data, &[]).unwrap();
        assert_eq!(posterior.verdict().0, Some(Bytes::mib(6)), "{:?}", posterior.blocks());
    }

    /// Every second opening merges, since every second block holds data: four in a row are chance then.
    #[test]
    fn openings_that_merge_at_random_do_not_fill_all_slots() {
        let mut data = data(Vec::new());
        let merges = |index: usize| index.is_multiple_of(2) || index > 30;
        let opening = data.openings[0];
        let openings = (0..35).map(|index| Opening {
            first: Duration::from_millis(if merges(index) { 90 } else { 4 }),
            ..opening
        });
        data.openings = openings.collect();
        let classifier = classifier(&data.openings).unwrap();
        assert!(!is_full(&data.openings, classifier));
        assert!(some_merge(&data.openings, classifier));
    }

    /// Merges of 90 ms for blocks with data, of 20 ms for blocks without, and both at the ends of blocks of
    /// 128 KiB.
    #[test]
    fn short_merges_of_blocks_with_little_data_count() {
        let met = [1024, 2048, 96, 160, 128, 384, 64, 192, 640, 320, 896];
        let crossing = |(index, kib): (u64, u64)| {
            let merge = if index.is_multiple_of(2) { 90 } else { 20 };
            let after = Duration::from_millis(if kib.is_multiple_of(128) { 4 + merge } else { 4 });
            Crossing { offset: Bytes::mib(64) + Bytes::kib(kib), before: Duration::from_millis(4), after }
        };
        let mut data = data((0..).zip(met).map(crossing).collect());
        data.openings.extend(data.openings.clone());
        data.request = Bytes::kib(4);
        let posterior = BlockPosterior::of(&data, &[]).unwrap();
        assert_eq!(posterior.verdict().0, Some(Bytes::kib(128)), "{:?}", posterior.blocks());
    }

    #[test]
    fn without_merges_there_is_no_posterior() {
        let mut data = data(Vec::new());
        data.openings.iter_mut().for_each(|opening| opening.first = opening.second);
        assert!(BlockPosterior::of(&data, &[]).is_none());
    }

    #[test]
    fn a_size_is_accepted_after_two_merges_at_its_ends_and_two_pairs_without_one_elsewhere() {
        let of = |met: &[u64]| {
            let data = data(met.iter().copied().map(crossing).collect());
            let posterior = BlockPosterior::of(&data, &[]).unwrap();
            (posterior.seen(Bytes::mib(6)), posterior.missing(Bytes::mib(6)))
        };
        assert_eq!(of(&[6144 * 35, 6144 * 16, 2048 * 5, 512 * 35]), ((2, 2), None));
        assert_eq!(of(&[6144 * 35, 2048 * 5, 512 * 35]), ((1, 2), Some(Bytes::mib(6))));
        assert_eq!(of(&[6144 * 35, 6144 * 16, 2048 * 5]), ((2, 1), Some(Bytes::mib(3))));
    }
}
