//! Slots under random eviction. Which units hold a slot is unknown. The state is the number of slots that are
//! held by other blocks than the units written round-robin.
//!
//! That number is sufficient. With the number of round-robin units and of slots left to them, it is known how
//! many of these units lack a slot, and how often a write meets one of them. A merge frees any of all slots
//! with equal probability, so that blocks which are no longer written lose their slots in the end. This is a
//! hidden Markov model with one state per number of slots (L. Rabiner, "A tutorial on hidden Markov models",
//! Proceedings of the IEEE 77, 1989), updated write by write.

use std::sync::LazyLock;

use crate::open_blocks::count_distribution::CountDistribution;
use crate::open_blocks::eviction::BlockWrite;
use crate::open_blocks::limits::OPEN_MAX;
use crate::statistics::count;

/// The lowest probability of any event: the model is no better. Guess.
const PROBABILITY_MIN: f64 = 1e-4;
/// The share of writes that are slow without a merge, and of merges that do not show, in the update of the
/// slots. Guess.
const ERROR_RATE: f64 = 0.005;
/// The share of first writes into a unit that are slow by a stall, not by an eviction. Guess.
const OPENING_STALLS: f64 = 0.01;
/// The highest probability that the oldest unit that joins the round-robin writes holds a slot. Guess.
const OPEN_PROBABILITY_MAX: f64 = 0.98;
/// The bisections that find a retention probability: 40 leave an error of 2^-40, below that of the model.
const BISECTIONS: u32 = 40;

/// The slots of a controller that evicts any of its open blocks.
#[derive(Debug, Clone)]
pub(super) struct RandomEviction {
    /// Whether a unit takes its slot with its second write.
    takes_slot_second: bool,
    /// The slots for random order, if they are separate from the sequential ones.
    separate: Option<SeparateSlots>,
    /// The number of slots that other blocks than the round-robin units hold, or none.
    elsewhere: CountDistribution,
    /// The number of round-robin units.
    round_robin: usize,
    /// Our units that are not full, the least recently written first.
    writable: Vec<usize>,
    /// The logarithm of the probability that a slot held at the start is still held, by the merges so far.
    log_survival: f64,
    /// The value of `log_survival` at the last write into each unit.
    log_survival_at_write: Vec<f64>,
    /// The expected number of slots held by blocks that were open before.
    foreign: f64,
    /// The number of writes since a round-robin unit took the slot of another one, itself included; `None` if
    /// the round-robin units have changed since.
    since_merge: Option<usize>,
}

/// Slots that only blocks in random order hold, free at first.
#[derive(Debug, Clone)]
struct SeparateSlots {
    /// The number of slots in sequential order.
    sequential: usize,
    /// The number of free slots.
    free: CountDistribution,
}

impl SeparateSlots {
    /// Takes the opening of a block by two writes, slow with these probabilities: the first one may evict any
    /// block, the second one takes a free slot.
    fn open(&mut self, first: f64, second: f64) {
        let (slots, sequential) = (self.free.largest(), self.sequential);
        self.free
            .weigh(|free| if free == 0 { second.max(ERROR_RATE) } else { (1.0 - second).max(ERROR_RATE) });
        self.free.rise(|free| evicted_by_first(first, slots - free, sequential));
        self.free.fall(|_| 1.0);
    }
}

/// The probability that the first write, slow with this probability, evicts one of the `held` blocks that are
/// open in random order.
fn evicted_by_first(first: f64, held: usize, sequential: usize) -> f64 {
    first * count(held) / count(sequential.max(1))
}

impl RandomEviction {
    pub(super) fn new(slots: usize, takes_slot_second: bool) -> Self {
        Self {
            takes_slot_second,
            separate: None,
            elsewhere: CountDistribution::certain(slots, slots),
            round_robin: 0,
            writable: Vec::new(),
            log_survival: 0.0,
            log_survival_at_write: Vec::new(),
            foreign: count(slots),
            since_merge: None,
        }
    }

