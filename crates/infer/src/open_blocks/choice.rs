//! Which write tells most of how many units can be open, for the time it takes.
//!
//! Where the unit written longest ago has to go, a single write decides whether as many fit as were written since: so the
//! search bisects with what is open already. Where any has to go, only whole turns tell.

use crate::open_blocks::laws::Law;
use crate::open_blocks::limits::{DECIDED, OPEN_MAX};
use crate::open_blocks::posterior::Belief;
use crate::statistics::{count, entropy, median};

/// One more than any that is told from more.
const BEYOND_ALL: u32 = OPEN_MAX + 1;
/// Among few units one that goes by chance is mostly the one written longest ago: there it takes less.
const FEW: u32 = 4;
const DECIDED_OF_FEW: f64 = 0.0001;
/// While fewer than are open now are no more plausible than this, more are opened rather than these written again.
const GROWS_BELOW: f64 = 0.05;
/// Once units took whole turns because any may have to go, they go on so until that is less likely than this.
const STAYS_ANY: f64 = 0.1;
/// Where any unit may have to go, a number is given up once it is no more likely than this.
const GIVEN_UP: f64 = 0.002;
/// Of up to so many even less: what held a place before goes by chance, a few more merges cost little there, and one that stays for as
/// many as are usual makes the number one too small.
const FEW_OF_ANY: u32 = 10;
const GIVEN_UP_OF_FEW: f64 = 0.0005;
/// Where stalls come in between, as many as were found need not be seen open at once: after so many turns it is enough.
const TURNS_TO_PROVE: u32 = 2;
/// So many stalls come in between, and then a number fits that is as likely as this, unless it is that sure that any may have to go.
const STALLS: f64 = 0.005;
const FITS_BY_STALLS: f64 = 0.95;
const ANY_BY_STALLS: f64 = 0.9;
/// From so many open units on the search gallops: most cards have fewer.
const GALLOP_FROM: u32 = 8;
/// And as long as half as many again fit with more than this probability.
const GALLOP_OPEN: f64 = 0.3;
/// So many units must have been opened before their mean tells what opening one costs.
const OPENINGS_MIN: usize = 3;
/// Until one was seen, a merge is taken to cost as much as so many writes.
const MERGE_GUESS: f64 = 60.0;
/// So many merges in a row tell that a number is too large.
const MERGES_TO_TELL: u32 = 4;
/// What to write next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Fresh units, until so many were written.
    Open(u32),
    /// So many writes, each into the unit written longest ago of this `number` of units.
    Turn {
        /// How many units take turns.
        number: u32,
        /// How many writes.
        writes: u32,
    },
}

impl Belief {
    /// What to write next; `None` once the number is decided, or if only more than `most` units would tell.
    #[must_use]
    pub fn next(&self, most: u32) -> Option<Step> {
        if self.law(Law::Any) > if self.whole_turns { STAYS_ANY } else { 0.5 } {
            return self.next_where_any_goes(most).map(|number| self.all_of(number));
        }
        let fewer = self.fewer();
        let opened = self.opened().min(most);
        let is_open_question = |number: u32| {
            let decided = if number <= FEW { DECIDED_OF_FEW } else { DECIDED };
            (decided..=1.0 - decided).contains(&fewer[number as usize])
        };
        let may_grow = (opened + 1..=most.min(BEYOND_ALL)).any(is_open_question);
        let far = opened * 3 / 2;
        // Out of order hardly more fit than in order.
        let far =
            self.most_likely().filter(|likely| opened <= *likely).map_or(far, |likely| far.min(likely + 1));
        let grow = Step::Open((opened + 1).max(far).min(most));
        if may_grow && fewer[opened as usize] < GROWS_BELOW {
            return Some(grow);
        }
        let merge = self.merge_costs_seconds();
        let told = |number: u32| {
            let cost = self.slowness().typical_seconds() * 2.0 + fewer[number as usize] * merge;
            entropy(fewer[number as usize]) / cost
        };
        let best = (1..=opened)
            .filter(|number| is_open_question(*number))
            .max_by(|one, other| told(*one).total_cmp(&told(*other)));
        match best {
            Some(number) => Some(Step::Turn { number, writes: 1 }),
            None if may_grow => Some(grow),
            None => self.unproven(most).map(|number| self.all_of(number)).or_else(|| self.untried(most)),
        }
    }

    /// One more than the number found, if no more were ever opened: what is held impossible has to be seen.
    fn untried(&self, most: u32) -> Option<Step> {
        let number = self.verdict().number;
        let is_untried = number > 0 && number < most.min(BEYOND_ALL) && self.ever_opened() <= number;
        is_untried.then_some(Step::Open(number + 1))
    }

    /// Each of so many units once, or what has to be opened for that.
    #[must_use]
    pub fn all_of(&self, number: u32) -> Step {
        if number > self.opened() { Step::Open(number) } else { Step::Turn { number, writes: number } }
    }

