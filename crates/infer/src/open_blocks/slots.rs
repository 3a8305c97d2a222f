//! The slots of a controller under one eviction law. Each law predicts, write by write, the probability of a
//! merge.

use crate::open_blocks::eviction::{
    BlockWrite, EvictionLaw, PAIR_PROBABILITY_MIN, SecondWriteMerge, SlotUse,
};
use crate::open_blocks::lru_eviction::{FirstFreeSlots, SecondWriteSlots};
use crate::open_blocks::random_eviction::RandomEviction;
use crate::thresholds::AS_LIKELY_AS_NOT;

/// The slots of a controller under one law.
///
/// In sequential order a unit takes a slot with its first write. In random order it may take the slot with
/// its second write only. Both are hypotheses ([`SlotUse`]).
#[derive(Debug, Clone)]
pub(super) struct Slots {
    count: usize,
    /// The number of writes that may open a unit: one, or two in random order.
    opening_writes: u32,
    state: SlotState,
    /// Whether the slots for random order are separate from the sequential ones, and free at first.
    is_separate: bool,
}

/// Which units hold a slot, as far as the law lets it be known.
#[derive(Debug, Clone)]
enum SlotState {
    /// The most recently written units.
    Lru,
    LruSecondWrite(SecondWriteSlots),
    LruFirstFree(FirstFreeSlots),
    Random(RandomEviction),
}

impl Slots {
    /// A number of slots. `sequential` is the number of slots in sequential order, if known. In random order
    /// both of the first two writes into a unit may evict another one.
    pub(super) fn new(
        law: EvictionLaw,
        count: usize,
        is_random_order: bool,
        slot_use: SlotUse,
        sequential: Option<usize>,
    ) -> Self {
        // If fewer fit than in sequential order, the slots are separate: earlier sequential writes hold none.
        let separate =
            sequential.filter(|sequential| slot_use == SlotUse::SecondWrite && count < *sequential);
        let state = match (law, slot_use) {
            (EvictionLaw::Lru, SlotUse::FirstWrite) => SlotState::Lru,
            (EvictionLaw::Lru, SlotUse::SecondWrite | SlotUse::SecondWriteTaken) => {
                SlotState::LruSecondWrite(SecondWriteSlots::default())
            }
            (EvictionLaw::Lru, SlotUse::FirstEvictionFree) => {
                SlotState::LruFirstFree(FirstFreeSlots::default())
            }
            (EvictionLaw::Random, _) => SlotState::Random(match separate {
                Some(sequential) => RandomEviction::separate(count, sequential),
                None => RandomEviction::new(count, slot_use != SlotUse::FirstWrite),
            }),
        };
        let opening_writes = 1 + u32::from(is_random_order);
        Self { count, opening_writes, state, is_separate: separate.is_some() }
    }

    pub(super) const fn law(&self) -> EvictionLaw {
        match self.state {
            SlotState::Random(_) => EvictionLaw::Random,
            _ => EvictionLaw::Lru,
        }
    }

    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// The probability that this write contains a merge.
    pub(super) fn merge_probability(&self, write: BlockWrite) -> f64 {
        // Nobody knows which blocks were open before the experiment: such a write says nothing.
        if self.count == 0 {
            return if write.writes_before == 0 && !write.is_pair { AS_LIKELY_AS_NOT } else { 1.0 };
        }
        if write.writes_before == 0 {
            return self.opening_merge_probability(write);
        }
        if write.writes_before < self.opening_writes {
            return AS_LIKELY_AS_NOT;
        }
        let certain = |merges: bool| f64::from(u8::from(merges));
        match &self.state {
            SlotState::Lru => certain(write.distance >= self.count),
            SlotState::LruFirstFree(slots) => slots.merge_probability(write.unit, self.count),
            _ if write.open_at_once > self.count => 1.0,
            SlotState::LruSecondWrite(slots) if write.is_pair => certain(!slots.open.contains(&write.unit)),
            SlotState::LruSecondWrite(slots) => certain(slots.written_once.contains(&write.unit)),
            SlotState::Random(slots) => slots.merge_probability(write),
        }
    }

    /// The probability that the first write into a unit evicts another one. It is 1 once as many units were
    /// written as there are slots. Until then it depends on the blocks open before the experiment, and
    /// earlier openings predict it.
    fn opening_merge_probability(&self, write: BlockWrite) -> f64 {
        match &self.state {
            SlotState::LruFirstFree(slots) if slots.open.len() >= self.count => {
                slots.merge_probability(write.unit, self.count)
            }
            SlotState::Lru if write.unit >= self.count => 1.0,
            SlotState::Random(slots) => slots.opening_merge_probability(write),
            _ => write.opening_slow,
        }
    }

