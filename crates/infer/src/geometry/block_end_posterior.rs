//! The erase block, as two writes one behind the other tell it: the probability of every size.
//!
//! A controller with all places taken merges an open erase block before it opens another one. Two writes one behind the other
//! open one only if an erase block ends between them: then they take a merge longer than elsewhere.

use std::collections::BTreeSet;
use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::observation::{BlockEndsData, Crossing, Opening};

use crate::geometry::boundary::limits::{ERASE_BLOCK_MAX, ERASE_BLOCK_MIN};
use crate::sizes::{FACTORS, plausible, sizes};
use crate::slow_classifier::Slowness;
use crate::statistics::{count, entropy, median, quantile};

/// How plausible it is that no size tells where writes merge, before anything was seen.
const NONE: f64 = 0.15;
/// How plausible three times a power of two is beside it, which SD cards name, and five or seven times.
const OF_THREE: f64 = 0.2;
const OF_MORE: f64 = 0.02;
/// How far what reads say of a size is trusted; the rest is left to all sizes alike.
const READS_TRUSTED: f64 = 0.8;
/// How often two writes are slow all the same, and how often a merge does not show: from a quiet device to a busy one.
const STALLS: [f64; 5] = [0.002, 0.02, 0.08, 0.25, 0.45];
const HIDDEN: [f64; 3] = [0.005, 0.05, 0.2];
/// A page that is no part of it, or nearly all of it, makes an erase block so much less plausible.
const NOT_OF_PAGES: f64 = 0.01;
/// And so one in which all that was written would lie: then opening blocks would merge nothing.
const NOT_OF_DEVICE: f64 = 0.001;
/// An erase block has so many pages at least.
const PAGES_MIN: u64 = 8;
/// All places are taken once so many openings in a row merged, or more where other writes are slow as well:
pub const TAKEN: usize = 4;
/// so many that chance makes such a row with no more than this probability.
const CHANCE_MAX: f64 = 0.002;
/// The limits between quick and slow that are tried, in times of a write, and how many of the writes that merge nothing may lie
/// beyond.
const LIMIT_MIN: f64 = 2.0;
const LIMIT_STEP: f64 = 1.5;
const BEYOND_LIMIT_MAX: f64 = 0.06;
/// A controller may keep most of its erase blocks open if there are no more than this.
const FEW: u64 = 32;
/// This part of merges is taken for those without a stall.
const MERGES_QUICKEST: f64 = 0.25;
/// From this probability on a size, or none, is decided.
const DECIDED: f64 = 0.997;
/// So many times its end merged, and another place did not, before a search is over.
const SEEN_MIN: usize = 3;

/// Where the second of two writes one behind the other costs a merge.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rule {
    /// Where an erase block of this size ends.
    Blocks(Bytes),
    /// Everywhere.
    Always,
    /// Nowhere: what was slow before was something else.
    Never,
}

impl Rule {
    const fn block(self) -> Option<Bytes> {
        match self {
            Self::Blocks(block) => Some(block),
            Self::Always | Self::Never => None,
        }
    }

    /// How likely a merge is due in writes of this size that meet at this offset, after others. Where the second ends with an erase
    /// block, it is not known: some controllers merge such a block at once. Nor is it where the erase block may be open still.
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

/// Where the erase block of this size begins that the second of two writes opens which meet here; `None` if none ends between them.
fn opened(offset: Bytes, request: Bytes, block: Bytes) -> Option<Bytes> {
    let start = (offset + request).saturating_sub(Bytes::new(1)).round_down(block);
    (start + request >= offset).then_some(start)
}

/// Where something was written before.
#[derive(Debug, Clone)]
struct Written(BTreeSet<Bytes>);

impl Written {
    /// Whether the erase block of this size that begins here was written, and may be open still: there are hardly more erase blocks
    /// than places for open ones.
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

/// The probability of every erase block.
#[derive(Debug, Clone)]
pub struct BlockBelief {
    hypotheses: Vec<Hypothesis>,
    /// The size of the writes.
    request: Bytes,
    /// Where two writes met, and whether they merged.
    seen: Vec<(Bytes, bool)>,
    written: Written,
}

/// Every size, with how plausible it is on a device with this page, of which so much was written at least, and after what reads said;
/// together 1.
fn sizes_by_plausibility(page: Option<Bytes>, end: Bytes, reads: &[(Bytes, f64)]) -> Vec<(Bytes, f64)> {
    let fits = |block: Bytes| match page {
        _ if block > end => NOT_OF_DEVICE,
        Some(page) if !block.is_multiple_of(page) || block < page * PAGES_MIN => NOT_OF_PAGES,
        _ => 1.0,
    };
    let blocks: Vec<(Bytes, f64)> = sizes(FACTORS, ERASE_BLOCK_MIN, ERASE_BLOCK_MAX)
        .map(|block| (block, plausible(block, OF_THREE, OF_MORE) * fits(block)))
        .collect();
    let total: f64 = blocks.iter().map(|(_, weight)| weight).sum();
    let of_reads = |block: Bytes| -> f64 {
        reads.iter().filter(|(size, _)| *size == block).map(|(_, probability)| probability).sum()
    };
    let told = READS_TRUSTED * reads.iter().map(|(_, probability)| probability).sum::<f64>();
    blocks
        .into_iter()
        .map(|(block, weight)| (block, weight / total * (1.0 - told) + READS_TRUSTED * of_reads(block)))
        .collect()
}

impl BlockBelief {
    /// Before any two writes met: what the page, if it is known, and reads say of each size.
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

