//! The probability of every number of open units, write by write.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::Slowness;
use super::laws::{Law, Places, Touch, Way};
use crate::inference::statistics::{count, entropy, median};
use crate::observation::Order;

/// The largest number of open units that is told from more. More than the largest cards have that were measured.
pub const OPEN_MAX: u32 = 128;

/// How often a write is slow without a merge: from a quiet stick to one that stalls at every third write, with how
/// plausible that is before anything was seen.
const STALLS: [(f64, f64); 6] =
    [(0.0005, 0.34), (0.002, 0.3), (0.01, 0.2), (0.04, 0.1), (0.12, 0.04), (0.35, 0.02)];
/// How often a merge does not show: it was done before, or behind the transfer.
const HIDDEN: f64 = 0.01;
/// A block that lacks no more than so many writes is merged too quickly to show.
const NEARLY_FULL: f64 = 1.5;
/// How plausible it is that one block too many costs a merge at every switch, before anything was seen.
const LEAST_RECENT: f64 = 0.7;
/// The law is never known better than this.
const LAW_DOUBT: f64 = 0.01;
/// More than [`OPEN_MAX`], or none at all.
const MORE: f64 = 0.04;
/// Once every number has less than this against it, or all but this for it, the search is over.
const DECIDED: f64 = 0.001;
/// A unit that was written so often has a place, in any order.
const OPENED: u32 = 8;
/// What is less plausible than the best by e to this power is given up.
const IMPOSSIBLE: f64 = 25.0;

/// What is taken for plausible before the first write.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Prior {
    /// In linear order at least one unit is open. Most cards have one to eight (A. Bergmann, LWN 428584); powers of two
    /// are common.
    Linear,
    /// Out of order there are as many as in linear order, fewer, or none.
    Random {
        /// What was found in linear order, if anything was.
        linear: Option<u32>,
    },
    /// This number, or one more: whether one of the units takes no place.
    OneMore {
        /// The number that fits otherwise.
        fits: u32,
        /// How plausible one more is.
        plausible: f64,
    },
}

impl Prior {
    /// The prior of random order after the search in linear order.
    #[must_use]
    pub fn after(linear: &Belief) -> Self {
        let verdict = linear.verdict();
        Self::Random { linear: verdict.tells(OPEN_MAX).then_some(verdict.number) }
    }

    fn weight(self, number: u32) -> f64 {
        if let Self::OneMore { fits, plausible } = self {
            return match number.wrapping_sub(fits) {
                0 => 1.0 - plausible,
                1 => plausible,
                _ => 0.0,
            };
        }
        let powers = if number.is_power_of_two() { 2.0 } else { 1.0 };
        let falling = powers / f64::from(number + 2).powf(1.5);
        match (self, number) {
            (_, number) if number > OPEN_MAX => MORE,
            (Self::Linear, 0) => 0.0,
            (Self::Linear, _) => falling,
            (Self::Random { .. }, 0) => 0.4,
            (Self::Random { linear: Some(linear) }, number) if number == linear => 0.5 + falling,
            (Self::Random { linear: Some(linear) }, number) if number > linear => falling * 0.02,
            _ => falling,
        }
    }
}

/// One number of places under one law, with the logarithm of its weight for each rate of stalls.
#[derive(Debug, Clone)]
struct Hypothesis {
    places: Places,
    weights: [f64; STALLS.len()],
}

/// What the search says in the end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// The most probable number; [`OPEN_MAX`] + 1 stands for more.
    pub number: u32,
    /// Its probability.
    pub probability: f64,
    /// The interval that holds 95 %.
    pub low: u32,
    /// Its upper end.
    pub high: u32,
}

/// Below this probability the honest answer is unknown.
const PROBABILITY_MIN: f64 = 0.8;

impl Verdict {
    /// Whether one number is found, where up to `most` were tried.
    #[must_use]
    pub fn tells(&self, most: u32) -> bool {
        self.probability >= PROBABILITY_MIN && self.number < most
    }
}

/// The probability of every number of open units in one order.
#[derive(Debug, Clone)]
pub struct Belief {
    order: Order,
    slowness: Slowness,
    hypotheses: Vec<Hypothesis>,
    writes_into: HashMap<u32, (usize, u32)>,
    recent: Vec<usize>,
    proven: HashSet<usize>,
    proven_once: HashSet<usize>,
    most_proven: usize,
    writes: usize,
    full_after: u32,
    hidden: f64,
    slow_seconds: Vec<f64>,
    openings_seconds: Vec<f64>,
}

