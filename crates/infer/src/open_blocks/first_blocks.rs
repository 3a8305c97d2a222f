//! Where the area of finely mapped first erase blocks ends, by what it costs to begin each of them.

use std::time::Duration;

use flashscope_record::observation::Merges;

use crate::slow_classifier::SlowClassifier;
use crate::statistics::quantile;

/// So many of the first erase blocks may be mapped finely for the FAT: no FAT area beyond 16 MiB was ever reported, but
/// blocks grow.
pub const FIRST_BLOCKS: u32 = 10;
/// How plausible a FAT area is before anything was seen: most cards and sticks have none.
const AREA: f64 = 0.25;
/// How plausible it is that an area goes on for another block.
const NEXT: f64 = 0.5;
/// How often beginning a block is slow that puts another aside, with how plausible that is: the other may be put aside already,
/// or nearly full.
const SHOWS: [(f64, f64); 4] = [(0.999, 0.6), (0.99, 0.2), (0.9, 0.15), (0.5, 0.05)];
/// How often it is slow for another reason.
const STALLS: [(f64, f64); 5] = [(0.0005, 0.4), (0.002, 0.3), (0.01, 0.2), (0.05, 0.07), (0.2, 0.03)];
/// So many ordinary blocks in a row must have been slow to begin: all places are taken then.
const TAKEN: u32 = 3;
/// So sure is enough: where a stall is seen once in 500 writes, a single slow one does not decide.
const DECIDED: f64 = 0.998;
/// After one of the first blocks was begun so many ordinary ones are: the first of them may put that block aside, which may cost
/// nothing.
const BETWEEN: u32 = 2;
/// If that does not show any more with so many one behind the other, what went before was something else: other blocks that were open,
/// say. Unless one of the first blocks was seen to put another aside as well.
const QUICK_MAX: u32 = 6;
/// Behind the first ordinary block so many others are asked too.
const BEHIND: u32 = 2;
/// What it costs to put another aside is no less than for this share of those that were seen.
const SHORT: f64 = 0.2;
/// A block is not begun again before it is open still with this probability at most.
const OPEN_MAX: f64 = 0.1;
/// Nor more often than this: then it is not chance that leaves it undecided.
const ASKED_MAX: u32 = 8;

/// End, how often beginning shows, how often it stalls, and the logarithm of how probable that is.
type Weight = (u32, f64, f64, f64);

/// The probability of every end of the area, block by block that was begun.
#[derive(Debug, Clone)]
pub struct FirstBlocks {
    slowness: SlowClassifier,
    /// Of so many blocks one at least is not open, and how likely that is the one written longest ago.
    too_many: u32,
    in_order: f64,
    /// What is believed now.
    weights: Vec<Weight>,
    /// The same before all places were taken.
    opened: Vec<Weight>,
    /// Ordinary blocks that were slow to begin one behind the other, until those were enough.
    taken: u32,
    /// Ordinary blocks since one of the first, and how many of the last were quick.
    between: u32,
    quick: u32,
    slow_seconds: Vec<f64>,
    asked: [u32; FIRST_BLOCKS as usize],
    /// How many ordinary ones were begun since each of the first was.
    since: [Option<u32>; FIRST_BLOCKS as usize],
    /// Each block that took a place, in order: whether it is one of the first, begun for the first time.
    placed: Vec<bool>,
}

impl FirstBlocks {
    /// Before the first block was begun. A beginning is slow by `slowness`, and so may be a write that goes on in a block, as
    /// these did: that is a stall.
    #[must_use]
    pub fn new(slowness: SlowClassifier, going_on: &[Duration], merges: Option<Merges>) -> Self {
        let takes = merges.and_then(|merges| merges.takes).map(|takes| takes.as_secs_f64());
        let mut belief = Self::before(slowness.for_any_merges(takes), merges);
        for latency in going_on {
            let slow = belief.slowness.probability(*latency);
            for (.., stalls, weight) in &mut belief.weights {
                *weight += (*stalls * slow + (1.0 - *stalls) * (1.0 - slow)).ln();
            }
        }
        belief.opened = belief.weights.clone();
        belief
    }

