//! The probability of every number of open units, write by write.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::observation::Order;

use crate::open_blocks::hypothesis::{BLURS, GATHERED, Hypothesis};
use crate::open_blocks::laws::{Law, Places, Touch, Way};
use crate::open_blocks::limits::DECIDED;
pub use crate::open_blocks::limits::OPEN_MAX;
use crate::open_blocks::prior::Prior;
use crate::slow_classifier::SlowClassifier;
use crate::statistics::{count, median, quantile};
use crate::thresholds::SURE_ENOUGH;

/// So many merges do not show anywhere.
const HIDDEN: f64 = 0.01;
/// A block that lacks no more than so many writes is merged too quickly to show.
const NEARLY_FULL: f64 = 1.5;
/// While places are left, all but so many openings go like the one before: what was open before goes on being closed, or there is
/// nothing to close.
const OPENS_UNLIKE: f64 = 0.15;
/// Out of order what went alike often goes on so: that share is worth so many openings. In order, where blocks of before hold places, one
/// may go otherwise at any time.
const OPENS_UNLIKE_WORTH: f64 = 2.0;
/// So seldom is a unit opened slowly where a place was given back for it.
const GIVEN_BACK_SLOWLY: f64 = 0.002;
/// What is less plausible than the best by e to this power is given up.
const IMPOSSIBLE: f64 = 25.0;

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

impl Verdict {
    /// Whether one number is found, where up to `most` were tried.
    #[must_use]
    pub fn tells(&self, most: u32) -> bool {
        self.probability >= SURE_ENOUGH && self.number < most.min(OPEN_MAX + 1)
    }
}

/// The probability of every number of open units in one order.
#[derive(Debug, Clone)]
pub struct Belief {
    order: Order,
    slowness: SlowClassifier,
    prior: Prior,
    hypotheses: Vec<Hypothesis>,
    writes_into: HashMap<u32, (usize, u32)>,
    recent: Vec<usize>,
    /// How many writes had been slow when a unit was last written.
    merges_before: HashMap<usize, usize>,
    retired: HashSet<usize>,
    /// Whether the unit written last was retired: what is begun next may get its place.
    hands_over: bool,
    proven: HashSet<usize>,
    proven_once: HashSet<usize>,
    most_proven: usize,
    /// How large the units are, and each write, where that is known; and how much was written into each.
    erase_block: Option<Bytes>,
    request: Option<Bytes>,
    filled: Vec<Bytes>,
    hidden: f64,
    /// Whether a unit that may hold a place was written whole before each that is begun.
    gives_back: bool,
    /// The last write out of order, if it may be the first of two.
    half: Option<(u32, Duration)>,
    /// How many units took turns last.
    pub(super) turning: u32,
    /// Whether they took more than one write after the other.
    pub(super) whole_turns: bool,
    /// How many turns of that many there were before.
    pub(super) turns: u32,
    /// The most units that took whole turns.
    pub(super) most_turned: u32,
    /// What opened units.
    openings: Openings,
    /// The first of two writes that opened units.
    first_openings: Openings,
    /// How likely each write was slow, the last one last.
    slow_writes: Vec<f64>,
    pub(super) slow_seconds: Vec<f64>,
    pub(super) openings_seconds: Vec<f64>,
}

/// Whether units were opened slowly, and how often one was opened unlike the one before.
#[derive(Debug, Clone, Copy, Default)]
struct Openings {
    last_was_slow: Option<bool>,
    compared: u32,
    unlike: u32,
}

impl Openings {
    fn take(&mut self, slow: bool) {
        if let Some(last) = self.last_was_slow.replace(slow) {
            self.compared += 1;
            self.unlike += u32::from(last != slow);
        }
    }

    /// How likely the next one is slow: mostly like the one before.
    fn slow_next(self, order: Order) -> f64 {
        let unlike = match order {
            Order::Linear => OPENS_UNLIKE,
            Order::Random => {
                (OPENS_UNLIKE * OPENS_UNLIKE_WORTH + f64::from(self.unlike))
                    / (OPENS_UNLIKE_WORTH + f64::from(self.compared))
            }
        };
        self.last_was_slow.map_or(0.5, |slow| if slow { 1.0 - unlike } else { unlike })
    }
}