    /// Where any unit may have to go, those that take turns hold all places only once everything else had to go, and that takes
    /// as many merges as there are places: so a number is kept until it was seen open at once, or is hardly possible any more.
    fn next_where_any_goes(&self, most: u32) -> Option<u32> {
        let fewer = self.fewer();
        let fits = |number: u32| 1.0 - fewer[number as usize];
        let may_fit =
            |number: u32| fits(number) > if number <= FEW_OF_ANY { GIVEN_UP_OF_FEW } else { GIVEN_UP };
        let proven = self.most_proven();
        // A stall looks like a merge, and what was seen open has to be seen anew.
        let by_stalls = self.stalls() > STALLS
            && self.law(Law::Any) < ANY_BY_STALLS
            && self.turns > TURNS_TO_PROVE
            && fits(self.turning) > FITS_BY_STALLS;
        if self.turning > proven && self.turning <= most && may_fit(self.turning) && !by_stalls {
            return Some(self.turning);
        }
        let proven = if by_stalls { proven.max(self.turning) } else { proven };
        let larger = proven + 1..=most.min(BEYOND_ALL);
        let likely = larger.clone().take_while(|number| fits(*number) >= 0.5).last();
        let next = || larger.clone().next().filter(|number| may_fit(*number));
        // Where merges may hide, what was seen open at once is not proven.
        let hardly = |number: &u32| (GIVEN_UP..1.0 - GIVEN_UP).contains(&fits(*number));
        // What is held impossible by what fewer did has to be seen too many by itself.
        let untried = || larger.clone().next().filter(|number| *number > self.most_turned);
        likely.or_else(next).or_else(|| (1..=proven.min(most)).rev().find(hardly)).or_else(untried)
    }

    /// So many units take turns from now on, for so many writes.
    pub fn turn(&mut self, number: u32, writes: u32) {
        self.whole_turns = writes > 1;
        if self.whole_turns {
            self.most_turned = self.most_turned.max(number);
        }
        self.turns = if self.turning == number { self.turns + 1 } else { 0 };
        self.turning = number;
    }

    /// Whether it is hardly likely that fewer fit than were opened.
    #[must_use]
    pub fn all_fit_so_far(&self) -> bool {
        self.fewer()[self.opened().min(BEYOND_ALL) as usize] < GROWS_BELOW
    }

    /// Whether many units take whole turns, because any may have to go, and some are full before that tells.
    #[must_use]
    pub fn whole_turns_end(&self) -> bool {
        self.whole_turns && self.turning > GALLOP_FROM && self.has_retired()
    }

    /// How many units to write in turn next: the number of which a round tells most per second. `None` once that is
    /// decided, or if only more than `most` would tell.
    #[must_use]
    pub fn next_round(&self, most: u32) -> Option<u32> {
        let fewer = self.fewer();
        let merge = self.merge_costs_seconds();
        let least = if self.is_open() { self.most_proven() } else { 0 };
        let told =
            |number: u32| entropy(fewer[number as usize]) / self.cost(number, fewer[number as usize], merge);
        let best = (least + 1..=most.min(BEYOND_ALL))
            .filter(|number| (DECIDED..=1.0 - DECIDED).contains(&fewer[*number as usize]))
            .max_by(|one, other| told(*one).total_cmp(&told(*other)));
        best.map(|number| self.at_least_half_more(number).min(most)).or_else(|| self.unproven(most))
    }

    /// The probability that fewer units fit than this index says, from 0 to [`OPEN_MAX`] + 1.
    fn fewer(&self) -> Vec<f64> {
        let mut below = 0.0;
        let sum = |number: f64| {
            let fewer = below;
            below += number;
            fewer
        };
        self.numbers().into_iter().map(sum).collect()
    }

    /// While no number of units is known to be too many, a larger step costs little more than a small one.
    fn at_least_half_more(&self, number: u32) -> u32 {
        if self.is_open() { number.max(self.most_proven() * 3 / 2) } else { number }
    }

    /// Whether many were seen open at once, and half as many again may well be.
    fn is_open(&self) -> bool {
        let proven = self.most_proven();
        let far = (proven * 3 / 2).min(OPEN_MAX);
        proven >= GALLOP_FROM && self.numbers().iter().skip(far as usize).sum::<f64>() > GALLOP_OPEN
    }

    /// The number found, if so many were not yet seen to be open at once.
    fn unproven(&self, most: u32) -> Option<u32> {
        let verdict = self.verdict();
        let is_tried =
            self.law(Law::Any) < 0.5 && self.turning == verdict.number && self.turns > TURNS_TO_PROVE;
        (verdict.tells(most + 1) && self.most_proven() < verdict.number && !is_tried)
            .then_some(verdict.number)
    }