    fn before(slowness: SlowClassifier, merges: Option<Merges>) -> Self {
        let prior = |end: u32| match end {
            0 => 1.0 - AREA,
            FIRST_BLOCKS => AREA * NEXT.powi(FIRST_BLOCKS.cast_signed() - 1),
            _ => AREA * NEXT.powi(end.cast_signed()),
        };
        let weights = (0..=FIRST_BLOCKS).flat_map(|end| {
            SHOWS.into_iter().flat_map(move |(shows, plausible)| {
                STALLS.map(|(stalls, rate)| (end, shows, stalls, (prior(end) * plausible * rate).ln()))
            })
        });
        Self {
            slowness,
            too_many: merges.and_then(|merges| merges.too_many).unwrap_or(0),
            in_order: merges.map_or(1.0, |merges| merges.every_switch.clamp(0.0, 1.0)),
            weights: weights.collect(),
            opened: Vec::new(),
            taken: 0,
            between: 0,
            quick: 0,
            slow_seconds: Vec::new(),
            asked: [0; FIRST_BLOCKS as usize],
            since: [None; FIRST_BLOCKS as usize],
            placed: Vec::new(),
        }
    }

    /// Takes the beginning of a block into account: one of the first by its number, or an ordinary one. It tells something only
    /// behind an ordinary one that put another aside.
    pub fn begin(&mut self, block: Option<u32>, latency: Duration) {
        let slow = self.slow(block, latency);
        let is_for_nothing = self.is_next_for_nothing();
        match block {
            Some(block) => self.begin_first(block, slow),
            None => {
                if self.are_places_taken() && (1..QUICK_MAX).contains(&self.between) && !is_for_nothing {
                    self.weigh(None, slow);
                }
                self.begin_ordinary(slow, latency, is_for_nothing);
            }
        }
    }

    fn begin_first(&mut self, block: u32, slow: f64) {
        let index = block as usize;
        if self.is_ready() {
            self.weigh(Some(block), slow);
            if let Some(asked) = self.asked.get_mut(index) {
                *asked += 1;
            }
        }
        if slow > 0.5 {
            self.placed.push(self.since.get(index) == Some(&None));
        }
        if let Some(since) = self.since.get_mut(index) {
            *since = Some(0);
        }
        self.between = 0;
    }

    fn begin_ordinary(&mut self, slow: f64, latency: Duration, is_for_nothing: bool) {
        self.placed.push(false);
        self.since.iter_mut().flatten().for_each(|since| *since += 1);
        self.between += 1;
        if slow <= 0.5 && is_for_nothing {
            return;
        }
        self.quick = if slow > 0.5 { 0 } else { self.quick + 1 };
        self.slow_seconds.extend((self.quick == 0).then_some(latency.as_secs_f64()));
        self.taken = if self.quick == 0 || self.are_places_taken() { self.taken + 1 } else { 0 };
        if self.are_places_taken() && self.quick >= QUICK_MAX && self.asked() <= self.end().0 + 1 {
            self.forget();
        }
    }

    /// What went before was something else: all but what is open is forgotten.
    fn forget(&mut self) {
        self.weights.clone_from(&self.opened);
        (self.taken, self.between, self.quick) = (0, 0, 0);
        self.slow_seconds.clear();
        self.asked = [0; FIRST_BLOCKS as usize];
    }

    /// Whether the next block to be begun puts one of the first aside that was never written before: that may cost nothing.
    fn is_next_for_nothing(&self) -> bool {
        let places = (self.too_many.max(2) - 1) as usize;
        self.placed.len().checked_sub(places).is_some_and(|aside| self.placed[aside])
    }

    /// How likely this was slow. Each is held against what it has cost to put others aside here: a stall takes less than that, and
    /// an ordinary block may take less than elsewhere.
    fn slow(&self, block: Option<u32>, latency: Duration) -> f64 {
        let typical = self.slowness.typical_seconds();
        let merges = quantile(&self.slow_seconds, SHORT).map(|seconds| seconds - typical);
        let slowness = match block {
            Some(_) => self.slowness.for_merges(merges),
            None if self.are_places_taken() => self.slowness.for_any_merges(merges),
            None => self.slowness,
        };
        slowness.probability(latency)
    }

