//! The erase block, as what it costs to open another one tells it: the probability of every size.
//!
//! A controller with all places taken merges an open erase block before it opens another one. One that was written from its
//! start to its end needs no merge: its place is free. So after a stream of whole erase blocks, opening another one is free;
//! after any other stream it is not.

use flashscope_device::Bytes;

use super::Slowness;
use crate::inference::statistics::{count, median};
use crate::observation::{BlockEndsData, Opening};
use crate::sizes::{FACTORS, plausible, sizes};

/// The smallest and the largest erase block that are looked for. (Larger ones take longer to fill than anybody waits.)
const BLOCK_MIN: Bytes = Bytes::kib(64);
const BLOCK_MAX: Bytes = Bytes::mib(64);
/// How plausible it is that no size is given back for free, before anything was seen.
const NONE: f64 = 0.15;
/// How plausible three times a power of two is beside it, which SD cards name, and five or seven times.
const OF_THREE: f64 = 0.2;
const OF_MORE: f64 = 0.02;
/// How often a free opening is slow all the same, and how often a merge does not show: from a quiet device to a busy one.
const STALLS: [f64; 4] = [0.002, 0.02, 0.08, 0.25];
const HIDDEN: [f64; 3] = [0.005, 0.05, 0.2];
/// A page that is no part of it, or nearly all of it, makes an erase block so much less plausible.
const NOT_OF_PAGES: f64 = 0.01;
/// An erase block has so many pages at least.
const PAGES_MIN: u64 = 8;
/// All places are taken once so many openings in a row merged.
pub const TAKEN: usize = 4;
/// From this probability on a size, or none, is decided.
const DECIDED: f64 = 0.997;
/// So many streams of whole blocks that left nothing to merge, and so many others that did, before a search is over.
const SEEN_MIN: usize = 2;

/// What opening another erase block costs behind a stream.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rule {
    /// Nothing if the stream consists of whole erase blocks of this size.
    Blocks(Bytes),
    /// Always a merge.
    Always,
    /// Never one: what was slow before was something else.
    Never,
}

impl Rule {
    const fn block(self) -> Option<Bytes> {
        match self {
            Self::Blocks(block) => Some(block),
            Self::Always | Self::Never => None,
        }
    }

    /// How likely nothing has to be merged after this stream. Of one that begins inside a block and ends where a block ends, it
    /// is not known: some controllers merge such a block at once.
    fn free(self, opening: &Opening) -> f64 {
        let Self::Blocks(block) = self else { return if self == Self::Never { 1.0 } else { 0.0 } };
        let ends = (opening.from + opening.streamed).is_multiple_of(block);
        match (ends, opening.from.is_multiple_of(block)) {
            (true, true) => 1.0,
            (true, false) => 0.5,
            (false, _) => 0.0,
        }
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
    /// The length of each stream, and whether opening an erase block behind it merged.
    seen: Vec<(Bytes, bool)>,
}

impl BlockBelief {
    /// Before the first stream, on a device with this page, if it is known.
    #[must_use]
    pub fn new(page: Option<Bytes>) -> Self {
        let fits = |block: Bytes| match page {
            Some(page) if !block.is_multiple_of(page) || block < page * PAGES_MIN => NOT_OF_PAGES,
            _ => 1.0,
        };
        let blocks: Vec<(Bytes, f64)> = sizes(FACTORS, BLOCK_MIN, BLOCK_MAX)
            .map(|block| (block, plausible(block, OF_THREE, OF_MORE) * fits(block)))
            .collect();
        let total: f64 = blocks.iter().map(|(_, weight)| weight).sum();
        let weigh = |rule: Rule, weight: f64| Hypothesis {
            rule,
            weights: [[weight.ln(); HIDDEN.len()]; STALLS.len()],
        };
        let hypotheses =
            blocks.iter().map(|(block, weight)| weigh(Rule::Blocks(*block), weight / total * (1.0 - NONE)));
        let without = [Rule::Always, Rule::Never].map(|rule| weigh(rule, NONE / 2.0));
        Self { hypotheses: hypotheses.chain(without).collect(), seen: Vec::new() }
    }

