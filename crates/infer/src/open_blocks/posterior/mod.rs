//! The posterior over the number of open units, updated write by write.

mod decision;
mod openings;
#[cfg(test)]
mod tests;
mod units;
mod update;
mod weights;

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::observation::Order;

use self::openings::Openings;
use crate::open_blocks::eviction::{EvictionLaw, SlotUse};
use crate::open_blocks::hypothesis::Hypothesis;
pub use crate::open_blocks::limits::OPEN_MAX;
use crate::open_blocks::prior::{DIFFERS_BY_ORDER, Prior};
use crate::open_blocks::slots::Slots;
use crate::slow_classifier::SlowClassifier;
use crate::thresholds::SURE_ENOUGH;

/// The least share of merges that are hidden. Guess.
const HIDDEN_MIN: f64 = 0.01;
/// The most, whatever the size of the blocks. Guess.
const HIDDEN_MAX: f64 = 0.2;
/// A block that lacks at most this many writes is merged too fast to show. Guess.
const NEARLY_FULL_WRITES: f64 = 1.5;

/// The result of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// The most probable number; [`OPEN_MAX`] + 1 stands for more.
    pub number: u32,
    /// Its posterior probability.
    pub probability: f64,
    /// The lower end of the 95 % interval.
    pub low: u32,
    /// Its upper end.
    pub high: u32,
}

impl Verdict {
    /// Whether one number is found, if up to `units_max` were tried.
    #[must_use]
    pub fn is_found(&self, units_max: u32) -> bool {
        self.probability >= SURE_ENOUGH && self.number < units_max.min(OPEN_MAX + 1)
    }
}

/// The posterior over the number of open units in one order.
#[derive(Debug, Clone)]
pub struct Posterior {
    order: Order,
    classifier: SlowClassifier,
    prior: Prior,
    hypotheses: Vec<Hypothesis>,
    /// The index and the number of writes of each unit. Indices follow the sequence of first writes.
    writes_into: HashMap<u32, (usize, u32)>,
    /// The indices of all units, the least recently written first.
    recent: Vec<usize>,
    /// The number of slow writes at the last write into each unit.
    slow_at_write: HashMap<usize, usize>,
    /// Units without room for another write.
    retired: HashSet<usize>,
    /// Whether the unit written last was retired: the next opening may take its slot.
    last_is_retired: bool,
    /// The units written since the last merge, in random order twice.
    open_at_once: HashSet<usize>,
    /// The units written once since the last merge, in random order.
    written_once: HashSet<usize>,
    open_at_once_max: usize,
    /// The sizes of the units and of each write, if known.
    erase_block: Option<Bytes>,
    request: Option<Bytes>,
    /// The bytes written into each unit.
    filled: Vec<Bytes>,
    /// The least share of merges that do not show.
    hidden_share: f64,
    /// Whether a slot was freed before each opening, by filling a unit that may hold one.
    frees_slots: bool,
    /// The last random write, if it may be the first of a pair.
    unpaired: Option<(u32, Duration)>,
    /// The number of units in the last round-robin turn.
    pub(super) turn_units: u32,
    /// Whether that turn was of more than one write.
    pub(super) is_whole_turn: bool,
    /// The number of earlier turns of as many units.
    pub(super) turns: u32,
    /// The most units in a whole turn.
    pub(super) turn_units_max: u32,
    /// The writes that opened units.
    openings: Openings,
    /// The first writes of pairs that opened units.
    first_openings: Openings,
    /// The probability that each write was slow, in the sequence of the writes.
    slow_probabilities: Vec<f64>,
    pub(super) slow_seconds: Vec<f64>,
    pub(super) opening_seconds: Vec<f64>,
}

impl Posterior {
    /// The posterior before the first write, which is the prior.
    #[must_use]
    pub fn new(order: Order, classifier: SlowClassifier, prior: Prior) -> Self {
        Self {
            order,
            classifier,
            prior,
            hypotheses: hypotheses(order, prior),
            writes_into: HashMap::new(),
            recent: Vec::new(),
            slow_at_write: HashMap::new(),
            retired: HashSet::new(),
            last_is_retired: false,
            open_at_once: HashSet::new(),
            written_once: HashSet::new(),
            open_at_once_max: 0,
            erase_block: None,
            request: None,
            filled: Vec::new(),
            hidden_share: HIDDEN_MIN,
            frees_slots: false,
            unpaired: None,
            openings: Openings::default(),
            first_openings: Openings::default(),
            turn_units: 0,
            is_whole_turn: false,
            turns: 0,
            turn_units_max: 0,
            slow_probabilities: Vec::new(),
            slow_seconds: Vec::new(),
            opening_seconds: Vec::new(),
        }
    }