impl Belief {
    /// Before the first write.
    #[must_use]
    pub fn new(order: Order, slowness: Slowness, prior: Prior) -> Self {
        let ways: &[Way] = match order {
            Order::Linear => &[Way::AtOnce, Way::FirstFree],
            Order::Random => &[Way::AtOnce, Way::TwoSteps],
        };
        let shape = |law: Law| if law == Law::LeastRecent { LEAST_RECENT } else { 1.0 - LEAST_RECENT };
        let numbers = (0..=OPEN_MAX + 1).filter(|number| prior.weight(*number) > 0.0);
        let hypotheses = numbers.flat_map(|number| {
            [Law::LeastRecent, Law::Any].into_iter().flat_map(move |law| {
                ways.iter().filter(move |way| way.goes_with(law)).map(move |way| {
                    let weight = prior.weight(number) * shape(law) * way.plausible(order, law);
                    Hypothesis {
                        places: Places::new(law, number as usize, order == Order::Random, *way),
                        weights: STALLS.map(|(_, plausible)| (weight * plausible).ln()),
                    }
                })
            })
        });
        Self {
            order,
            slowness,
            hypotheses: hypotheses.collect(),
            writes_into: HashMap::new(),
            recent: Vec::new(),
            proven: HashSet::new(),
            proven_once: HashSet::new(),
            most_proven: 0,
            writes: 0,
            full_after: u32::MAX,
            hidden: HIDDEN,
            slow_seconds: Vec::new(),
            openings_seconds: Vec::new(),
        }
    }

    /// What a slow write is.
    #[must_use]
    pub const fn slowness(&self) -> Slowness {
        self.slowness
    }

    /// Units are full after so many writes: in linear order they then need no place any more.
    #[must_use]
    pub fn full_after(mut self, writes: u32) -> Self {
        self.full_after = writes;
        self.hidden = (NEARLY_FULL / f64::from(writes.max(1))).clamp(HIDDEN, 0.2);
        self
    }

    /// Of merges so many do not show.
    #[must_use]
    pub const fn with_hidden(mut self, share: f64) -> Self {
        self.hidden = share;
        self
    }

    /// Each switch merges with this probability, before anything was seen.
    #[must_use]
    pub fn with_law(mut self, every_switch: f64) -> Self {
        for each in &mut self.hypotheses {
            let (now, before) = match each.places.law() {
                Law::LeastRecent => (every_switch, LEAST_RECENT),
                Law::Any => (1.0 - every_switch, 1.0 - LEAST_RECENT),
            };
            let change = (now.clamp(LAW_DOUBT, 1.0 - LAW_DOUBT) / before).ln();
            each.weights.iter_mut().for_each(|weight| *weight += change);
        }
        self
    }

    /// So many units, from this one on, hold a place, the first of them for the longest.
    #[must_use]
    pub fn with_open(mut self, first: u32, number: u32) -> Self {
        for unit in first..first + number {
            self.writes_into.insert(unit, (unit as usize, OPENED));
            self.recent.push(unit as usize);
        }
        let open = first as usize..(first + number) as usize;
        self.hypotheses.iter_mut().for_each(|each| each.places.hold(open.clone()));
        self
    }

    /// Takes a write into a unit into account.
    pub fn write(&mut self, unit: u32, latency: Duration) {
        let slow = self.slowness.probability(latency);
        let touch = self.touch(unit, slow > 0.5);
        for hypothesis in &mut self.hypotheses {
            hypothesis.weigh(touch, slow, self.hidden);
        }
        if touch.is_last {
            self.close(touch.unit);
        }
        self.forget_the_impossible();
        self.writes += 1;
        if slow > 0.5 {
            self.slow_seconds.push(latency.as_secs_f64());
        }
        if touch.before == 0 {
            self.openings_seconds.push(latency.as_secs_f64());
        }
    }

    fn close(&mut self, unit: usize) {
        self.recent.retain(|other| *other != unit);
        self.proven.remove(&unit);
        self.hypotheses.iter_mut().for_each(|each| each.places.close(unit));
    }

    /// What has become impossible need not be weighed any further.
    fn forget_the_impossible(&mut self) {
        let most = |each: &Hypothesis| each.weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let best = self.hypotheses.iter().map(most).fold(f64::NEG_INFINITY, f64::max);
        self.hypotheses.retain(|each| most(each) > best - IMPOSSIBLE);
    }

    fn touch(&mut self, unit: u32, slow: bool) -> Touch {
        let known = self.writes_into.values().map(|(unit, _)| unit + 1).max().unwrap_or(0);
        let known = if self.writes_into.contains_key(&unit) { known } else { self.free_index(known) };
        let entry = self.writes_into.entry(unit).or_insert((known, 0));
        let (unit, before) = *entry;
        entry.1 += 1;
        let place = self.recent.iter().rposition(|other| *other == unit);
        let distance = place.map_or(self.recent.len(), |place| self.recent.len() - 1 - place);
        if let Some(place) = place {
            self.recent.remove(place);
        }
        self.recent.push(unit);
        let is_last = before + 1 == self.full_after && self.order == Order::Linear;
        Touch { unit, before, distance, is_last, proven: self.prove(unit, slow) }
    }