    fn weigh(&mut self, block: Option<u32>, slow: f64) {
        let open = block.map_or(0.0, |block| self.open(block));
        for (end, shows, stalls, weight) in &mut self.weights {
            let ordinary = *shows * (1.0 - open) + *stalls * open;
            let likely = if block.is_some_and(|block| block < *end) { *stalls } else { ordinary };
            *weight += (likely * slow + (1.0 - likely) * (1.0 - slow)).ln();
        }
    }

    /// How likely one of the first blocks is open still, if it is ordinary: then it puts none aside.
    fn open(&self, block: u32) -> f64 {
        let since = self.since.get(block as usize).copied().flatten();
        since.map_or(0.0, |since| self.open_after(since))
    }

    /// How likely a block is open still after so many others.
    fn open_after(&self, others: u32) -> f64 {
        let places = f64::from(self.too_many.max(2) - 1);
        let in_any_order = (1.0 - 1.0 / places).powf(f64::from(others));
        let in_order = if others < self.too_many { 1.0 } else { 0.0 };
        self.in_order * in_order + (1.0 - self.in_order) * in_any_order
    }

    /// Whether enough ordinary blocks were begun before one of the first, and the last of them put another aside.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.are_places_taken() && self.between >= BETWEEN && self.quick == 0 && !self.is_next_for_nothing()
    }

    /// So many ordinary blocks have to be begun at least before this one of the first tells anything.
    #[must_use]
    pub fn others_before(&self, block: u32) -> u32 {
        let Some(since) = self.since.get(block as usize).copied().flatten() else { return 0 };
        (since..).find(|others| self.open_after(*others) <= OPEN_MAX).map_or(0, |others| others - since)
    }

    /// Whether beginning an ordinary block puts another aside, and shows.
    #[must_use]
    pub const fn are_places_taken(&self) -> bool {
        self.taken >= TAKEN
    }

    /// The first block that is most probably ordinary, and how probable that is; the last one for none of them.
    #[must_use]
    pub fn end(&self) -> (u32, f64) {
        let ends = self.ends();
        let most = (0..).zip(ends).max_by(|(_, a), (_, b)| a.total_cmp(b));
        most.unwrap_or((0, 0.0))
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

    /// How many of the first blocks were begun once all places were taken.
    #[must_use]
    pub fn asked(&self) -> u32 {
        self.asked.iter().map(|asked| u32::from(*asked > 0)).sum()
    }

    /// Which of so many first blocks to begin next; `None` once that would tell nothing new.
    #[must_use]
    pub fn next(&self, count: u32) -> Option<u32> {
        let (end, probability) = self.end();
        let last = count.min(FIRST_BLOCKS).min(end + 1 + BEHIND);
        // A single slow one may be a stall.
        let is_seen_twice = self.asked() > end + 1;
        if probability >= DECIDED && is_seen_twice {
            return None;
        }
        (0..last).find(|block| self.asked[*block as usize] == 0).or_else(|| self.again(count))
    }

    /// Which of so many first blocks to begin once more: the two ends that are most probable differ in what it costs.
    fn again(&self, count: u32) -> Option<u32> {
        let (end, probability) = self.end();
        if probability >= DECIDED {
            return None;
        }
        let others = (0..).zip(self.ends()).filter(|(other, _)| *other != end);
        let (other, _) = others.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let between = end.min(other)..end.max(other).min(count);
        let least = between.min_by_key(|block| self.asked[*block as usize])?;
        (self.asked[least as usize] < ASKED_MAX).then_some(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: Duration = Duration::from_millis(4);
    const SLOW: Duration = Duration::from_millis(90);

    fn belief() -> FirstBlocks {
        let mut belief = FirstBlocks::new(SlowClassifier::beyond(&[QUICK; 8]).unwrap(), &[QUICK; 8], None);
        (0..TAKEN).for_each(|_| belief.begin(None, SLOW));
        belief
    }

    fn begun(slow: &[bool]) -> FirstBlocks {
        let mut belief = belief();
        for (block, slow) in (0..).zip(slow) {
            belief.begin(Some(block), if *slow { SLOW } else { QUICK });
            // An ordinary block that is put aside for the first time may cost nothing.
            belief.begin(None, QUICK);
            belief.begin(None, SLOW);
        }
        belief
    }

    #[test]
    fn the_area_ends_before_the_first_block_that_puts_another_aside() {
        assert_eq!(begun(&[true, true]).end().0, 0);
        assert!(begun(&[true, true]).end().1 > 0.99);
        let two = begun(&[false, false, true, true, true]);
        assert!(two.end().0 == 2 && two.end().1 > 0.9, "{:?}", two.end());
    }

    #[test]
    fn what_is_in_doubt_is_begun_again_until_it_is_not() {
        let mut belief = begun(&[true, false, true, true, true]);
        let mut asked = Vec::new();
        while let Some(block) = belief.next(10) {
            asked.push(block);
            belief.begin(Some(block), if block < 2 { QUICK } else { SLOW });
            belief.begin(None, QUICK);
            belief.begin(None, SLOW);
        }
        assert!(belief.end().0 == 2 && belief.end().1 > 0.99, "{:?} after {asked:?}", belief.end());
        assert!(asked.contains(&0) && asked.len() < 8, "{asked:?}");
    }

    #[test]
    fn a_block_is_begun_again_once_it_is_open_no_more() {
        let merges =
            |every_switch| Some(Merges { every_switch, takes: None, is_one_run: false, too_many: Some(5) });
        let others = |merges| {
            let mut belief =
                FirstBlocks::new(SlowClassifier::beyond(&[QUICK; 8]).unwrap(), &[QUICK; 8], merges);
            assert_eq!(belief.others_before(0), 0);
            (0..TAKEN).for_each(|_| belief.begin(None, SLOW));
            belief.begin(Some(0), SLOW);
            belief.begin(None, SLOW);
            belief.others_before(0)
        };
        assert_eq!((others(merges(1.0)), others(merges(0.0))), (4, 8));
    }

    #[test]
    fn a_block_that_was_never_written_is_not_put_aside_by_one_that_is_asked() {
        let merges = Merges { every_switch: 1.0, takes: None, is_one_run: false, too_many: Some(4) };
        let slowness = SlowClassifier::beyond(&[QUICK; 8]).unwrap();
        let mut belief = FirstBlocks::new(slowness, &[QUICK; 8], Some(merges));
        (0..TAKEN).for_each(|_| belief.begin(None, SLOW));
        belief.begin(Some(0), SLOW);
        // The third behind the first block puts that aside.
        (0..2).for_each(|_| belief.begin(None, SLOW));
        assert!(!belief.is_ready());
        belief.begin(None, QUICK);
        assert!(belief.is_ready());
    }

    #[test]
    fn a_single_slow_block_may_be_a_stall() {
        assert_eq!(begun(&[true]).next(10), Some(1));
        assert_eq!(begun(&[true, true]).next(10), None);
        let contradicted = begun(&[true, false, false, true, true]);
        assert!(contradicted.end().1 < 0.95, "{:?}", contradicted.end());
    }

    #[test]
    fn nothing_is_told_before_all_places_are_taken() {
        let mut belief = FirstBlocks::new(SlowClassifier::beyond(&[QUICK; 8]).unwrap(), &[QUICK; 8], None);
        [SLOW, SLOW, QUICK, SLOW].into_iter().for_each(|latency| belief.begin(None, latency));
        belief.begin(Some(0), QUICK);
        assert!(!belief.are_places_taken() && belief.asked() == 0 && belief.end().0 == 0);
    }

    #[test]
    fn as_long_as_none_is_slow_the_next_one_is_asked() {
        let belief = begun(&[false; 4]);
        assert_eq!((belief.next(10), belief.next(4)), (Some(4), None));
    }
}