    /// Whether the second of the first two writes into a unit merges.
    pub(super) fn second_write_merge(&self) -> SecondWriteMerge {
        let if_full = |probability: f64| {
            SecondWriteMerge::IfFull(probability.clamp(PAIR_PROBABILITY_MIN, 1.0 - PAIR_PROBABILITY_MIN))
        };
        match &self.state {
            // Without slots every random write merges.
            _ if self.count == 0 => if_full(1.0),
            SlotState::Lru => SecondWriteMerge::Never,
            SlotState::LruSecondWrite(slots) if self.is_separate => {
                if_full(f64::from(u8::from(slots.open.len() >= self.count)))
            }
            SlotState::Random(slots) => slots.full_probability().map_or_else(
                || {
                    if slots.takes_slot_second() { SecondWriteMerge::Either } else { SecondWriteMerge::Never }
                },
                if_full,
            ),
            _ => SecondWriteMerge::Either,
        }
    }

    /// Removes a unit that will not be written again, whether it holds a slot or not.
    pub(super) fn retire(&mut self, unit: usize) {
        if let SlotState::Random(slots) = &mut self.state {
            slots.retire(unit);
        }
    }

    /// Prepares for a write before its latency is known.
    pub(super) fn expect(&mut self, write: BlockWrite) {
        if let SlotState::Random(slots) = &mut self.state {
            slots.expect(write);
        }
    }

    /// Updates the slots after a write that is slow with this probability.
    pub(super) fn update(&mut self, write: BlockWrite, slow: f64) {
        match &mut self.state {
            SlotState::Lru => {}
            SlotState::LruSecondWrite(slots) => {
                slots.write(write.unit, self.count);
                if write.is_pair {
                    slots.write(write.unit, self.count);
                }
            }
            SlotState::LruFirstFree(slots) => slots.write(write.unit, self.count),
            SlotState::Random(_) if self.count == 0 => {}
            SlotState::Random(slots) => slots.update(write, slow),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPENING: BlockWrite = BlockWrite {
        unit: 0,
        writes_before: 0,
        distance: 0,
        distance_writable: 0,
        open_at_once: 1,
        is_pair: false,
        pair_slow: None,
        first_opening_slow: 0.3,
        opening_slow: 0.3,
    };

    /// The probability of a merge with four slots of LRU eviction.
    fn merges(is_random_order: bool, write: BlockWrite) -> f64 {
        let slots = Slots::new(EvictionLaw::Lru, 4, is_random_order, SlotUse::FirstWrite, None);
        slots.merge_probability(write)
    }

    #[test]
    fn an_opening_surely_merges_once_as_many_units_were_opened_as_there_are_slots() {
        let opening = |unit| merges(false, BlockWrite { unit, distance: unit, ..OPENING });
        assert_eq!([0, 3, 4, 5].map(opening), [0.3, 0.3, 1.0, 1.0]);
    }

    #[test]
    fn a_unit_is_surely_open_or_closed_only_after_all_writes_that_may_open_it() {
        let again = |is_random_order, writes_before, distance| {
            merges(is_random_order, BlockWrite { writes_before, distance, ..OPENING })
        };
        assert_eq!([3, 4].map(|distance| again(false, 1, distance)), [0.0, 1.0]);
        assert_eq!([3, 4].map(|distance| again(true, 1, distance)), [0.5, 0.5]);
        assert_eq!([3, 4].map(|distance| again(true, 2, distance)), [0.0, 1.0]);
    }

    #[test]
    fn slots_for_random_order_are_separate_only_if_they_are_fewer() {
        let second_write = |law, count, slot_use, sequential| {
            Slots::new(law, count, true, slot_use, sequential).second_write_merge()
        };
        let free = SecondWriteMerge::IfFull(PAIR_PROBABILITY_MIN);
        for law in [EvictionLaw::Lru, EvictionLaw::Random] {
            let second_takes = |sequential| second_write(law, 3, SlotUse::SecondWrite, sequential);
            assert_eq!(second_takes(Some(4)), free, "{law:?}: none of the three is taken");
            assert_eq!(second_takes(Some(3)), SecondWriteMerge::Either, "{law:?}");
            assert_eq!(second_takes(None), SecondWriteMerge::Either, "{law:?}");
            let first_takes = second_write(law, 3, SlotUse::FirstWrite, Some(4));
            assert_eq!(first_takes, SecondWriteMerge::Never, "{law:?}");
        }
        let taken = second_write(EvictionLaw::Random, 3, SlotUse::SecondWriteTaken, Some(4));
        assert_eq!(taken, SecondWriteMerge::Either);
    }
}