    /// Slots for random order that are separate from those in sequential order, and free at first.
    pub(super) fn separate(slots: usize, sequential: usize) -> Self {
        let free = CountDistribution::certain(slots, slots);
        Self { separate: Some(SeparateSlots { sequential, free }), foreign: 0.0, ..Self::new(slots, true) }
    }

    const fn slots(&self) -> usize {
        self.elsewhere.largest()
    }

    /// The probability of a merge in a write into a unit that was written before; see
    /// [`RandomEviction::expect`].
    pub(super) fn merge_probability(&self, write: BlockWrite) -> f64 {
        if self.is_informative(write) {
            self.oldest_is_closed().clamp(PROBABILITY_MIN, 1.0 - PROBABILITY_MIN)
        } else {
            PROBABILITY_MIN
        }
    }

    /// The probability of a merge in the first write into a unit: 1 if all slots were taken by our units
    /// since.
    pub(super) fn opening_merge_probability(&self, write: BlockWrite) -> f64 {
        if write.distance >= self.slots() {
            return 1.0;
        }
        let none_left = self.elsewhere.of(0);
        none_left + (1.0 - none_left) * write.opening_slow
    }

    /// The probability that no separate slot is free, so that the second write into a unit evicts a block;
    /// `None` without separate slots.
    pub(super) fn full_probability(&self) -> Option<f64> {
        self.separate.as_ref().map(|separate| separate.free.of(0))
    }

    /// Whether a unit takes its slot with the second of two writes.
    pub(super) const fn takes_slot_second(&self) -> bool {
        self.takes_slot_second
    }

    /// Whether the write shows that its unit lost its slot. If slots are taken with the second write, only a
    /// pair of writes does.
    const fn is_informative(&self, write: BlockWrite) -> bool {
        write.distance > 0 && (write.is_pair || !self.takes_slot_second)
    }

    /// Adjusts the round-robin units to a write into the least recently written of them.
    pub(super) fn expect(&mut self, write: BlockWrite) {
        if write.writes_before == 0 || write.distance == 0 {
            return;
        }
        if self.round_robin != write.distance_writable + 1 {
            self.since_merge = None;
        }
        while self.round_robin > write.distance_writable + 1 {
            self.leave();
        }
        while self.round_robin <= write.distance_writable && self.round_robin < self.writable.len() {
            self.join();
        }
    }

    /// Removes the least recently written unit from the round-robin units. It keeps its slot if it holds one.
    fn leave(&mut self) {
        self.since_merge = None;
        let units = self.round_robin_units();
        self.elsewhere.rise(|elsewhere| 1.0 - units.oldest_is_closed_if(elsewhere));
        self.round_robin = self.round_robin.saturating_sub(1);
    }

    /// Adds the most recently written other unit to the round-robin units. Whether it holds a slot follows
    /// from the merges since its last write, and from the number of slots elsewhere compared with its
    /// expectation.
    fn join(&mut self) {
        let others = &self.writable[..self.writable.len() - self.round_robin];
        let expected = others.iter().map(|unit| self.open_probability(*unit)).sum::<f64>() + self.foreign;
        let open = others.last().map_or(0.0, |unit| self.open_probability(*unit)).min(OPEN_PROBABILITY_MAX);
        self.elsewhere.fall(|elsewhere| {
            let odds = open * count(elsewhere) / expected.max(open).max(PROBABILITY_MIN);
            odds / (1.0 - open + odds)
        });
        self.round_robin += 1;
    }

    /// The probability that a unit holds a slot, by the merges since its last write.
    fn open_probability(&self, unit: usize) -> f64 {
        let at_write = self.log_survival_at_write.get(unit).copied().unwrap_or_default();
        (self.log_survival - at_write).exp()
    }

