//! The end of the FAT area, the finely mapped erase blocks at the start of a device, by the cost of opening
//! each of them.

use std::time::Duration;

use flashscope_record::observation::Merges;

use crate::slow_classifier::SlowClassifier;
use crate::statistics::lower_quartile;
use crate::thresholds::{AS_LIKELY_AS_NOT, DECIDED, NOT_NOISE, UNLIKELY};

/// The number of first erase blocks that may form a FAT area. No FAT area beyond 16 MiB was ever reported,
/// four blocks of 4 MiB. Guess: erase blocks grow.
pub const FIRST_BLOCKS: u32 = 10;
/// The prior probability of a FAT area: most cards and sticks have none. Guess.
const AREA: f64 = 0.25;
/// The probabilities that an opening which evicts a block is slow, with their priors: the evicted block may
/// be merged already, or nearly full. Guess.
const MERGE_SHOWS: [(f64, f64); 4] = [(0.999, 0.6), (0.99, 0.2), (0.9, 0.15), (0.5, 0.05)];
/// The probabilities of a stall, with their priors. Guess.
const STALLS: [(f64, f64); 5] = [(0.0005, 0.4), (0.002, 0.3), (0.01, 0.2), (0.05, 0.07), (0.2, 0.03)];
/// The ordinary blocks opened after one of the first blocks: the first of them may evict that block, which
/// may cost nothing.
const ORDINARY_BETWEEN: u32 = 2;
/// After this number of fast ordinary openings in a row, the earlier slow ones had another cause, such as
/// foreign open blocks, unless one of the first blocks evicted a block as well. Guess.
const FAST_MAX: u32 = 6;
/// The number of blocks that are tested after the first ordinary one. Guess.
const TESTED_AFTER: u32 = 2;
/// A block is tested at most this number of times: more do not help if it is undecided for a reason. Guess.
const TESTS_MAX: u32 = 8;

/// The end of the area, the probability that a merge shows, that of a stall, and the log weight.
type Weight = (u32, f64, f64, f64);

/// The posterior over the end of the area, updated with each opened block.
#[derive(Debug, Clone)]
pub struct FirstBlocks {
    classifier: SlowClassifier,
    /// Of this number of blocks, at least one is closed.
    too_many: u32,
    /// The probability of LRU eviction.
    lru: f64,
    weights: Vec<Weight>,
    /// The weights before the first opening.
    initial: Vec<Weight>,
    /// The slow openings of ordinary blocks in a row, until all slots are taken.
    slow_ordinary: u32,
    /// The ordinary blocks since one of the first, and the number of fast ones among the last in a row.
    ordinary_since_first: u32,
    fast_ordinary: u32,
    slow_seconds: Vec<f64>,
    /// The number of tests of each of the first blocks.
    tests: [u32; FIRST_BLOCKS as usize],
    /// The number of ordinary blocks opened since each of the first blocks.
    since: [Option<u32>; FIRST_BLOCKS as usize],
    /// For each block that took a slot, whether it was one of the first blocks, opened for the first time.
    slot_takers: Vec<bool>,
}

impl FirstBlocks {
    /// The posterior before the first opening. `baseline` are writes that continue in one block: slow ones
    /// are stalls.
    #[must_use]
    pub fn new(classifier: SlowClassifier, baseline: &[Duration], merges: Option<Merges>) -> Self {
        let takes = merges.and_then(|merges| merges.takes).map(|takes| takes.as_secs_f64());
        let mut posterior = Self::before(classifier.for_merges(takes), merges);
        for latency in baseline {
            let slow = posterior.classifier.probability(*latency);
            for (.., stalls, weight) in &mut posterior.weights {
                *weight += (*stalls * slow + (1.0 - *stalls) * (1.0 - slow)).ln();
            }
        }
        posterior.initial = posterior.weights.clone();
        posterior
    }

