//! A hypothesis: a number of slots under one eviction law, with its weight for each pair of error rates.

use crate::open_blocks::eviction::{BlockWrite, PAIR_PROBABILITY_MIN, SecondWriteMerge};
use crate::open_blocks::slots::Slots;

/// The error rates that are tried, from a device without stalls to one that stalls at every second write,
/// with 1 % or 40 % of merges hidden. A merge is hidden if it was done earlier or during the transfer, or, in
/// a log that maps several pages at once, if a run stops at the end of them. Rates and priors: guess.
pub(super) const ERROR_RATES: [ErrorRates; 11] = [
    ErrorRates { stalls: 0.0005, hidden: 0.01, prior: 0.3 },
    ErrorRates { stalls: 0.002, hidden: 0.01, prior: 0.27 },
    ErrorRates { stalls: 0.01, hidden: 0.01, prior: 0.18 },
    ErrorRates { stalls: 0.04, hidden: 0.01, prior: 0.09 },
    ErrorRates { stalls: 0.12, hidden: 0.01, prior: 0.04 },
    ErrorRates { stalls: 0.2, hidden: 0.01, prior: 0.03 },
    ErrorRates { stalls: 0.35, hidden: 0.01, prior: 0.02 },
    ErrorRates { stalls: 0.5, hidden: 0.01, prior: 0.01 },
    ErrorRates { stalls: 0.0005, hidden: 0.4, prior: 0.06 },
    ErrorRates { stalls: 0.01, hidden: 0.4, prior: 0.03 },
    ErrorRates { stalls: 0.12, hidden: 0.4, prior: 0.01 },
];

/// The share of writes that are slow without a merge, the least share of merges that do not show, and the
/// prior probability of both.
#[derive(Debug, Clone, Copy)]
pub(super) struct ErrorRates {
    pub(super) stalls: f64,
    hidden: f64,
    pub(super) prior: f64,
}

impl ErrorRates {
    /// Whether a large share of merges is hidden.
    pub(super) fn hides_merges(self) -> bool {
        self.hidden > HIDDEN_LARGE
    }
}

/// The number of writes whose likelihoods are multiplied before one logarithm is taken: logarithms would take
/// most of the time. The product of eight factors of at least 1e-30 does not underflow.
pub(super) const WRITES_PER_LOGARITHM: usize = 8;

/// The share of hidden merges that separates the two groups of [`ERROR_RATES`], 1 % and 40 %.
const HIDDEN_LARGE: f64 = 0.1;

/// A number of slots under one law, with the logarithm of its weight for each of [`ERROR_RATES`].
#[derive(Debug, Clone)]
pub(super) struct Hypothesis {
    pub(super) slots: Slots,
    log_weights: [f64; ERROR_RATES.len()],
    /// The likelihoods since the last logarithm.
    factors: [f64; ERROR_RATES.len()],
}

impl Hypothesis {
    /// These slots with this prior weight, times `hidden_ratio` if a large share of merges is hidden.
    pub(super) fn new(slots: Slots, weight: f64, hidden_ratio: f64) -> Self {
        let prior =
            |rates: ErrorRates| weight * rates.prior * if rates.hides_merges() { hidden_ratio } else { 1.0 };
        let log_weights = ERROR_RATES.map(|rates| prior(rates).ln());
        Self { slots, log_weights, factors: [1.0; ERROR_RATES.len()] }
    }

    /// The logarithm of the weight for each of [`ERROR_RATES`].
    pub(super) fn log_weights(&self) -> [f64; ERROR_RATES.len()] {
        std::array::from_fn(|index| self.log_weights[index] + self.factors[index].ln())
    }