    /// The belief that stored writes lead to; `None` if the places were never all taken.
    #[must_use]
    pub fn of(data: &BlockEndsData, reads: &[(Bytes, f64)]) -> Option<Self> {
        let slowness = slowness(&data.openings)?;
        (is_full(&data.openings, slowness) || some_merge(&data.openings, slowness)).then_some(())?;
        let slowness = limit(&data.openings, slowness, merge_seconds(&data.openings, slowness)?);
        let mut belief = Self::new(data, reads);
        data.crossings.iter().for_each(|crossing| belief.take(crossing, slowness));
        Some(belief)
    }

    /// Takes two writes that met somewhere into account.
    fn take(&mut self, crossing: &Crossing, slowness: Slowness) {
        let quick = |latency| 1.0 - slowness.probability(latency);
        let slow = 1.0 - quick(crossing.before) * quick(crossing.after);
        self.seen.push((crossing.offset, slow > 0.5));
        for hypothesis in &mut self.hypotheses {
            let merges = hypothesis.rule.merges(crossing.offset, self.request, &self.written);
            for (weights, stalls) in hypothesis.weights.iter_mut().zip(STALLS) {
                for (weight, hidden) in weights.iter_mut().zip(HIDDEN) {
                    let chance = merges * (1.0 - hidden) + (1.0 - merges) * stalls;
                    *weight += (chance * slow + (1.0 - chance) * (1.0 - slow)).ln();
                }
            }
        }
        self.written.0.extend([crossing.offset.saturating_sub(self.request), crossing.offset]);
    }