    /// The lowest index that no unit has; units assumed to be open may have left a gap before them.
    fn free_index(&self, known: usize) -> usize {
        (0..known).find(|index| self.writes_into.values().all(|(unit, _)| unit != index)).unwrap_or(known)
    }

    /// How many units are open at once if this write is clean: those written since the last merge. Out of order a unit
    /// must have been written twice since.
    fn prove(&mut self, unit: usize, slow: bool) -> usize {
        if slow {
            self.proven.clear();
            self.proven_once.clear();
        }
        if slow || self.order == Order::Linear || !self.proven_once.insert(unit) {
            self.proven.insert(unit);
        }
        self.most_proven = self.most_proven.max(self.proven.len());
        self.proven.len()
    }

    /// The probability of each number from 0 to [`OPEN_MAX`] + 1, the last for more.
    #[must_use]
    pub fn numbers(&self) -> Vec<f64> {
        let mut sums = vec![0.0; OPEN_MAX as usize + 2];
        for (hypothesis, probability) in self.hypotheses.iter().zip(self.probabilities()) {
            sums[hypothesis.places.count()] += probability.iter().sum::<f64>();
        }
        sums
    }

    fn probabilities(&self) -> impl Iterator<Item = [f64; STALLS.len()]> + '_ {
        let all = || self.hypotheses.iter().flat_map(|each| each.weights);
        let best = all().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = all().map(|weight| (weight - best).exp()).sum();
        self.hypotheses.iter().map(move |each| each.weights.map(|weight| (weight - best).exp() / total))
    }

    /// The most probable number with its interval.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let numbers = self.numbers();
        let mut below = 0.0;
        let (mut number, mut low, mut high) = (0, None, None);
        for (index, probability) in (0..).zip(&numbers) {
            below += probability;
            if *probability > numbers[number as usize] {
                number = index;
            }
            if below > 0.025 {
                low = low.or(Some(index));
            }
            if below >= 0.975 {
                high = high.or(Some(index));
            }
        }
        let (low, high) = (low.unwrap_or(number).min(number), high.unwrap_or(OPEN_MAX + 1).max(number));
        Verdict { number, probability: numbers[number as usize], low, high }
    }

    /// Whether so many writes are slow for other reasons that there is no telling, however many more are made.
    #[must_use]
    pub fn is_in_vain(&self) -> bool {
        self.writes > IN_VAIN_AFTER && self.stalls() > STALLS_IN_VAIN && self.verdict().probability < 0.5
    }

    /// The probability of a law, whatever the number.
    #[must_use]
    pub fn law(&self, law: Law) -> f64 {
        let of_law =
            self.hypotheses.iter().zip(self.probabilities()).filter(|(each, _)| each.places.law() == law);
        of_law.map(|(_, probability)| probability.iter().sum::<f64>()).sum()
    }

    /// The expected share of writes that are slow without a merge.
    #[must_use]
    pub fn stalls(&self) -> f64 {
        let weigh = |probability: [f64; STALLS.len()]| {
            probability.iter().zip(STALLS).map(|(weight, (rate, _))| weight * rate).sum::<f64>()
        };
        self.probabilities().map(weigh).sum()
    }

    /// Whether this many units are surely too many.
    #[must_use]
    pub fn is_too_many(&self, number: u32) -> bool {
        let fits: f64 = self.numbers().iter().skip(number as usize).sum();
        fits < DECIDED / 2.0
    }

    /// Whether it is decided, one way or the other, that this many units fit.
    #[must_use]
    pub fn is_decided(&self, number: u32) -> bool {
        let fits: f64 = self.numbers().iter().skip(number as usize).sum();
        !(DECIDED..=1.0 - DECIDED).contains(&fits)
    }

    /// The most units that were seen to be open at once: written in turn without a merge.
    #[must_use]
    pub fn most_proven(&self) -> u32 {
        u32::try_from(self.most_proven).unwrap_or(u32::MAX)
    }

    /// What a slow write takes beside a quick one, seconds; `None` before the first.
    #[must_use]
    pub fn merge_seconds(&self) -> Option<f64> {
        median(&self.slow_seconds).map(|seconds| seconds - self.slowness.typical_seconds())
    }

    /// Whether at least so many units were opened, every one of them slowly but the first, and all are open still.
    #[must_use]
    pub fn opens_slowly(&self, units: usize) -> bool {
        let slow = |seconds: &f64| *seconds > self.slowness.limit_seconds();
        self.writes_into.len() >= units
            && self.most_proven + 1 >= self.writes_into.len()
            && self.openings_seconds.iter().skip(1).all(slow)
    }

    /// How many of the writes were slow.
    #[must_use]
    pub const fn slow_writes(&self) -> usize {
        self.slow_seconds.len()
    }

    /// How many writes were taken into account.
    #[must_use]
    pub const fn writes(&self) -> usize {
        self.writes
    }

    /// How many units to write in turn next: the number of which a round tells most per second. `None` once that is
    /// decided, or if only more than `most` would tell.
    #[must_use]
    pub fn next(&self, most: u32) -> Option<u32> {
        let numbers = self.numbers();
        let merge = median(&self.slow_seconds).unwrap_or(self.slowness.typical_seconds() * MERGE_GUESS);
        let opened = u32::try_from(self.writes_into.len()).unwrap_or(u32::MAX);
        let mut fewer = numbers[0];
        let mut best = None;
        let least = if self.is_open() { self.most_proven() } else { 0 };
        for number in 1..=most.min(OPEN_MAX) {
            if number <= least {
                fewer += numbers[number as usize];
                continue;
            }
            let cost = self.cost(number, fewer, merge, opened);
            let told = entropy(fewer) / cost;
            if (DECIDED..=1.0 - DECIDED).contains(&fewer) && best.is_none_or(|(_, other)| told > other) {
                best = Some((number, told));
            }
            fewer += numbers[number as usize];
        }
        best.map(|(number, _)| self.at_least_half_more(number).min(most)).or_else(|| self.unproven(most))
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

    /// Whether all of them fit, so that no further write will tell more.
    #[must_use]
    pub fn fits_all(&self, most: u32) -> bool {
        self.most_proven() >= most && self.numbers().iter().skip(most as usize).sum::<f64>() > BEYOND
    }

    /// Whether it seems that more fit than were tried: as many as most cards have were open at once, and no number is too
    /// many.
    #[must_use]
    pub fn is_beyond(&self, most: u32) -> bool {
        let verdict = self.verdict();
        !verdict.tells(most) && verdict.high > OPEN_MAX && self.most_proven() >= most.min(MANY)
    }

    /// The number found, if so many were not yet seen to be open at once.
    fn unproven(&self, most: u32) -> Option<u32> {
        let verdict = self.verdict();
        (verdict.tells(most + 1) && self.most_proven() < verdict.number).then_some(verdict.number)
    }

    /// What a round of `number` writes takes, seconds, if it is too many with the probability `fewer`.
    fn cost(&self, number: u32, fewer: f64, merge: f64, opened: u32) -> f64 {
        let writes = f64::from(number) * self.slowness.typical_seconds();
        let merges = fewer * f64::from(number.min(MERGES_TO_TELL)) * merge;
        let opening = match self.openings_seconds.len() {
            0..OPENINGS_MIN => merge / 2.0,
            seen => self.openings_seconds.iter().sum::<f64>() / count(seen),
        };
        let openings = f64::from(number.saturating_sub(opened)) * opening;
        writes * 2.0 + merges + openings + merge
    }
}