impl Belief {
    /// Before the first write.
    #[must_use]
    pub fn new(order: Order, slowness: SlowClassifier, prior: Prior) -> Self {
        let ways: &[Way] = match order {
            Order::Linear => &[Way::AtOnce, Way::FirstFree],
            Order::Random => &[Way::AtOnce, Way::TwoSteps, Way::TwoStepsTaken],
        };
        let every = prior.every_switch();
        let shape = |law: Law| if law == Law::LeastRecent { every } else { 1.0 - every };
        let in_order = prior.most_likely().map(|number| number as usize);
        let numbers = (0..=OPEN_MAX + 1).filter(|number| prior.weight(*number) > 0.0);
        let hypotheses = numbers.flat_map(|number| {
            [Law::LeastRecent, Law::Any].into_iter().flat_map(move |law| {
                // Where any has to go, a belief that follows the controller on the average is sure of what cannot be after many writes.
                let is_more = in_order.is_some_and(|in_order| number as usize > in_order);
                let is_fewer = in_order.is_some_and(|in_order| (number as usize) < in_order);
                let is_possible = move |way: Way| {
                    way.goes_with(law)
                        && !(law == Law::Any && is_more)
                        && (way != Way::TwoStepsTaken || is_fewer)
                };
                let ways = ways.iter().filter(move |way| is_possible(**way));
                ways.map(move |way| {
                    let weight = prior.weight(number) * shape(law) * way.plausible(order, law);
                    Hypothesis::new(
                        Places::new(law, number as usize, order == Order::Random, *way, in_order),
                        weight,
                        prior.hides(law),
                    )
                })
            })
        });
        Self {
            order,
            slowness,
            prior,
            hypotheses: hypotheses.collect(),
            writes_into: HashMap::new(),
            recent: Vec::new(),
            merges_before: HashMap::new(),
            retired: HashSet::new(),
            hands_over: false,
            proven: HashSet::new(),
            proven_once: HashSet::new(),
            most_proven: 0,
            erase_block: None,
            request: None,
            filled: Vec::new(),
            hidden: HIDDEN,
            gives_back: false,
            half: None,
            openings: Openings::default(),
            first_openings: Openings::default(),
            turning: 0,
            whole_turns: false,
            turns: 0,
            most_turned: 0,
            slow_writes: Vec::new(),
            slow_seconds: Vec::new(),
            openings_seconds: Vec::new(),
        }
    }

    /// What a slow write is.
    #[must_use]
    pub const fn slowness(&self) -> SlowClassifier {
        self.slowness
    }

    /// The same before the first write.
    pub(super) fn anew(&self) -> Self {
        let new = Self::new(self.order, self.slowness, self.prior).with_hidden(self.hidden);
        Self { erase_block: self.erase_block, gives_back: self.gives_back, ..new }
    }

    pub(super) const fn order(&self) -> Order {
        self.order
    }

    /// The largest number that is at all likely by what was measured before.
    pub(super) const fn most_likely(&self) -> Option<u32> {
        self.prior.most_likely()
    }

    /// Goes on with writes of another size, of which others are slow.
    pub(super) fn go_on_with(&mut self, slowness: SlowClassifier, request: Bytes) {
        let longer = slowness.typical_seconds() - self.slowness.typical_seconds();
        for seconds in self.slow_seconds.iter_mut().chain(&mut self.openings_seconds) {
            *seconds = (*seconds + longer).max(slowness.typical_seconds());
        }
        self.slowness = slowness;
        self.request = Some(request);
        if let Some(erase_block) = self.erase_block {
            let writes = erase_block.as_f64() / request.as_f64();
            self.hidden = (NEARLY_FULL / writes.max(1.0)).clamp(HIDDEN, 0.2);
        }
    }

    /// By how much the numbers explain better which writes were slow than that so many are now and then, nats.
    pub(super) fn explains(&self) -> f64 {
        let all: Vec<f64> = self.hypotheses.iter().flat_map(Hypothesis::weights).collect();
        let best = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let evidence = best + all.iter().map(|weight| (weight - best).exp()).sum::<f64>().ln();
        evidence - by_chance(&self.slow_writes)
    }

    /// The share of writes that were slow.
    pub(super) fn slow_share(&self) -> f64 {
        self.slow_writes.iter().sum::<f64>() / count(self.writes().max(1))
    }

    /// The share of writes whose times leave open whether they were.
    pub(super) fn doubtful_share(&self) -> f64 {
        let doubtful: f64 = self.slow_writes.iter().map(|slow| 4.0 * slow * (1.0 - slow)).sum();
        doubtful / count(self.writes().max(1))
    }

    /// Units are that large: what lacks only a few writes is merged too quickly to show.
    #[must_use]
    pub fn in_blocks_of(self, erase_block: Bytes) -> Self {
        Self { erase_block: Some(erase_block), ..self }
    }

    /// Before each unit that is begun another is written whole, which gives back its place: while places are left nothing is merged.
    #[must_use]
    pub const fn with_places_given_back(mut self) -> Self {
        self.gives_back = true;
        self
    }