    /// Removes a unit that cannot be written any more. It keeps its slot if it holds one; the most recently
    /// written unit does.
    pub(super) fn retire(&mut self, unit: usize) {
        let Some(index) = self.writable.iter().position(|other| *other == unit) else { return };
        let is_round_robin = index + self.round_robin >= self.writable.len();
        self.writable.remove(index);
        if is_round_robin && index == self.writable.len() {
            self.since_merge = None;
            self.elsewhere.rise(|_| 1.0);
            self.round_robin = self.round_robin.saturating_sub(1);
        } else if is_round_robin {
            self.leave();
        }
        self.foreign += self.open_probability(unit);
    }

    /// Takes this number of merges into account, each of which evicted any block.
    fn evict(&mut self, merges: f64) {
        let stays = (1.0 - merges / count(self.slots())).max(PROBABILITY_MIN);
        self.log_survival += stays.ln();
        self.foreign *= stays;
    }

    /// Marks a unit as the most recently written one, and as open if it certainly is.
    fn mark_written(&mut self, unit: usize, is_open: bool) {
        if let Some(index) = self.writable.iter().position(|other| *other == unit) {
            self.writable.remove(index);
        }
        self.writable.push(unit);
        if self.log_survival_at_write.len() <= unit {
            self.log_survival_at_write.resize(unit + 1, 0.0);
        }
        if is_open {
            self.log_survival_at_write[unit] = self.log_survival;
        }
    }

    /// Updates the state after a write that is slow with this probability.
    pub(super) fn update(&mut self, write: BlockWrite, slow: f64) {
        if write.writes_before == 0 {
            self.since_merge = None;
            self.open(write, slow);
        } else if self.is_informative(write) {
            match write.pair_slow.filter(|_| slow > 0.5) {
                Some(pair_slow) if self.separate.is_some() => self.reopen_separate(pair_slow),
                _ => self.continue_unit(slow),
            }
            self.since_merge = if slow > 0.5 { Some(1) } else { self.since_merge.map(|writes| writes + 1) };
        }
        self.mark_written(write.unit, write.writes_before == 0 || self.is_informative(write));
    }

    /// Takes the first write into a unit: it takes a free slot or, with a merge, that of any block.
    fn open(&mut self, write: BlockWrite, slow: f64) {
        if let Some((first, second)) = write.pair_slow
            && self.separate.is_some()
        {
            // A slow first write is an eviction or a stall, by the ratio of their rates.
            let evicts = write.first_opening_slow / (write.first_opening_slow + OPENING_STALLS);
            self.open_separate(first * evicts, second);
            self.round_robin += 1;
            return;
        }
        let opening_slow = write.opening_slow;
        self.elsewhere.weigh(|elsewhere| {
            let merges = if elsewhere == 0 { 1.0 } else { opening_slow };
            merges * slow.max(ERROR_RATE) + (1.0 - merges) * (1.0 - slow).max(ERROR_RATE)
        });
        self.take_slot(slow);
        self.round_robin += 1;
        self.foreign = (self.foreign - (1.0 - slow)).max(0.0);
    }

    /// Opens a unit in random order: the first of two writes may evict any block, the second one takes a
    /// slot.
    fn open_separate(&mut self, first: f64, second: f64) {
        let slots = self.slots();
        if let Some(mut separate) = self.separate.take() {
            separate.open(first, second);
            self.elsewhere.rise(|elsewhere| evicted_by_first(first, slots - elsewhere, separate.sequential));
            self.separate = Some(separate);
        }
        self.take_slot(second);
    }

    /// Opens a round-robin unit again that had lost its slot for random order.
    fn reopen_separate(&mut self, (first, second): (f64, f64)) {
        let units = self.round_robin_units();
        self.elsewhere.weigh(|elsewhere| units.oldest_is_closed_if(elsewhere).max(ERROR_RATE));
        self.open_separate(first, second);
    }

    /// Gives a slot to a unit: a free one or, if the write is slow, that of any block.
    fn take_slot(&mut self, slow: f64) {
        let slots = count(self.slots());
        self.elsewhere.fall(|elsewhere| 1.0 - slow + slow * count(elsewhere) / slots);
        self.evict(slow);
    }