/// A search on a stick that stalls at so many of its writes ends after this many, if no number is likely by then.
const STALLS_IN_VAIN: f64 = 0.08;
const IN_VAIN_AFTER: usize = 400;
/// From so many open units on the search gallops: most cards have fewer.
const GALLOP_FROM: u32 = 8;
/// And as long as half as many again fit with more than this probability.
const GALLOP_OPEN: f64 = 0.3;
/// So many open at once are more than most cards have: where the search ends early, nothing merges.
const MANY: u32 = 64;
/// So probable it must be that more fit than were tried.
const BEYOND: f64 = 0.98;
/// So many units must have been opened before their mean tells what opening one costs.
const OPENINGS_MIN: usize = 3;
/// Until one was seen, a merge is taken to cost as much as so many writes.
const MERGE_GUESS: f64 = 60.0;
/// So many merges in a row tell that a number is too large.
const MERGES_TO_TELL: u32 = 4;

impl Hypothesis {
    fn weigh(&mut self, touch: Touch, slow: f64, hidden: f64) {
        let merges = self.places.chance(touch);
        let with_merge = (1.0 - hidden) * slow + hidden * (1.0 - slow);
        for (weight, (stalls, _)) in self.weights.iter_mut().zip(STALLS) {
            let without = stalls * slow + (1.0 - stalls) * (1.0 - slow);
            *weight += (merges * with_merge + (1.0 - merges) * without).ln();
        }
        self.places.take(touch, slow);
    }
}