    /// Of merges so many do not show.
    #[must_use]
    pub const fn with_hidden(mut self, share: f64) -> Self {
        self.hidden = share;
        self
    }

    /// Takes a write into a unit into account. Out of order two writes into the same unit one after the other are one: with
    /// the first alone it may not be opened, and the slower one tells.
    pub fn write(&mut self, unit: u32, latency: Duration) {
        if self.order == Order::Linear {
            return self.take(unit, latency, None);
        }
        match self.half.take() {
            Some((other, first)) if other == unit => {
                let (quicker, hidden) = (self.slowness.probability(first.min(latency)), self.hidden);
                if self.writes_into.contains_key(&unit) {
                    self.hypotheses.iter_mut().for_each(|each| each.weigh_quicker(quicker, hidden));
                }
                self.take(unit, first.max(latency), Some((first, latency)));
            }
            half => {
                self.half = Some((unit, latency));
                half.into_iter().for_each(|(other, first)| self.take(other, first, None));
            }
        }
    }

    /// There are so many places at least.
    pub(super) fn has_places(&mut self, number: u32) {
        for each in &mut self.hypotheses {
            if each.places.count() < number as usize {
                each.multiply(FEWER_PLACES);
            }
        }
    }

    /// No second write will follow the last one.
    pub fn settle(&mut self) {
        if let Some((unit, latency)) = self.half.take() {
            self.take(unit, latency, None);
        }
    }

    fn take(&mut self, unit: u32, latency: Duration, halves: Option<(Duration, Duration)>) {
        let slow = self.slowness.probability(latency);
        let is_handed_over = std::mem::take(&mut self.hands_over);
        let slow_halves = halves
            .map(|(first, second)| (self.slowness.probability(first), self.slowness.probability(second)));
        let touch = Touch { halves: slow_halves, ..self.touch(unit, slow > 0.5, halves.is_some()) };
        for hypothesis in &mut self.hypotheses {
            hypothesis.weigh(touch, slow, self.hidden);
        }
        self.slow_writes.push(slow);
        if self.writes().is_multiple_of(GATHERED) {
            self.forget_the_impossible();
        }
        if slow > 0.5 {
            self.slow_seconds.push(latency.as_secs_f64());
        }
        self.merges_before.insert(touch.unit, self.slow_seconds.len());
        if touch.before == 0 && !is_handed_over {
            self.openings_seconds.push(latency.as_secs_f64());
            self.openings.take(slow > 0.5);
            slow_halves.into_iter().for_each(|(first, _)| self.first_openings.take(first > 0.5));
        }
    }

    /// What has become impossible need not be weighed any further.
    fn forget_the_impossible(&mut self) {
        let weights: Vec<f64> = self.hypotheses.iter_mut().map(Hypothesis::gather).collect();
        let best = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut weights = weights.into_iter();
        self.hypotheses.retain(|_| weights.next().is_some_and(|weight| weight > best - IMPOSSIBLE));
    }

    fn touch(&mut self, unit: u32, slow: bool, twice: bool) -> Touch {
        let known = self.writes_into.len();
        if let Some((again, _)) = self.writes_into.get(&unit).copied().filter(|_| self.order == Order::Linear)
        {
            self.retire_passed_over(again);
        }
        let entry = self.writes_into.entry(unit).or_insert((known, 0));
        let (unit, before) = *entry;
        entry.1 += 1 + u32::from(twice);
        if self.filled.len() <= unit {
            self.filled.resize(unit + 1, Bytes::ZERO);
        }
        self.filled[unit] += self.request.unwrap_or(Bytes::ZERO);
        let place = self.recent.iter().rposition(|other| *other == unit);
        let since = &self.recent[place.map_or(0, |place| place + 1)..];
        let distance = since.len();
        let live = since.iter().filter(|other| !self.retired.contains(other)).count();
        if let Some(place) = place {
            self.recent.remove(place);
        }
        self.recent.push(unit);
        Touch {
            unit,
            before,
            distance,
            live,
            twice,
            proven: self.prove(unit, slow || twice, slow),
            halves: None,
            first_opens_slowly: self.opens_slowly_by(self.first_openings),
            opens_slowly: self.opens_slowly_by(self.openings),
        }
    }

    /// How likely the next unit is opened slowly while places are left.
    fn opens_slowly_by(&self, openings: Openings) -> f64 {
        if self.gives_back { GIVEN_BACK_SLOWLY } else { openings.slow_next(self.order) }
    }