    /// How much two writes that meet at this offset would tell of the rules, nats, where these are their probabilities: what is
    /// open about them, less what each rule itself leaves open.
    #[must_use]
    pub fn told_at(&self, offset: Bytes, blocks: &[(Option<Bytes>, f64)]) -> f64 {
        let (mut merges, mut left_open) = (0.0, 0.0);
        for (each, (_, probability)) in self.hypotheses.iter().zip(blocks) {
            let chance = each.rule.merges(offset, self.request, &self.written);
            merges += chance * probability;
            left_open += entropy(chance) * probability;
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

    /// How many times the end of an erase block of this size merged, and how many times another place did not.
    #[must_use]
    pub fn seen(&self, block: Bytes) -> (usize, usize) {
        let merged = self.seen.iter().filter(|(offset, merged)| self.is_end(*offset, block) && *merged);
        let free = self.seen.iter().filter(|(offset, merged)| !self.is_end(*offset, block) && !merged);
        (merged.count(), free.count())
    }

    /// Whether an erase block of this size ends in two writes that meet here, before the end of the second.
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

    /// The size at a multiple of which two writes met too seldom to believe this one: itself, or half of it.
    #[must_use]
    pub fn missing(&self, block: Bytes) -> Option<Bytes> {
        match self.seen(block) {
            (merged, _) if merged < SEEN_MIN => Some(block),
            (_, free) if free < SEEN_MIN => Some(block / 2),
            _ => None,
        }
    }
}

/// What a write without a merge takes: the second one into each erase block.
#[must_use]
pub fn slowness(openings: &[Opening]) -> Option<Slowness> {
    let second: Vec<f64> = openings.iter().map(|opening| opening.second.as_secs_f64()).collect();
    Slowness::beyond(&[Duration::try_from_secs_f64(median(&second)?).ok()?])
}

/// The limit between quick and slow. Where blocks hold little there is less to copy than in those that the last openings merged, so it
/// is the lowest beyond which hardly any write goes that merges nothing; at most that for merges which are all alike.
fn limit(openings: &[Opening], slowness: Slowness, merge_s: f64) -> Slowness {
    let equal = slowness.for_equal_merges(merge_s);
    let is_rare = |limit: &Slowness| {
        share(openings.iter().map(|opening| limit.is_slow(opening.second))) <= BEYOND_LIMIT_MAX
    };
    let limits = std::iter::successors(Some(LIMIT_MIN), |limit| Some(limit * LIMIT_STEP));
    let limits = limits.map(|limit| slowness.beyond_stalls(limit));
    let low = limits.take_while(|limit| limit.limit_seconds() < equal.limit_seconds()).find(is_rare);
    low.unwrap_or(equal)
}

/// Whether all places are taken: opening more erase blocks merged, more often in a row than writes are slow by chance.
#[must_use]
pub fn is_full(openings: &[Opening], slowness: Slowness) -> bool {
    let in_a_row = merged_in_a_row(openings, slowness);
    let before = openings.get(..openings.len() - in_a_row).unwrap_or_default();
    let seconds = share(openings.iter().map(|opening| slowness.is_slow(opening.second)));
    let firsts = share(before.iter().map(|opening| slowness.is_slow(opening.first)));
    let stalls = seconds.max(firsts);
    in_a_row >= TAKEN && count(openings.len()) * stalls.powf(count(in_a_row)) <= CHANCE_MAX
}

/// How many openings merged at last, one behind the other.
fn merged_in_a_row(openings: &[Opening], slowness: Slowness) -> usize {
    openings.iter().rev().take_while(|opening| slowness.is_slow(opening.first)).count()
}

/// The share of those that are true, as if one more had been half so.
fn share(each: impl Iterator<Item = bool> + Clone) -> f64 {
    (count(each.clone().filter(|slow| *slow).count()) + 0.5) / (count(each.count()) + 1.0)
}

/// Whether openings merge more often than writes are slow by chance, even if not one behind the other: some blocks hold nothing that
/// would have to be copied, or only a run from a block's start on has a log of its own.
#[must_use]
pub fn some_merge(openings: &[Opening], slowness: Slowness) -> bool {
    let slow = |time: fn(&Opening) -> Duration| {
        openings.iter().filter(|opening| slowness.is_slow(time(opening))).count()
    };
    slow(|opening| opening.first) >= TAKEN + 2 * slow(|opening| opening.second)
}

/// What the last openings that merged took beside a write, seconds: the quickest quarter of them, for stalls only add to that.
fn merge_seconds(openings: &[Opening], slowness: Slowness) -> Option<f64> {
    let merged = openings.iter().rev().map(|opening| opening.first);
    let last: Vec<f64> = merged
        .filter(|first| slowness.is_slow(*first))
        .take(merged_in_a_row(openings, slowness).max(TAKEN))
        .map(|first| first.as_secs_f64())
        .collect();
    quantile(&last, MERGES_QUICKEST).map(|seconds| seconds - slowness.typical_seconds())
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
    fn the_smallest_size_at_whose_end_writes_merge_is_the_erase_block() {
        let met = [6144 * 35, 6144 * 16, 6144, 3072, 2048 * 5, 2048 * 35, 3072 * 7, 4096 * 5, 6144 * 11];
        let belief = BlockBelief::of(&data(met.map(crossing).into()), &[]).unwrap();
        assert_eq!(belief.verdict().0, Some(Bytes::mib(6)), "{:?}", belief.blocks());
        assert!(belief.verdict().1 > 0.85, "{:?}", belief.blocks());
    }

    #[test]
    fn on_a_device_of_few_blocks_one_that_was_written_before_need_not_merge() {
        let mut data = data([6144 * 11, 6144 * 7, 2048 * 5, 512 * 35, 3072 * 7].map(crossing).into());
        let quick = Duration::from_millis(4);
        let into = [4, 9, 2].map(|block| Bytes::kib(6144 * block));
        data.crossings.extend(into.map(|offset| Crossing { offset, before: quick, after: quick }));
        let of = |data: &BlockEndsData| BlockBelief::of(data, &[]).unwrap().verdict();
        assert_ne!(of(&data).0, Some(Bytes::mib(6)));
        for (opening, offset) in data.openings.iter_mut().zip(into) {
            opening.offset = offset + Bytes::mib(1);
        }
        assert_eq!(of(&data).0, Some(Bytes::mib(6)));
        data.crossings.insert(0, crossing(6144 * 35));
        assert_ne!(of(&data).0, Some(Bytes::mib(6)), "of a larger device");
    }

    #[test]
    fn no_block_is_larger_than_what_was_written() {
        let mut data = data(vec![crossing(6144), crossing(1024)]);
        for (opening, place) in data.openings.iter_mut().zip(1..) {
            opening.offset = Bytes::mib(7 * place);
        }
        let belief = BlockBelief::of(&data, &[]).unwrap();
        let larger = belief.blocks().into_iter().filter(|(block, _)| *block > Some(Bytes::mib(42)));
        assert!(larger.map(|(_, probability)| probability).sum::<f64>() < 0.01, "{:?}", belief.blocks());
    }

    #[test]
    fn reads_count_where_writes_leave_two_sizes() {
        let data = data([6144 * 11, 6144 * 16, 2048 * 5, 512 * 35].map(crossing).into());
        let of = |reads: &[(Bytes, f64)]| BlockBelief::of(&data, reads).unwrap().verdict();
        assert_eq!(of(&[]).0, Some(Bytes::mib(6)));
        assert_eq!(of(&[(Bytes::mib(3), 0.6), (Bytes::mib(12), 0.4)]).0, Some(Bytes::mib(3)));
    }

    #[test]
    fn where_many_writes_are_slow_a_few_in_a_row_are_chance() {
        let mut data = data(Vec::new());
        data.openings.extend(data.openings.clone());
        data.openings.iter_mut().step_by(3).for_each(|opening| opening.second = Duration::from_millis(80));
        assert!(BlockBelief::of(&data, &[]).is_none());
    }

    /// One write in five stalls for 200 ms, and merges take 50 ms: those in a row are longer, in the mean, by the stalls among them.
    #[test]
    fn merges_are_told_beside_stalls_that_are_longer() {
        let met = [6144 * 35, 6144 * 16, 3072, 2048 * 5, 2048 * 35, 6144 * 11, 3072 * 7, 4096 * 5];
        let mut data = data(met.map(crossing).into());
        for crossing in &mut data.crossings {
            crossing.after = crossing.after.min(Duration::from_millis(50));
        }
        let took = |index: usize, quick: u64| if index.is_multiple_of(5) { 200 } else { quick };
        let merged = [277, 76, 59, 1002, 155, 252, 54];
        let firsts = (0..40).map(|index| took(index + 2, 4)).chain(merged);
        let openings = firsts.enumerate().map(|(index, first)| Opening {
            offset: Bytes::ZERO,
            first: Duration::from_millis(first),
            second: Duration::from_millis(took(index, 4)),
        });
        data.openings = openings.collect();
        let belief = BlockBelief::of(&data, &[]).unwrap();
        assert_eq!(belief.verdict().0, Some(Bytes::mib(6)), "{:?}", belief.blocks());
    }

    /// Every second opening merges, as where every second place holds data: four in a row are chance then.
    #[test]
    fn openings_that_merge_here_and_there_take_no_places() {
        let mut data = data(Vec::new());
        let merges = |index: usize| index.is_multiple_of(2) || index > 30;
        let opening = data.openings[0];
        let openings = (0..35).map(|index| Opening {
            first: Duration::from_millis(if merges(index) { 90 } else { 4 }),
            ..opening
        });
        data.openings = openings.collect();
        let slowness = slowness(&data.openings).unwrap();
        assert!(!is_full(&data.openings, slowness));
        assert!(some_merge(&data.openings, slowness));
    }

    /// Merges of 90 ms where places hold data, of 20 ms where they do not, and both at the ends of blocks of 128 KiB.
    #[test]
    fn merges_of_blocks_that_hold_little_count() {
        let met = [1024, 2048, 96, 160, 128, 384, 64, 192, 640, 320, 896];
        let crossing = |(index, kib): (u64, u64)| {
            let merge = if index.is_multiple_of(2) { 90 } else { 20 };
            let after = Duration::from_millis(if kib.is_multiple_of(128) { 4 + merge } else { 4 });
            Crossing { offset: Bytes::mib(64) + Bytes::kib(kib), before: Duration::from_millis(4), after }
        };
        let mut data = data((0..).zip(met).map(crossing).collect());
        data.openings.extend(data.openings.clone());
        data.request = Bytes::kib(4);
        let belief = BlockBelief::of(&data, &[]).unwrap();
        assert_eq!(belief.verdict().0, Some(Bytes::kib(128)), "{:?}", belief.blocks());
    }

    #[test]
    fn without_merges_there_is_nothing_to_tell() {
        let mut data = data(Vec::new());
        data.openings.iter_mut().for_each(|opening| opening.first = opening.second);
        assert!(BlockBelief::of(&data, &[]).is_none());
    }
}