    /// Adds the logarithms of the likelihoods to the weights, and returns the largest weight. At the latest
    /// due after [`WRITES_PER_LOGARITHM`] writes.
    pub(super) fn collect_factors(&mut self) -> f64 {
        self.log_weights = self.log_weights();
        self.factors = [1.0; ERROR_RATES.len()];
        self.log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Multiplies each weight.
    fn multiply(&mut self, factor: f64) {
        self.factors.iter_mut().for_each(|each| *each *= factor);
    }

    /// Weighs the faster one of two writes into a unit: it contains no merge, if a unit can be open at all.
    pub(super) fn weigh_faster(&mut self, slow: f64, hidden: f64) {
        let merges = match self.slots.second_write_merge() {
            _ if self.slots.count() == 0 => 1.0,
            // Both may evict a block, rarely.
            SecondWriteMerge::IfFull(_) => PAIR_PROBABILITY_MIN,
            _ => 0.0,
        };
        self.weigh_by(merges, slow, hidden);
    }

    /// Weighs a write that is slow with this probability, if at least the share `hidden` of merges is hidden.
    pub(super) fn weigh(&mut self, write: BlockWrite, slow: f64, hidden: f64) {
        self.slots.expect(write);
        match write.pair_slow {
            Some(pair_slow) if write.writes_before == 0 => self.weigh_opening(write, slow, pair_slow, hidden),
            Some((_, second)) => self.weigh_pair(self.slots.merge_probability(write), slow, second, hidden),
            None => self.weigh_by(self.slots.merge_probability(write), slow, hidden),
        }
        self.slots.update(write, slow);
    }

    /// Weighs two writes into a unit that was opened before. A merge is in the same one of them as in
    /// openings, a stall in either.
    fn weigh_pair(&mut self, merges: f64, slow: f64, second: f64, hidden: f64) {
        let position = match self.slots.second_write_merge() {
            SecondWriteMerge::Never => 1.0 - second * (1.0 - PAIR_PROBABILITY_MIN),
            SecondWriteMerge::IfFull(full) => full * second + (1.0 - full) * (1.0 - second),
            SecondWriteMerge::Either => 0.5,
        };
        self.weigh_with(merges, (slow * position, slow / 2.0), 1.0 - slow, hidden);
    }

    /// Weighs the first two writes into a unit.
    fn weigh_opening(&mut self, write: BlockWrite, slow: f64, (first, second): (f64, f64), hidden: f64) {
        let factor = match self.slots.second_write_merge() {
            SecondWriteMerge::Never => {
                self.weigh_by(self.slots.merge_probability(write), first, hidden);
                1.0 - second * (1.0 - PAIR_PROBABILITY_MIN)
            }
            SecondWriteMerge::IfFull(full) => {
                self.weigh_by(full, second, hidden);
                write.first_opening_slow * first + (1.0 - write.first_opening_slow) * (1.0 - first)
            }
            SecondWriteMerge::Either => {
                self.weigh_by(self.slots.merge_probability(write), slow, hidden);
                1.0 - slow / 2.0
            }
        };
        self.multiply(factor);
    }

    fn weigh_by(&mut self, merges: f64, slow: f64, hidden: f64) {
        self.weigh_with(merges, (slow, slow), 1.0 - slow, hidden);
    }

    /// Multiplies by the likelihood of a write: `merges` is the probability of a merge, and the others are
    /// those of the latency with a merge, with a stall, and with neither.
    fn weigh_with(&mut self, merges: f64, (merge, stall): (f64, f64), fast: f64, hidden: f64) {
        for (factor, rates) in self.factors.iter_mut().zip(ERROR_RATES) {
            let hidden = hidden.max(rates.hidden);
            let with_merge = (1.0 - hidden) * merge + hidden * fast;
            let without = rates.stalls * stall + (1.0 - rates.stalls) * fast;
            *factor *= merges * with_merge + (1.0 - merges) * without;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open_blocks::eviction::{EvictionLaw, SlotUse};

    /// A write into the first of at least five units, of which four fit under LRU eviction.
    fn write(writes_before: u32, distance: usize, pair_slow: Option<(f64, f64)>) -> BlockWrite {
        BlockWrite {
            unit: 0,
            writes_before,
            distance,
            distance_writable: distance,
            open_at_once: 1,
            is_pair: pair_slow.is_some(),
            pair_slow,
            first_opening_slow: 0.5,
            opening_slow: 0.5,
        }
    }

    /// The likelihood of a write with the first of [`ERROR_RATES`].
    fn likelihood(slot_use: SlotUse, write: BlockWrite, slow: f64) -> f64 {
        let slots = Slots::new(EvictionLaw::Lru, 4, true, slot_use, None);
        let mut hypothesis = Hypothesis::new(slots, 1.0, 1.0);
        let before = hypothesis.log_weights()[0];
        hypothesis.weigh(write, slow, 0.0);
        (hypothesis.log_weights()[0] - before).exp()
    }

    fn is(seen: f64, truth: f64) -> bool {
        (seen - truth).abs() < 1e-9
    }

    #[test]
    fn one_merge_in_a_hundred_is_hidden_and_a_write_without_a_merge_rarely_stalls() {
        let single = |distance, slow| likelihood(SlotUse::FirstWrite, write(2, distance, None), slow);
        let merging = [1.0, 0.0].map(|slow| single(4, slow));
        assert!(is(merging[0], 0.99) && is(merging[1], 0.01), "{merging:?}");
        let fast = [1.0, 0.0].map(|slow| single(3, slow));
        assert!(is(fast[0], 0.0005) && is(fast[1], 0.9995), "{fast:?}");
    }

    #[test]
    fn the_second_of_two_writes_merges_in_one_case_of_a_hundred_if_the_first_takes_the_slot() {
        let opening = |second| likelihood(SlotUse::FirstWrite, write(0, 0, Some((0.0, second))), second);
        let of_openings = opening(1.0) / opening(0.0);
        assert!(is(of_openings, PAIR_PROBABILITY_MIN), "{of_openings}");
        let closed =
            |slot_use, second: f64| likelihood(slot_use, write(2, 4, Some((1.0 - second, second))), 1.0);
        let first_takes = [0.0, 1.0].map(|second| closed(SlotUse::FirstWrite, second));
        assert!(is(first_takes[0], 0.99) && is(first_takes[1], 0.0099), "{first_takes:?}");
        let either = [0.0, 1.0].map(|second| closed(SlotUse::SecondWrite, second));
        assert!(either.iter().all(|each| is(*each, 0.495)), "{either:?}");
    }
}