    /// How many units are open at once if this write is clean: those written since the last merge. Out of order a unit
    /// must have been written twice since.
    fn prove(&mut self, unit: usize, is_open: bool, slow: bool) -> usize {
        if slow {
            self.proven.clear();
            self.proven_once.clear();
        }
        if is_open || self.order == Order::Linear || !self.proven_once.insert(unit) {
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

    fn probabilities(&self) -> impl Iterator<Item = [f64; BLURS.len()]> + use<> {
        let mut weights: Vec<_> = self.hypotheses.iter().map(Hypothesis::weights).collect();
        let best = weights.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
        weights.iter_mut().flatten().for_each(|weight| *weight = (*weight - best).exp());
        let total: f64 = weights.iter().flatten().sum();
        weights.into_iter().map(move |each| each.map(|weight| weight / total))
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
        self.writes() > IN_VAIN_AFTER && self.stalls() > STALLS_IN_VAIN && self.verdict().probability < 0.5
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
        let weigh = |probability: [f64; BLURS.len()]| {
            probability.iter().zip(BLURS).map(|(weight, blur)| weight * blur.stalls).sum::<f64>()
        };
        self.probabilities().map(weigh).sum()
    }

    /// How likely it is that many merges do not show, as a multiple of what it was before the first write.
    pub(super) fn hides(&self) -> f64 {
        self.probability_of_hiding() / hiding(BLURS.map(|blur| blur.plausible))
    }

    fn probability_of_hiding(&self) -> f64 {
        self.probabilities().map(hiding).sum()
    }

    /// Whether many merges do not show.
    #[must_use]
    pub fn hides_many(&self) -> bool {
        self.probability_of_hiding() > 0.5
    }

    /// Whether this many units surely fit.
    #[must_use]
    pub fn surely_fit(&self, number: u32) -> bool {
        self.numbers().iter().skip(number as usize).sum::<f64>() > BEYOND
    }

    /// Whether so many writes are slow whatever the number of units that nothing can be said.
    #[must_use]
    pub fn stalls_too_often(&self) -> bool {
        self.stalls() > STALLS_MAX && self.explains() < STALLS_DESPITE
    }

    /// The expected stalls in a whole turn, where whole turns tell because any unit may have to go.
    pub(super) fn stalls_in_a_turn(&self) -> f64 {
        self.law(Law::Any) * self.stalls() * f64::from(self.turning)
    }

    /// What lies in the middle, by ratio, between a write without a merge and one with a merge, as a multiple of the former.
    pub(super) fn middle_of_merges(&self) -> f64 {
        let merge = self.merge_seconds().map_or(0.0, |seconds| seconds / self.slowness.typical_seconds());
        (1.0 + merge.max(0.0)).sqrt()
    }

    /// Whether this many units are surely too many.
    #[must_use]
    pub fn is_too_many(&self, number: u32) -> bool {
        let fits: f64 = self.numbers().iter().skip(number as usize).sum();
        fits < DECIDED / 2.0
    }

    /// Whether hardly so many fit, so that it is of little use to open more.
    #[must_use]
    pub fn hardly_fit(&self, number: u32) -> bool {
        self.numbers().iter().skip(number as usize).sum::<f64>() < HARDLY
    }

    /// How many units were written that may be open and can be written again.
    #[must_use]
    pub fn opened(&self) -> u32 {
        u32::try_from(self.live().count()).unwrap_or(u32::MAX)
    }

    /// How many units were ever written.
    pub(super) fn ever_opened(&self) -> u32 {
        u32::try_from(self.writes_into.len()).unwrap_or(u32::MAX)
    }

    /// The unit written longest ago of the last so many, and how many different ones were written from it on.
    #[must_use]
    pub fn longest_ago_of(&self, number: u32) -> Option<(u32, u32)> {
        let index = self.live().nth(number.checked_sub(1)? as usize)?;
        let since = self.recent.iter().rev().position(|other| *other == index)?;
        Some((self.unit_of(index)?, u32::try_from(since + 1).unwrap_or(u32::MAX)))
    }

    /// The unit that was written first as this one.
    fn unit_of(&self, index: usize) -> Option<u32> {
        self.writes_into.iter().find(|(_, (other, _))| *other == index).map(|(unit, _)| *unit)
    }

    /// All units that were written, the one written last first.
    pub fn latest(&self) -> impl Iterator<Item = u32> + '_ {
        self.recent.iter().rev().filter_map(|index| self.unit_of(*index))
    }

    /// The units that may hold one of so many places still, the one written last first, where any has to go with each merge.
    pub fn may_be_open(&self, places: u32) -> impl Iterator<Item = u32> + '_ {
        let stays = 1.0 - 1.0 / f64::from(places.max(1));
        let may_be_open = move |index: &&usize| {
            let merges = self.slow_seconds.len() - self.merges_before.get(index).copied().unwrap_or(0);
            stays.powf(count(merges)) > GONE
        };
        self.recent.iter().rev().filter(may_be_open).filter_map(|index| self.unit_of(*index))
    }