    /// Takes a write into a round-robin unit: it had kept its slot, or took that of any block.
    fn continue_unit(&mut self, slow: f64) {
        let (units, slots) = (self.round_robin_units(), count(self.slots()));
        let (merges, is_clean) = (slow.max(ERROR_RATE), (1.0 - slow).max(ERROR_RATE));
        let likelihood = |closed: f64| closed * merges + (1.0 - closed) * is_clean;
        let was_closed = |elsewhere: usize| {
            let closed = units.oldest_is_closed_if(elsewhere);
            closed * merges / likelihood(closed)
        };
        self.elsewhere.weigh(|elsewhere| likelihood(units.oldest_is_closed_if(elsewhere)));
        let merged = self.elsewhere.mean(was_closed);
        self.elsewhere.fall(|elsewhere| was_closed(elsewhere) * count(elsewhere) / slots);
        self.evict(merged);
    }

    /// The probability that the least recently written round-robin unit has lost its slot.
    fn oldest_is_closed(&self) -> f64 {
        let units = self.round_robin_units();
        self.elsewhere.mean(|elsewhere| units.oldest_is_closed_if(elsewhere))
    }

    const fn round_robin_units(&self) -> RoundRobinUnits {
        RoundRobinUnits { units: self.round_robin, slots: self.slots(), since_merge: self.since_merge }
    }
}

/// The units that are written round-robin.
#[derive(Debug, Clone, Copy)]
struct RoundRobinUnits {
    units: usize,
    /// The number of slots of the controller.
    slots: usize,
    /// The number of writes since one of them took the slot of another one, itself included.
    since_merge: Option<usize>,
}

impl RoundRobinUnits {
    /// The probability that the least recently written unit has lost its slot, if others hold `elsewhere`
    /// slots.
    fn oldest_is_closed_if(self, elsewhere: usize) -> f64 {
        let closed = (self.units + elsewhere).saturating_sub(self.slots);
        match self.since_merge {
            // The closed unit is any of those that were not written since it lost its slot.
            Some(since) if closed == 1 => 1.0 / count(self.units.saturating_sub(since).max(1)),
            _ => oldest_closed_probability(self.units, closed),
        }
    }
}

/// The probability that the least recently written of the round-robin units is closed, if `closed` of them
/// are.
///
/// Each slot is kept from one write to the next with the same probability r, so that of N units those with a
/// slot number 1 + r + ... + r^(N-1). The oldest unit holds one with r^(N-1) as far as it is like the others,
/// and with r^(N-1/2) as far as merges come evenly. The exponent N - 3/4 between them is right within 0.005,
/// by the simulation in the tests.
fn oldest_closed_probability(units: usize, closed: usize) -> f64 {
    let units = units.max(1);
    let closed = closed.min(units);
    OLDEST_CLOSED
        .get(units * (units + 1) / 2 + closed)
        .map_or_else(|| solve_oldest_closed(units, closed), |probability| *probability)
}

/// The solutions for up to [`OPEN_MAX`] + 1 round-robin units, by units and by how many of them are closed.
static OLDEST_CLOSED: LazyLock<Vec<f64>> = LazyLock::new(|| {
    (0..=OPEN_MAX as usize + 1)
        .flat_map(|units| (0..=units).map(move |closed| solve_oldest_closed(units, closed)))
        .collect()
});

