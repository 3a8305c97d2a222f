//! Where the area of finely mapped first erase blocks ends, by what it costs to begin each of them.

use std::time::Duration;

use super::Slowness;
use crate::inference::statistics::median;

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
/// So sure is enough.
const DECIDED: f64 = 0.99;
/// After one of the first blocks was begun so many ordinary ones are: the first of them may put that block aside, which may cost
/// nothing.
const BETWEEN: u32 = 2;
/// If that does not show any more with so many one behind the other, what went before was something else: other blocks that were open,
/// say. Unless one of the first blocks was seen to put another aside as well.
const QUICK_MAX: u32 = 6;
/// Behind the first ordinary block so many others are asked too.
const BEHIND: u32 = 2;

/// End, how often beginning shows, how often it stalls, and the logarithm of how probable that is.
type Weight = (u32, f64, f64, f64);

/// The probability of every end of the area, block by block that was begun.
#[derive(Debug, Clone)]
pub struct FirstBlocks {
    slowness: Slowness,
    /// What is believed now.
    weights: Vec<Weight>,
    /// The same before all places were taken.
    begun: Vec<Weight>,
    /// Ordinary blocks that were slow to begin one behind the other, until those were enough.
    taken: u32,
    /// Ordinary blocks since one of the first, and how many of the last were quick.
    between: u32,
    quick: u32,
    slow_seconds: Vec<f64>,
    asked: [u32; FIRST_BLOCKS as usize],
}

impl FirstBlocks {
    /// Before the first block was begun. A beginning is slow by `slowness`, and so may be a write that goes on in a block, as
    /// these did: that is a stall.
    #[must_use]
    pub fn new(slowness: Slowness, going_on: &[Duration]) -> Self {
        let mut belief = Self::before(slowness);
        for latency in going_on {
            let slow = slowness.probability(*latency);
            for (.., stalls, weight) in &mut belief.weights {
                *weight += (*stalls * slow + (1.0 - *stalls) * (1.0 - slow)).ln();
            }
        }
        belief.begun = belief.weights.clone();
        belief
    }

    fn before(slowness: Slowness) -> Self {
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
            weights: weights.collect(),
            begun: Vec::new(),
            taken: 0,
            between: 0,
            quick: 0,
            slow_seconds: Vec::new(),
            asked: [0; FIRST_BLOCKS as usize],
        }
    }

    /// Takes the beginning of a block into account: one of the first by its number, or an ordinary one. It tells something only
    /// behind an ordinary one that put another aside.
    pub fn begin(&mut self, block: Option<u32>, latency: Duration) {
        let slow = self.slow(block, latency);
        let tells = if block.is_some() {
            self.is_ready()
        } else {
            self.are_places_taken() && (1..QUICK_MAX).contains(&self.between)
        };
        if tells {
            self.weigh(block, slow);
        }
        match block {
            Some(block) => {
                self.between = 0;
                if let Some(asked) = self.asked.get_mut(block as usize).filter(|_| tells) {
                    *asked += 1;
                }
            }
            None => {
                self.between += 1;
                self.quick = if slow > 0.5 { 0 } else { self.quick + 1 };
                self.slow_seconds.extend((self.quick == 0).then_some(latency.as_secs_f64()));
                self.taken = if self.quick == 0 || self.are_places_taken() { self.taken + 1 } else { 0 };
                if self.are_places_taken() && self.quick >= QUICK_MAX && self.asked() <= self.end().0 + 1 {
                    let weights = self.begun.clone();
                    *self = Self {
                        weights,
                        begun: std::mem::take(&mut self.begun),
                        ..Self::before(self.slowness)
                    };
                }
            }
        }
    }

    /// How likely this was slow. One of the first blocks is held against what it cost to put others aside: a stall takes less.
    fn slow(&self, block: Option<u32>, latency: Duration) -> f64 {
        let typical = self.slowness.typical_seconds();
        let merges = median(&self.slow_seconds).filter(|_| block.is_some()).map(|seconds| seconds - typical);
        self.slowness.for_merges(merges).probability(latency)
    }

    fn weigh(&mut self, block: Option<u32>, slow: f64) {
        for (end, shows, stalls, weight) in &mut self.weights {
            let likely = if block.is_some_and(|block| block < *end) { *stalls } else { *shows };
            *weight += (likely * slow + (1.0 - likely) * (1.0 - slow)).ln();
        }
    }

    /// Whether enough ordinary blocks were begun before one of the first, and the last of them put another aside.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        self.are_places_taken() && self.between >= BETWEEN && self.quick == 0
    }

    /// Whether beginning an ordinary block puts another aside, and shows.
    #[must_use]
    pub const fn are_places_taken(&self) -> bool {
        self.taken >= TAKEN
    }

    /// The first block that is most probably ordinary, and how probable that is; the last one for none of them.
    #[must_use]
    pub fn end(&self) -> (u32, f64) {
        let best = self.weights.iter().map(|(.., weight)| *weight).fold(f64::NEG_INFINITY, f64::max);
        let mut ends = [0.0; FIRST_BLOCKS as usize + 1];
        for (end, .., weight) in &self.weights {
            ends[*end as usize] += (weight - best).exp();
        }
        let total: f64 = ends.iter().sum();
        let most = (0..).zip(ends).max_by(|(_, a), (_, b)| a.total_cmp(b));
        most.map_or((0, 0.0), |(end, weight)| (end, weight / total))
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
        (probability < DECIDED || !is_seen_twice)
            .then(|| (0..last).find(|block| self.asked[*block as usize] == 0))
            .flatten()
    }

    /// The last block of the area, if it is in doubt whether it belongs there: beginning it once more tells, when it would have
    /// been put aside since.
    #[must_use]
    pub fn doubtful(&self) -> Option<u32> {
        let (end, probability) = self.end();
        (probability < DECIDED && end <= self.asked()).then(|| end.checked_sub(1)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: Duration = Duration::from_millis(4);
    const SLOW: Duration = Duration::from_millis(90);

    fn belief() -> FirstBlocks {
        let mut belief = FirstBlocks::new(Slowness::beyond(&[QUICK; 8]).unwrap(), &[QUICK; 8]);
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
        assert_eq!((two.next(10), two.doubtful()), (None, Some(1)));
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
        let mut belief = FirstBlocks::new(Slowness::beyond(&[QUICK; 8]).unwrap(), &[QUICK; 8]);
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