    /// This unit has no place left that could be written: it may be open still, but cannot be asked.
    pub fn retire(&mut self, unit: u32) {
        if let Some((index, _)) = self.writes_into.get(&unit).copied() {
            self.retire_index(index);
        }
    }

    fn retire_index(&mut self, index: usize) {
        if self.retired.insert(index) {
            self.hands_over = self.recent.last() == Some(&index);
            self.hypotheses.iter_mut().for_each(|each| each.places.retire(index));
        }
    }

    /// A unit is written that was written before. Those that took turns with it and were written next after it were passed over, as far as
    /// they are full.
    fn retire_passed_over(&mut self, index: usize) {
        while let Some(next) = self.live().take_while(|other| *other != index).last()
            && self.is_full(next)
        {
            self.retire_index(next);
        }
    }

    /// Whether no write into this unit is left in order but the last, which would reach its end.
    fn is_full(&self, index: usize) -> bool {
        let sizes = self.erase_block.zip(self.request);
        sizes.is_some_and(|(erase_block, request)| self.filled[index] + request * 2 > erase_block)
    }

    pub(super) fn has_retired(&self) -> bool {
        !self.retired.is_empty()
    }

    /// Units that can be written again, the one written last first.
    fn live(&self) -> impl Iterator<Item = usize> + '_ {
        self.recent.iter().rev().copied().filter(|index| !self.retired.contains(index))
    }

    /// Whether the last writes, as many as this, were quick but for so many, and there were slow ones before.
    #[must_use]
    pub fn is_quick_again(&self, number: u32, stalls: u32) -> bool {
        let Some(before) = self.slow_writes.len().checked_sub(number as usize) else { return false };
        let (before, last) = self.slow_writes.split_at(before);
        let slow = |writes: &[f64]| writes.iter().filter(|slow| **slow > 0.5).count();
        slow(before) > 0 && slow(last) <= stalls as usize
    }

    /// The most units that were seen to be open at once: written in turn without a merge.
    #[must_use]
    pub fn most_proven(&self) -> u32 {
        u32::try_from(self.most_proven).unwrap_or(u32::MAX)
    }

    /// How many writes were slow.
    #[must_use]
    pub const fn merges(&self) -> usize {
        self.slow_seconds.len()
    }

    /// What a slow write takes beside a quick one, seconds; `None` before the first.
    #[must_use]
    pub fn merge_seconds(&self) -> Option<f64> {
        median(&self.slow_seconds).map(|seconds| seconds - self.slowness.typical_seconds())
    }

    /// What the quickest tenth of slow writes takes beside a quick one, seconds; `None` before the first. Where space is collected as
    /// blocks are opened, most slow writes are that.
    #[must_use]
    pub fn shortest_merges_seconds(&self) -> Option<f64> {
        quantile(&self.slow_seconds, 0.1).map(|seconds| seconds - self.slowness.typical_seconds())
    }

    /// Whether all but one of the last so many units were opened slowly.
    #[must_use]
    pub fn openings_were_slow(&self, last: u32) -> bool {
        self.slow_openings(last) + 1 >= last as usize
    }

    /// Whether most units beyond so many were opened quickly, of several: none of those that were open before was put aside for them, or
    /// that costs nothing.
    #[must_use]
    pub fn opens_quickly_beyond(&self, number: u32) -> bool {
        let beyond = || self.openings_seconds.iter().skip(number as usize);
        let slow = beyond().filter(|seconds| self.is_slow_opening(**seconds)).count();
        beyond().count() >= BEYOND_MIN && slow * 2 < beyond().count()
    }

    /// How many of the last so many units were opened slowly.
    fn slow_openings(&self, last: u32) -> usize {
        let opened = self.openings_seconds.iter().rev().take(last as usize);
        opened.filter(|seconds| self.is_slow_opening(**seconds)).count()
    }

    fn is_slow_opening(&self, seconds: f64) -> bool {
        seconds > self.slowness.limit_seconds()
    }

    /// Whether at least so many units were opened, every one of them slowly but the first, and all are open still.
    #[must_use]
    pub fn opens_slowly(&self, units: usize) -> bool {
        let fewer = |opened: usize| self.numbers().iter().take(opened).sum::<f64>();
        self.writes_into.len() >= units
            && self.openings_seconds.iter().skip(1).all(|seconds| self.is_slow_opening(*seconds))
            && fewer(self.writes_into.len()) < LOST
    }

    /// Whether as many units as are most probable were seen to be open at once, where that is needed: where the one written longest
    /// ago goes, each write decides for itself.
    #[must_use]
    pub fn is_seen_open(&self) -> bool {
        self.law(Law::Any) < 0.5 || self.most_proven() >= self.verdict().number
    }

    /// How many writes were taken into account.
    #[must_use]
    pub const fn writes(&self) -> usize {
        self.slow_writes.len()
    }

    /// Whether all of them fit, so that no further write will tell more. Stalls may have come in between as all were seen open, if the last
    /// ones were opened quickly.
    #[must_use]
    pub fn fits_all(&self, most: u32) -> bool {
        let is_seen = self.most_proven() >= most
            || (self.most_proven() >= most / SEEN_OF_ALL
                && self.opened() >= most
                && self.slow_openings(OPENED_LAST) * 2 < OPENED_LAST as usize);
        is_seen && self.surely_fit(most)
    }

    /// Whether it seems that more fit than were tried: as many as most cards have were open at once, and no number is too
    /// many.
    #[must_use]
    pub fn is_beyond(&self, most: u32) -> bool {
        let verdict = self.verdict();
        !verdict.tells(most) && verdict.high > OPEN_MAX && self.most_proven() >= most.min(MANY)
    }
}