    /// What a slow write takes, seconds: as seen, or a guess.
    fn merge_costs_seconds(&self) -> f64 {
        median(&self.slow_seconds).unwrap_or(self.slowness().typical_seconds() * MERGE_GUESS)
    }

    /// What a round of `number` writes takes, seconds, if it is too many with the probability `fewer`.
    fn cost(&self, number: u32, fewer: f64, merge: f64) -> f64 {
        let writes = f64::from(number) * self.slowness().typical_seconds();
        let merges = fewer * f64::from(number.min(MERGES_TO_TELL)) * merge;
        let opening = match self.openings_seconds.len() {
            0..OPENINGS_MIN => merge / 2.0,
            seen => self.openings_seconds.iter().sum::<f64>() / count(seen),
        };
        let openings = f64::from(number.saturating_sub(self.ever_opened())) * opening;
        writes * 2.0 + merges + openings + merge
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::open_blocks::prior::Prior;
    use crate::slow_classifier::SlowClassifier;
    use flashscope_record::observation::Order;

    const QUICK: Duration = Duration::from_millis(2);
    const SLOW: Duration = Duration::from_millis(90);

    /// A controller with so many places, all of them taken by others at first.
    struct Controller {
        placed: Vec<u32>,
        /// Draws which one has to go; without it the one written longest ago.
        chance: Option<u64>,
    }

    impl Controller {
        fn write(&mut self, unit: u32) -> Duration {
            let place = self.placed.iter().position(|other| *other == unit);
            let latency = if place.is_some() { QUICK } else { SLOW };
            let goes = place.unwrap_or_else(|| match &mut self.chance {
                None => 0,
                Some(state) => {
                    *state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (*state >> 33) as usize % self.placed.len()
                }
            });
            self.placed.remove(goes);
            self.placed.push(unit);
            latency
        }
    }

    /// Searches, and says what was found after how many writes.
    fn search(places: u32, chance: Option<u64>) -> (u32, usize) {
        let mut controller = Controller { placed: (1000..1000 + places).collect(), chance };
        let slowness = SlowClassifier::beyond(&[QUICK; 5]).unwrap();
        let mut belief = Belief::new(Order::Linear, slowness, Prior::Linear);
        while let Some(step) = belief.next(BEYOND_ALL).filter(|_| belief.writes() < 10_000) {
            match step {
                Step::Open(number) => (belief.opened()..number).for_each(|unit| {
                    let latency = controller.write(unit);
                    belief.write(unit, latency);
                }),
                Step::Turn { number, writes } => {
                    belief.turn(number, writes);
                    for _ in 0..writes {
                        let (unit, _) = belief.longest_ago_of(number).unwrap();
                        belief.write(unit, controller.write(unit));
                    }
                }
            }
        }
        (belief.verdict().number, belief.writes())
    }

    #[test]
    fn where_the_oldest_goes_a_few_writes_for_each_place_tell_their_number() {
        for places in (1..=12).chain([17, 31, 64, 100, 127, 128]) {
            let (found, writes) = search(places, None);
            assert_eq!(found, places);
            assert!(writes <= 40 + 4 * places as usize, "{places}: {writes} writes");
        }
    }

    #[test]
    fn where_any_of_many_goes_some_three_merges_a_place_more_than_all_need_tell() {
        for seed in 1..=3 {
            let (found, writes) = search(40, Some(seed * 977 + 5));
            assert_eq!(found, 40, "after {writes} writes");
            assert!(writes < 8000, "{writes}");
        }
    }

    #[test]
    fn where_any_goes_it_is_found_mostly() {
        let wrong = (1..=8).flat_map(|places| (0..4).map(move |seed| (places, seed)));
        let wrong: Vec<_> =
            wrong.filter(|(places, seed)| search(*places, Some(seed * 977 + 5)).0 != *places).collect();
        assert!(wrong.len() <= 2, "{wrong:?}");
    }

    #[test]
    fn out_of_order_hardly_more_are_opened_than_fit_in_order() {
        let prior = Prior::Random { linear: Some(50), every_switch: 0.98, hides: 0.02 };
        let mut belief = Belief::new(Order::Random, SlowClassifier::beyond(&[QUICK; 5]).unwrap(), prior);
        let mut opened = Vec::new();
        while let Some(step) = belief.next(BEYOND_ALL).filter(|_| belief.opened() < 60) {
            let units = match step {
                Step::Open(number) => {
                    opened.push(number);
                    belief.opened()..number
                }
                Step::Turn { number, .. } => {
                    let (unit, _) = belief.longest_ago_of(number).unwrap();
                    unit..unit + 1
                }
            };
            units.for_each(|unit| (0..2).for_each(|_| belief.write(unit, QUICK)));
        }
        assert!(opened.contains(&51) && opened.len() > 8, "{opened:?}");
    }
}