    /// The belief that stored openings lead to; `None` if the places were never all taken.
    #[must_use]
    pub fn of(data: &BlockEndsData) -> Option<Self> {
        let slowness = slowness(&data.openings)?;
        is_full(&data.openings, slowness).then_some(())?;
        let mut belief = Self::new(data.page);
        data.openings.iter().for_each(|opening| belief.take(opening, slowness));
        Some(belief)
    }

    /// Takes an opening behind a stream into account.
    pub fn take(&mut self, opening: &Opening, slowness: Slowness) {
        if opening.streamed.is_zero() {
            return;
        }
        let slow = slowness.probability(opening.first);
        self.seen.push((opening.streamed, slow > 0.5));
        for hypothesis in &mut self.hypotheses {
            let free = hypothesis.rule.free(opening);
            for (weights, stalls) in hypothesis.weights.iter_mut().zip(STALLS) {
                for (weight, hidden) in weights.iter_mut().zip(HIDDEN) {
                    let chance = free * stalls + (1.0 - free) * (1.0 - hidden);
                    *weight += (chance * slow + (1.0 - chance) * (1.0 - slow)).ln();
                }
            }
        }
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

    /// How many streams of whole blocks of this size left nothing to merge, and how many others did.
    #[must_use]
    pub fn seen(&self, block: Bytes) -> (usize, usize) {
        let free = self.seen.iter().filter(|(length, merged)| length.is_multiple_of(block) && !merged);
        let merged = self.seen.iter().filter(|(length, merged)| !length.is_multiple_of(block) && *merged);
        (free.count(), merged.count())
    }

    /// Whether one size, or none, is left.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        let (block, probability) = self.verdict();
        probability > DECIDED && block.is_none_or(|block| self.missing(block).is_none())
    }

    /// The length of stream that was tried too seldom to believe a size.
    #[must_use]
    pub fn missing(&self, block: Bytes) -> Option<Bytes> {
        match self.seen(block) {
            (_, merged) if merged < SEEN_MIN => Some(block / 2),
            (free, _) if free < SEEN_MIN => Some(block),
            _ => None,
        }
    }
}

/// What a write without a merge takes: the second one into each erase block.
#[must_use]
pub fn slowness(openings: &[Opening]) -> Option<Slowness> {
    let second: Vec<f64> = openings.iter().map(|opening| opening.second.as_secs_f64()).collect();
    let typical = median(&second).filter(|_| count(second.len()) >= 1.0)?;
    Slowness::beyond(&[std::time::Duration::from_secs_f64(typical)])
}

/// Whether all places were taken before the first stream: opening more erase blocks merged, several times in a row.
#[must_use]
pub fn is_full(openings: &[Opening], slowness: Slowness) -> bool {
    let filling: Vec<&Opening> = openings.iter().take_while(|opening| opening.streamed.is_zero()).collect();
    let last = filling.iter().rev().take(TAKEN).filter(|opening| slowness.is_slow(opening.first));
    last.count() == TAKEN
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn opening(streamed: Bytes, millis: u64) -> Opening {
        let (first, second) = (Duration::from_millis(millis), Duration::from_millis(4));
        Opening { offset: Bytes::ZERO, streamed, from: Bytes::ZERO, first, second }
    }

    /// A device with erase blocks of 6 MiB, whose places are all taken.
    #[test]
    fn the_smallest_size_that_is_given_back_is_the_erase_block() {
        let mut openings: Vec<Opening> =
            [4, 4, 90, 91, 90, 88].map(|millis| opening(Bytes::ZERO, millis)).into();
        let streamed = [512, 1024, 4096, 8192, 12288, 3072, 6144, 2048, 3072, 6144, 3072];
        openings.extend(streamed.map(|kib| opening(Bytes::kib(kib), if kib % 6144 == 0 { 4 } else { 90 })));
        let belief =
            BlockBelief::of(&BlockEndsData { request: Bytes::kib(32), page: None, openings }).unwrap();
        assert_eq!(belief.verdict().0, Some(Bytes::mib(6)), "{:?}", belief.blocks());
        assert!(belief.verdict().1 > 0.85, "{:?}", belief.blocks());
    }

    #[test]
    fn without_merges_there_is_nothing_to_tell() {
        let openings = vec![opening(Bytes::ZERO, 4); 140];
        assert!(BlockBelief::of(&BlockEndsData { request: Bytes::kib(32), page: None, openings }).is_none());
    }
}