fn solve_oldest_closed(units: usize, closed: usize) -> f64 {
    if closed == 0 {
        return 0.0;
    }
    let (all, open) = (count(units), count(units - closed).max(1.0));
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..BISECTIONS {
        let kept: f64 = f64::midpoint(low, high);
        if (1.0 - kept.powf(all)) / (1.0 - kept) < open { low = kept } else { high = kept }
    }
    1.0 - low.powf(all - 0.75)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_keeps_its_slot_with_equal_probability_at_each_merge() {
        let mut slots = RandomEviction::new(10, false);
        slots.mark_written(0, true);
        (0..7).for_each(|_| slots.evict(1.0));
        assert!((slots.open_probability(0) - 0.9_f64.powi(7)).abs() < 1e-9);
        assert!((slots.foreign - 10.0 * 0.9_f64.powi(7)).abs() < 1e-9);
        slots.mark_written(0, true);
        assert!(slots.open_probability(0) > 0.999, "it has just been written");
    }

    /// The simulated share of round-robin writes that meet a closed unit, under random eviction.
    fn simulated_closed_share(slots: usize, units: usize) -> f64 {
        let mut state = 7_u64;
        let mut draw = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let mut open: Vec<usize> = (0..slots).collect();
        let mut merges = 0_u32;
        for write in 0..300_000 {
            let unit = write % units;
            if !open.contains(&unit) {
                open[draw(slots)] = unit;
                merges += u32::from(write >= 10_000);
            }
        }
        f64::from(merges) / 290_000.0
    }

    #[test]
    fn the_closed_share_of_oldest_units_agrees_with_a_simulation() {
        for (slots, units) in [(5, 6), (5, 11), (10, 12), (10, 17), (30, 31), (30, 42), (60, 132)] {
            let simulated = simulated_closed_share(slots, units);
            let predicted = oldest_closed_probability(units, units - slots);
            assert!(
                (simulated - predicted).abs() < 0.005,
                "{slots} slots, {units} units: {simulated} simulated, {predicted} predicted"
            );
        }
    }

    #[test]
    fn a_retired_unit_that_was_written_last_keeps_its_slot_until_an_opening_takes_it() {
        let mut slots = RandomEviction {
            elsewhere: CountDistribution::certain(0, 2),
            round_robin: 3,
            ..RandomEviction::new(2, false)
        };
        (0..3).for_each(|unit| slots.mark_written(unit, true));
        slots.retire(2);
        assert_eq!((slots.round_robin, slots.elsewhere.of(1)), (2, 1.0), "one of the other two is closed");
        let opening = BlockWrite {
            unit: 3,
            writes_before: 0,
            distance: 3,
            distance_writable: 2,
            open_at_once: 0,
            is_pair: false,
            pair_slow: None,
            first_opening_slow: 0.9,
            opening_slow: 0.9,
        };
        slots.update(opening, 0.0);
        assert!(slots.elsewhere.of(0) > 0.999);
        assert_eq!(slots.round_robin, 3);
    }

    #[test]
    fn a_single_closed_unit_was_not_written_since_the_last_merge() {
        let one_closed = |since_merge| RandomEviction {
            elsewhere: CountDistribution::certain(1, 2),
            round_robin: 2,
            since_merge,
            ..RandomEviction::new(2, false)
        };
        assert!(one_closed(Some(1)).oldest_is_closed() > 0.999, "of two, it is the other");
        let of_four = |since_merge| RandomEviction {
            elsewhere: CountDistribution::certain(1, 4),
            round_robin: 4,
            since_merge,
            ..RandomEviction::new(4, false)
        };
        assert!(of_four(None).oldest_is_closed() < 0.6);
        let closed: Vec<f64> = (1..=3).map(|since| of_four(Some(since)).oldest_is_closed()).collect();
        assert!(
            closed.iter().zip([1.0 / 3.0, 0.5, 1.0]).all(|(one, other)| (one - other).abs() < 1e-9),
            "{closed:?}"
        );
    }

    #[test]
    fn a_slow_opening_takes_the_slot_of_any_block_and_a_fast_one_a_free_slot() {
        let mut slots = RandomEviction::new(4, false);
        slots.take_slot(1.0);
        assert!((slots.elsewhere.of(3) - 1.0).abs() < 1e-9, "other blocks held all");
        slots.take_slot(1.0);
        let held = [2, 3].map(|elsewhere| slots.elsewhere.of(elsewhere));
        assert!((held[0] - 0.75).abs() < 1e-9 && (held[1] - 0.25).abs() < 1e-9, "{held:?}");
        slots.take_slot(0.0);
        let held = [1, 2].map(|elsewhere| slots.elsewhere.of(elsewhere));
        assert!((held[0] - 0.75).abs() < 1e-9 && (held[1] - 0.25).abs() < 1e-9, "{held:?}");
    }

    /// Three units share four slots with others, which hold one or two of them.
    #[test]
    fn a_slow_write_shows_that_a_unit_was_closed_and_takes_the_slot_of_any_block() {
        let three = |elsewhere| RandomEviction { elsewhere, round_robin: 3, ..RandomEviction::new(4, false) };
        let two = || CountDistribution::certain(2, 4);
        let mut slow = three(two());
        slow.continue_unit(1.0);
        assert!((slow.elsewhere.of(1) - 0.5).abs() < 0.01, "two of four: {:?}", slow.elsewhere);
        assert!((slow.foreign - 3.0).abs() < 0.01, "{}", slow.foreign);
        let mut fast = three(two());
        fast.continue_unit(0.0);
        assert!(fast.elsewhere.of(2) > 0.99 && fast.foreign > 3.98, "{fast:?}");
        let one_or_two = || {
            let mut elsewhere = two();
            elsewhere.fall(|_| 0.5);
            elsewhere
        };
        let mut slow = three(one_or_two());
        slow.continue_unit(1.0);
        assert!((slow.elsewhere.of(2) - 0.5).abs() < 0.01, "one is excluded: {:?}", slow.elsewhere);
        let mut fast = three(one_or_two());
        fast.continue_unit(0.0);
        assert!((fast.elsewhere.of(2) - 0.254).abs() < 0.01, "one is likelier: {:?}", fast.elsewhere);
    }

    /// A unit keeps one of four slots through one merge with probability 3/4. Three slots are held elsewhere,
    /// where three, six, or its own alone were expected.
    #[test]
    fn a_unit_that_joins_is_the_likelier_to_hold_a_slot_the_more_are_held_elsewhere() {
        for (foreign, holds) in [(2.25, 0.75), (5.25, 0.6), (0.0, 12.0 / 13.0)] {
            let elsewhere = CountDistribution::certain(3, 4);
            let mut slots = RandomEviction { elsewhere, round_robin: 1, ..RandomEviction::new(4, false) };
            slots.mark_written(0, true);
            slots.evict(1.0);
            slots.mark_written(1, true);
            slots.foreign = foreign;
            slots.join();
            let held = [2, 3].map(|elsewhere| slots.elsewhere.of(elsewhere));
            let is_right = (held[0] - holds).abs() < 1e-9 && (held[1] - (1.0 - holds)).abs() < 1e-9;
            assert!(is_right && slots.round_robin == 2, "{foreign}: {held:?}");
        }
    }

    #[test]
    fn a_single_write_shows_a_lost_slot_only_if_units_take_slots_with_the_first_write() {
        let again = |is_pair| BlockWrite {
            unit: 0,
            writes_before: 2,
            distance: 1,
            distance_writable: 1,
            open_at_once: 1,
            is_pair,
            pair_slow: None,
            first_opening_slow: 0.5,
            opening_slow: 0.5,
        };
        let merges = |slots: RandomEviction| {
            let one_closed =
                RandomEviction { elsewhere: CountDistribution::certain(1, 2), round_robin: 2, ..slots };
            [false, true].map(|is_pair| one_closed.merge_probability(again(is_pair)) > 0.5)
        };
        assert_eq!(merges(RandomEviction::new(2, false)), [true, true]);
        assert_eq!(merges(RandomEviction::new(2, true)), [false, true]);
        assert_eq!(merges(RandomEviction::separate(2, 8)), [false, true]);
    }
}