    /// The same with units of this size: a merge of a block that lacks only a few writes does not show.
    #[must_use]
    pub fn with_erase_block(self, erase_block: Bytes) -> Self {
        Self { erase_block: Some(erase_block), ..self }
    }

    /// The same if a slot is freed before each opening, by filling another unit: nothing merges while slots
    /// are left.
    #[must_use]
    pub const fn with_freed_slots(mut self) -> Self {
        self.frees_slots = true;
        self
    }

    /// The same if at least this share of merges does not show.
    #[must_use]
    pub const fn with_hidden(mut self, share: f64) -> Self {
        self.hidden_share = share;
        self
    }

    /// The same before the first write.
    pub(super) fn before_first_write(&self) -> Self {
        let new = Self::new(self.order, self.classifier, self.prior).with_hidden(self.hidden_share);
        Self { erase_block: self.erase_block, frees_slots: self.frees_slots, ..new }
    }

    /// The prior in random order after this search in sequential order.
    #[must_use]
    pub fn random_prior(&self) -> Prior {
        let verdict = self.verdict();
        let lru = self.eviction_probability(EvictionLaw::Lru).clamp(DIFFERS_BY_ORDER, 1.0 - DIFFERS_BY_ORDER);
        let hidden_ratio = self.hidden_merges_ratio().clamp(DIFFERS_BY_ORDER, 1.0);
        Prior::Random { linear: verdict.is_found(OPEN_MAX + 1).then_some(verdict.number), lru, hidden_ratio }
    }

    /// The classifier of slow writes.
    #[must_use]
    pub const fn classifier(&self) -> SlowClassifier {
        self.classifier
    }

    pub(super) const fn order(&self) -> Order {
        self.order
    }

    /// The number found in sequential order, for a posterior in random order.
    pub(super) const fn sequential_count(&self) -> Option<u32> {
        self.prior.sequential_count()
    }
}

/// Every possible hypothesis with its prior.
fn hypotheses(order: Order, prior: Prior) -> Vec<Hypothesis> {
    let slot_uses: &[SlotUse] = match order {
        Order::Linear => &[SlotUse::FirstWrite, SlotUse::FirstEvictionFree],
        Order::Random => &[SlotUse::FirstWrite, SlotUse::SecondWrite, SlotUse::SecondWriteTaken],
    };
    let lru = prior.lru();
    let of_law = |law: EvictionLaw| if law == EvictionLaw::Lru { lru } else { 1.0 - lru };
    let sequential = prior.sequential_count().map(|number| number as usize);
    let numbers = (0..=OPEN_MAX + 1).filter(|number| prior.weight(*number) > 0.0);
    let hypotheses = numbers.flat_map(|number| {
        [EvictionLaw::Lru, EvictionLaw::Random].into_iter().flat_map(move |law| {
            // Under random eviction the model follows the controller on average only: after many writes it
            // would be sure of numbers that are impossible.
            let is_more = sequential.is_some_and(|sequential| number as usize > sequential);
            let is_fewer = sequential.is_some_and(|sequential| (number as usize) < sequential);
            let is_possible = move |slot_use: SlotUse| {
                slot_use.is_compatible(law)
                    && !(law == EvictionLaw::Random && is_more)
                    && (slot_use != SlotUse::SecondWriteTaken || is_fewer)
            };
            let slot_uses = slot_uses.iter().filter(move |slot_use| is_possible(**slot_use));
            slot_uses.map(move |slot_use| {
                let weight = prior.weight(number) * of_law(law) * slot_use.prior(order, law);
                Hypothesis::new(
                    Slots::new(law, number as usize, order == Order::Random, *slot_use, sequential),
                    weight,
                    prior.hidden_ratio(law),
                )
            })
        })
    });
    hypotheses.collect()
}