/// How well chance explains which writes are slow, if any is with the same probability, whichever fits them best: nats. Found by
/// expectation maximization (A. Dempster, N. Laird and D. Rubin, Journal of the Royal Statistical Society B 39, 1977).
fn by_chance(slow_writes: &[f64]) -> f64 {
    let mut share = 0.5;
    for _ in 0..CHANCE_STEPS {
        let slow = |write: &f64| share * write / (share * write + (1.0 - share) * (1.0 - write));
        share = slow_writes.iter().map(slow).sum::<f64>() / count(slow_writes.len().max(1));
    }
    slow_writes.iter().map(|write| (share * write + (1.0 - share) * (1.0 - write)).ln()).sum()
}

/// After so many steps the share hardly moves.
const CHANCE_STEPS: usize = 20;

/// The sum of those weights with which many merges do not show.
fn hiding(weights: [f64; BLURS.len()]) -> f64 {
    weights.iter().zip(BLURS).filter(|(_, blur)| blur.hides()).map(|(weight, _)| weight).sum()
}

/// What is left of a number where that many places were seen otherwise.
const FEWER_PLACES: f64 = 1e-6;
/// A unit that is open still with no more than this probability is not.
const GONE: f64 = 0.01;
/// Where more writes than this are slow whatever the number of blocks, nothing can be said.
const STALLS_MAX: f64 = 0.28;
/// Unless the numbers explain so much better than chance which of them are, nats.
const STALLS_DESPITE: f64 = 8.0;
/// A search on a stick that stalls at so many of its writes ends after this many, if no number is likely by then.
const STALLS_IN_VAIN: f64 = 0.08;
const IN_VAIN_AFTER: usize = 1200;
/// So many units beyond those that fit are several.
const BEYOND_MIN: usize = 3;
/// That one of the units lost its place is out of the question below this probability.
const LOST: f64 = 0.05;
/// So many open at once are more than most cards have: where the search ends early, nothing merges.
const MANY: u32 = 64;
/// Of all that fit, the second part at least is seen open at once, and the last so many tell.
const SEEN_OF_ALL: u32 = 2;
const OPENED_LAST: u32 = 12;
/// Less probable than this, so many hardly fit.
const HARDLY: f64 = 0.05;
/// So probable it must be that more fit than were tried.
const BEYOND: f64 = 0.98;

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: Duration = Duration::from_millis(20);
    const SLOW: Duration = Duration::from_millis(460);

    fn belief(order: Order, prior: Prior) -> Belief {
        Belief::new(order, SlowClassifier::beyond(&[QUICK; 5]).unwrap(), prior)
    }

    #[test]
    fn the_second_of_two_writes_pays_once_all_places_out_of_order_are_taken() {
        let prior = Prior::Random { linear: Some(80), every_switch: 0.02, hides: 0.02 };
        let mut random = belief(Order::Random, prior);
        for unit in 0..16 {
            // As long as all places in order are taken the first one pays, too.
            random.write(unit, if unit <= 10 { SLOW } else { QUICK });
            random.write(unit, if unit < 10 { QUICK } else { SLOW });
        }
        let verdict = random.verdict();
        assert_eq!(verdict.number, 10, "{verdict:?}");
        // The first writes may have closed one or two of them.
        assert!((8..=10).contains(&verdict.low) && verdict.high <= 11, "{verdict:?}");
    }

    #[test]
    fn where_every_switch_is_slow_stalls_at_every_third_write_hide_nothing() {
        let third = |write: u32| if write.is_multiple_of(3) { SLOW } else { QUICK };
        let [mut one, mut none] = [(); 2].map(|()| belief(Order::Linear, Prior::Linear));
        for write in 0..15 {
            one.write(0, third(write));
            none.write(0, third(write));
        }
        for write in 0..45 {
            one.write(write % 2, SLOW);
            none.write(write % 2, third(write));
        }
        assert!(!one.stalls_too_often() && one.verdict().number == 1, "{:?}", one.verdict());
        assert!(none.stalls() > STALLS_MAX && none.stalls_too_often());
    }

    #[test]
    fn writes_that_may_as_well_be_slow_as_quick_explain_nothing() {
        let between = belief(Order::Linear, Prior::Linear).slowness().limit_seconds();
        let mut linear = belief(Order::Linear, Prior::Linear);
        for write in 0..400 {
            let doubtful = Duration::from_secs_f64(between * if write % 2 == 0 { 0.97 } else { 1.03 });
            linear.write(write % 20, if write % 10 == 0 { doubtful } else { QUICK });
        }
        assert!(linear.doubtful_share() > 0.05 && linear.explains() < 0.0, "{}", linear.explains());
    }

    /// What a controller closes to open units out of order, each with two writes: any of its open units with the first, any of those
    /// open out of order with the second.
    struct AnyGoes {
        in_order: Vec<u32>,
        out_of_order: Vec<u32>,
        most: (usize, usize),
        draws: u64,
    }

    impl AnyGoes {
        fn draw(&mut self, below: usize) -> usize {
            self.draws =
                self.draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.draws >> 33) as usize % below
        }

        fn write(&mut self, unit: u32) -> (Duration, Duration) {
            if self.out_of_order.contains(&unit) {
                return (QUICK, QUICK);
            }
            let (in_order, out_of_order) = self.most;
            let is_full = |units: &Vec<u32>, most| units.len() == most;
            let first = is_full(&self.in_order, in_order);
            if first {
                let goes = self.draw(in_order);
                let goes = self.in_order.swap_remove(goes);
                self.out_of_order.retain(|other| *other != goes);
            }
            self.in_order.push(unit);
            let second = is_full(&self.out_of_order, out_of_order);
            if second {
                let goes = self.draw(out_of_order);
                let goes = self.out_of_order.swap_remove(goes);
                self.in_order.retain(|other| *other != goes);
            }
            self.out_of_order.push(unit);
            let took = |slow| if slow { SLOW } else { QUICK };
            (took(first), took(second))
        }
    }

    #[test]
    fn which_of_two_writes_pays_tells_how_many_of_the_open_ones_fit_out_of_order() {
        let found = |most: (usize, usize), turning: u32, turns: u32| {
            let in_order = (1000..).take(most.0).collect();
            let mut controller = AnyGoes { in_order, out_of_order: Vec::new(), most, draws: 3 };
            let prior = Prior::Random { linear: u32::try_from(most.0).ok(), every_switch: 0.02, hides: 0.02 };
            let mut random = belief(Order::Random, prior);
            for unit in (0..turns).flat_map(|_| 0..turning) {
                let (first, second) = controller.write(unit);
                random.write(unit, first);
                random.write(unit, second);
            }
            random.verdict()
        };
        let all = found((30, 30), 31, 20);
        assert!(all.number == 30 && all.probability > 0.98, "{all:?}");
        let fewer = found((30, 12), 14, 20);
        assert!(fewer.number == 12 && fewer.probability > 0.98, "{fewer:?}");
        let long = found((59, 33), 40, 60);
        assert!(long.number == 33 && long.probability > 0.98, "{long:?}");
    }

    #[test]
    fn what_opened_units_alike_goes_on_so_out_of_order() {
        let mut openings = Openings::default();
        assert!((openings.slow_next(Order::Random) - 0.5).abs() < 1e-9);
        openings.take(true);
        assert!((openings.slow_next(Order::Random) - 0.85).abs() < 1e-9);
        (0..40).for_each(|_| openings.take(true));
        assert!(openings.slow_next(Order::Random) > 0.99);
        assert!((openings.slow_next(Order::Linear) - 0.85).abs() < 1e-9, "others hold places there");
        openings.take(false);
        assert!(openings.slow_next(Order::Random) < 0.05);
    }

    #[test]
    fn no_more_fit_out_of_order_than_in_order_where_any_has_to_go() {
        let prior = Prior::Random { linear: Some(9), every_switch: 0.0, hides: 0.02 };
        let more: f64 = belief(Order::Random, prior).numbers().iter().skip(10).sum();
        assert!(more < 1e-9, "{more}");
    }

    #[test]
    fn as_many_as_are_told_from_more_are_known_out_of_order() {
        let mut linear = belief(Order::Linear, Prior::Linear);
        (0..12).for_each(|_| linear.write(0, QUICK));
        (1..OPEN_MAX).for_each(|unit| linear.write(unit, QUICK));
        (0..OPEN_MAX).for_each(|unit| linear.write(unit, QUICK));
        (0..OPEN_MAX).for_each(|index| linear.write((OPEN_MAX + index) % (OPEN_MAX + 1), SLOW));
        assert_eq!(linear.verdict().number, OPEN_MAX);
        assert_eq!(Prior::after(&linear).most_likely(), Some(OPEN_MAX));
    }

    #[test]
    fn many_merges_hide_out_of_order_only_where_they_do_in_order() {
        let hides = |hidden_of_ten: u32| {
            let mut linear = belief(Order::Linear, Prior::Linear);
            (0..12).for_each(|_| linear.write(0, QUICK));
            for index in 0..200_u32 {
                let hidden = index * index / 7 % 10 < hidden_of_ten;
                linear.write(index % 2, if hidden { QUICK } else { SLOW });
            }
            linear.hides()
        };
        assert!(hides(0) < 0.1, "every switch paid");
        assert!(hides(4) > 1.0, "two fifths of them paid nothing");
    }

    #[test]
    fn units_that_cost_something_now_and_then_are_not_put_aside_for_others() {
        let opens_quickly = |slow: &[u32], opened: u32| {
            let mut linear = belief(Order::Linear, Prior::Linear);
            (0..opened).for_each(|unit| linear.write(unit, if slow.contains(&unit) { SLOW } else { QUICK }));
            linear.opens_quickly_beyond(8)
        };
        assert!(opens_quickly(&[8, 14], 20));
        assert!(!opens_quickly(&[8, 9, 11, 12, 13, 14, 15], 16), "most of them cost something");
        assert!(!opens_quickly(&[8], 10), "two tell nothing");
    }

    #[test]
    fn units_that_get_a_place_handed_over_are_not_counted_among_those_begun_quickly() {
        let mut linear = belief(Order::Linear, Prior::Linear);
        (0..12).for_each(|unit| linear.write(unit, SLOW));
        for unit in 12..40 {
            linear.retire(unit - 1);
            linear.write(unit, QUICK);
        }
        assert!(!linear.opens_quickly_beyond(8));
        (40..60).for_each(|unit| linear.write(unit, QUICK));
        assert!(linear.opens_quickly_beyond(8));
    }

    #[test]
    fn what_was_not_written_for_many_merges_is_open_no_more() {
        let mut linear = belief(Order::Linear, Prior::Linear);
        linear.write(7, QUICK);
        for index in 0..40 {
            linear.write(index % 5, SLOW);
        }
        let open: Vec<u32> = linear.may_be_open(4).collect();
        assert_eq!(open, [4, 3, 2, 1, 0]);
        assert!(linear.may_be_open(20).any(|unit| unit == 7));
    }

    #[test]
    fn a_unit_that_became_full_is_passed_over() {
        let slowness = SlowClassifier::beyond(&[QUICK; 5]).unwrap();
        let mut linear = belief(Order::Linear, Prior::Linear).in_blocks_of(Bytes::kib(64));
        linear.go_on_with(slowness, Bytes::kib(16));
        [0, 1, 2, 0, 0].into_iter().for_each(|unit| linear.write(unit, QUICK));
        assert_eq!(linear.opened(), 3, "a fourth write into the first would reach its end");
        linear.write(1, QUICK);
        assert_eq!(linear.opened(), 3, "it may be its turn still");
        linear.write(2, QUICK);
        assert_eq!(linear.opened(), 2, "another was written instead");
    }

    #[test]
    fn a_stall_now_and_then_is_no_cache_that_filled_up() {
        let mut linear = belief(Order::Linear, Prior::Linear);
        (0..9).for_each(|unit| linear.write(unit, SLOW));
        (0..48).for_each(|index| linear.write(index % 9, if index % 9 == 1 { SLOW } else { QUICK }));
        assert!(linear.is_quick_again(48, 6) && !linear.is_quick_again(48, 5));
        assert!(linear.is_quick_again(1, 0));
        let mut quick = belief(Order::Linear, Prior::Linear);
        (0..9).for_each(|_| quick.write(0, QUICK));
        assert!(!quick.is_quick_again(4, 4), "nothing was slow before");
        assert!(!quick.is_quick_again(40, 40), "not as many were written");
    }
}