    fn before(classifier: SlowClassifier, merges: Option<Merges>) -> Self {
        // An area includes the next block as likely as not.
        let prior = |end: u32| match end {
            0 => 1.0 - AREA,
            FIRST_BLOCKS => AREA * AS_LIKELY_AS_NOT.powi(FIRST_BLOCKS.cast_signed() - 1),
            _ => AREA * AS_LIKELY_AS_NOT.powi(end.cast_signed()),
        };
        let weights = (0..=FIRST_BLOCKS).flat_map(|end| {
            MERGE_SHOWS.into_iter().flat_map(move |(shows, weight)| {
                STALLS.map(|(stalls, rate)| (end, shows, stalls, (prior(end) * weight * rate).ln()))
            })
        });
        Self {
            classifier,
            too_many: merges.and_then(|merges| merges.too_many).unwrap_or(0),
            lru: merges.map_or(1.0, |merges| merges.every_switch.clamp(0.0, 1.0)),
            weights: weights.collect(),
            initial: Vec::new(),
            slow_ordinary: 0,
            ordinary_since_first: 0,
            fast_ordinary: 0,
            slow_seconds: Vec::new(),
            tests: [0; FIRST_BLOCKS as usize],
            since: [None; FIRST_BLOCKS as usize],
            slot_takers: Vec::new(),
        }
    }

    /// Takes the opening of a block into account: one of the first, by its number, or an ordinary one. It is
    /// informative only after an ordinary one that evicted a block.
    pub fn open(&mut self, block: Option<u32>, latency: Duration) {
        let slow = self.slow(block, latency);
        let is_free = self.is_next_free();
        match block {
            Some(block) => self.open_first(block, slow),
            None => {
                if self.are_slots_taken() && (1..FAST_MAX).contains(&self.ordinary_since_first) && !is_free {
                    self.weigh(None, slow);
                }
                self.open_ordinary(slow, latency, is_free);
            }
        }
    }

    fn open_first(&mut self, block: u32, slow: f64) {
        let index = block as usize;
        if self.is_ready() {
            self.weigh(Some(block), slow);
            if let Some(tests) = self.tests.get_mut(index) {
                *tests += 1;
            }
        }
        if slow > 0.5 {
            self.slot_takers.push(self.since.get(index) == Some(&None));
        }
        if let Some(since) = self.since.get_mut(index) {
            *since = Some(0);
        }
        self.ordinary_since_first = 0;
    }

    fn open_ordinary(&mut self, slow: f64, latency: Duration, is_free: bool) {
        self.slot_takers.push(false);
        self.since.iter_mut().flatten().for_each(|since| *since += 1);
        self.ordinary_since_first += 1;
        if slow <= 0.5 && is_free {
            return;
        }
        self.fast_ordinary = if slow > 0.5 { 0 } else { self.fast_ordinary + 1 };
        self.slow_seconds.extend((self.fast_ordinary == 0).then_some(latency.as_secs_f64()));
        self.slow_ordinary =
            if self.fast_ordinary == 0 || self.are_slots_taken() { self.slow_ordinary + 1 } else { 0 };
        if self.are_slots_taken() && self.fast_ordinary >= FAST_MAX && self.tested() <= self.end().0 + 1 {
            self.restart();
        }
    }

    /// Starts again: the slow openings so far had another cause than evictions.
    fn restart(&mut self) {
        self.weights.clone_from(&self.initial);
        (self.slow_ordinary, self.ordinary_since_first, self.fast_ordinary) = (0, 0, 0);
        self.slow_seconds.clear();
        self.tests = [0; FIRST_BLOCKS as usize];
    }

    /// Whether the next opening evicts one of the first blocks after its first opening: that may cost
    /// nothing.
    fn is_next_free(&self) -> bool {
        let slots = (self.too_many.max(2) - 1) as usize;
        self.slot_takers.len().checked_sub(slots).is_some_and(|evicted| self.slot_takers[evicted])
    }

    /// The probability that this opening was slow, compared with the evictions so far: a stall takes less.
    fn slow(&self, block: Option<u32>, latency: Duration) -> f64 {
        let typical = self.classifier.typical_seconds();
        let merges = lower_quartile(&self.slow_seconds).map(|seconds| seconds - typical);
        let is_known = block.is_some() || self.are_slots_taken();
        let classifier = if is_known { self.classifier.for_merges(merges) } else { self.classifier };
        classifier.probability(latency)
    }

    fn weigh(&mut self, block: Option<u32>, slow: f64) {
        let open = block.map_or(0.0, |block| self.open_probability(block));
        for (end, shows, stalls, weight) in &mut self.weights {
            let ordinary = *shows * (1.0 - open) + *stalls * open;
            let likelihood = if block.is_some_and(|block| block < *end) { *stalls } else { ordinary };
            *weight += (likelihood * slow + (1.0 - likelihood) * (1.0 - slow)).ln();
        }
    }

    /// The probability that one of the first blocks is still open, if it is ordinary: then it evicts no
    /// block.
    fn open_probability(&self, block: u32) -> f64 {
        let since = self.since.get(block as usize).copied().flatten();
        since.map_or(0.0, |since| self.open_after(since))
    }

    /// The probability that a block is still open after this number of others.
    fn open_after(&self, others: u32) -> f64 {
        let slots = f64::from(self.too_many.max(2) - 1);
        let under_random = (1.0 - 1.0 / slots).powf(f64::from(others));
        let under_lru = if others < self.too_many { 1.0 } else { 0.0 };
        self.lru * under_lru + (1.0 - self.lru) * under_random
    }

    /// Whether enough ordinary blocks were opened since one of the first, and the last of them evicted a
    /// block.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.are_slots_taken()
            && self.ordinary_since_first >= ORDINARY_BETWEEN
            && self.fast_ordinary == 0
            && !self.is_next_free()
    }

    /// The least number of ordinary blocks to open before a test of this one of the first blocks is
    /// informative.
    #[must_use]
    pub fn openings_before(&self, block: u32) -> u32 {
        let Some(since) = self.since.get(block as usize).copied().flatten() else { return 0 };
        (since..).find(|others| self.open_after(*others) <= UNLIKELY).map_or(0, |others| others - since)
    }

    /// Whether opening an ordinary block evicts another one visibly.
    #[must_use]
    pub const fn are_slots_taken(&self) -> bool {
        self.slow_ordinary >= NOT_NOISE as u32
    }

    /// The most probable end of the area, which is the first ordinary block, and its probability.
    #[must_use]
    pub fn end(&self) -> (u32, f64) {
        let ends = self.ends();
        let most_probable = (0..).zip(ends).max_by(|(_, a), (_, b)| a.total_cmp(b));
        most_probable.unwrap_or((0, 0.0))
    }

    fn ends(&self) -> [f64; FIRST_BLOCKS as usize + 1] {
        let best = self.weights.iter().map(|(.., weight)| *weight).fold(f64::NEG_INFINITY, f64::max);
        let mut ends = [0.0; FIRST_BLOCKS as usize + 1];
        for (end, .., weight) in &self.weights {
            ends[*end as usize] += (weight - best).exp();
        }
        let total: f64 = ends.iter().sum();
        ends.map(|end| end / total)
    }

    /// The number of first blocks that were tested, with all slots taken.
    #[must_use]
    pub fn tested(&self) -> u32 {
        self.tests.iter().map(|tests| u32::from(*tests > 0)).sum()
    }

    /// The next of `count` first blocks to test; `None` once the end is decided, or cannot be.
    #[must_use]
    pub fn next(&self, count: u32) -> Option<u32> {
        let (end, probability) = self.end();
        let last = count.min(FIRST_BLOCKS).min(end + 1 + TESTED_AFTER);
        // A single slow one may be a stall: with one in 500 writes it does not decide the end.
        let is_seen_twice = self.tested() > end + 1;
        if probability >= DECIDED && is_seen_twice {
            return None;
        }
        (0..last).find(|block| self.tests[*block as usize] == 0).or_else(|| self.again(count))
    }

    /// The one of `count` first blocks to test again: the two most probable ends predict different costs for
    /// it.
    fn again(&self, count: u32) -> Option<u32> {
        let (end, probability) = self.end();
        if probability >= DECIDED {
            return None;
        }
        let others = (0..).zip(self.ends()).filter(|(other, _)| *other != end);
        let (other, _) = others.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let between = end.min(other)..end.max(other).min(count);
        let least_tested = between.min_by_key(|block| self.tests[*block as usize])?;
        (self.tests[least_tested as usize] < TESTS_MAX).then_some(least_tested)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAST: Duration = Duration::from_millis(4);
    const SLOW: Duration = Duration::from_millis(90);

    fn posterior() -> FirstBlocks {
        let mut posterior =
            FirstBlocks::new(SlowClassifier::from_baseline(&[FAST; 8]).unwrap(), &[FAST; 8], None);
        (0..NOT_NOISE as u32).for_each(|_| posterior.open(None, SLOW));
        posterior
    }

    fn opened(slow: &[bool]) -> FirstBlocks {
        let mut posterior = posterior();
        for (block, slow) in (0..).zip(slow) {
            posterior.open(Some(block), if *slow { SLOW } else { FAST });
            // The first eviction of an ordinary block may cost nothing.
            posterior.open(None, FAST);
            posterior.open(None, SLOW);
        }
        posterior
    }

    #[test]
    fn before_any_opening_a_quarter_has_an_area_and_half_of_those_one_block_more() {
        let classifier = SlowClassifier::from_baseline(&[FAST; 8]).unwrap();
        let ends = FirstBlocks::new(classifier, &[FAST; 8], None).ends();
        for (blocks, seen) in (0_i32..).zip(ends) {
            let expected = if blocks == 0 { 0.75 } else { 0.25 * 0.5_f64.powi(blocks.min(9)) };
            assert!((seen - expected).abs() < 1e-9, "{blocks}: {seen}");
        }
    }

    #[test]
    fn the_area_ends_before_the_first_block_that_evicts_another() {
        assert_eq!(opened(&[true, true]).end().0, 0);
        assert!(opened(&[true, true]).end().1 > 0.99);
        let two = opened(&[false, false, true, true, true]);
        assert!(two.end().0 == 2 && two.end().1 > 0.9, "{:?}", two.end());
    }

    #[test]
    fn an_undecided_block_is_tested_again_until_it_is_decided() {
        let mut posterior = opened(&[true, false, true, true, true]);
        let mut tested = Vec::new();
        while let Some(block) = posterior.next(10) {
            tested.push(block);
            posterior.open(Some(block), if block < 2 { FAST } else { SLOW });
            posterior.open(None, FAST);
            posterior.open(None, SLOW);
        }
        assert!(posterior.end().0 == 2 && posterior.end().1 > 0.99, "{:?} after {tested:?}", posterior.end());
        assert!(tested.contains(&0) && tested.len() < 8, "{tested:?}");
    }

    #[test]
    fn a_block_is_tested_again_once_it_is_closed() {
        let merges =
            |every_switch| Some(Merges { every_switch, takes: None, is_one_run: false, too_many: Some(5) });
        let others = |merges| {
            let mut posterior =
                FirstBlocks::new(SlowClassifier::from_baseline(&[FAST; 8]).unwrap(), &[FAST; 8], merges);
            assert_eq!(posterior.openings_before(0), 0);
            (0..NOT_NOISE as u32).for_each(|_| posterior.open(None, SLOW));
            posterior.open(Some(0), SLOW);
            posterior.open(None, SLOW);
            posterior.openings_before(0)
        };
        assert_eq!((others(merges(1.0)), others(merges(0.0))), (4, 8));
    }

    #[test]
    fn a_test_waits_while_it_would_evict_a_block_without_data() {
        let merges = Merges { every_switch: 1.0, takes: None, is_one_run: false, too_many: Some(4) };
        let classifier = SlowClassifier::from_baseline(&[FAST; 8]).unwrap();
        let mut posterior = FirstBlocks::new(classifier, &[FAST; 8], Some(merges));
        (0..NOT_NOISE as u32).for_each(|_| posterior.open(None, SLOW));
        posterior.open(Some(0), SLOW);
        // The third opening after the first block evicts it.
        (0..2).for_each(|_| posterior.open(None, SLOW));
        assert!(!posterior.is_ready());
        posterior.open(None, FAST);
        assert!(posterior.is_ready());
    }

    #[test]
    fn a_single_slow_block_may_be_a_stall() {
        assert_eq!(opened(&[true]).next(10), Some(1));
        assert_eq!(opened(&[true, true]).next(10), None);
        let contradicted = opened(&[true, false, false, true, true]);
        assert!(contradicted.end().1 < 0.95, "{:?}", contradicted.end());
    }

    #[test]
    fn without_all_slots_taken_no_block_is_tested() {
        let mut posterior =
            FirstBlocks::new(SlowClassifier::from_baseline(&[FAST; 8]).unwrap(), &[FAST; 8], None);
        [SLOW, SLOW, FAST, SLOW].into_iter().for_each(|latency| posterior.open(None, latency));
        posterior.open(Some(0), FAST);
        assert!(!posterior.are_slots_taken() && posterior.tested() == 0 && posterior.end().0 == 0);
    }

    #[test]
    fn after_fast_openings_the_next_block_is_tested() {
        let posterior = opened(&[false; 4]);
        assert_eq!((posterior.next(10), posterior.next(4)), (Some(4), None));
    }
}
