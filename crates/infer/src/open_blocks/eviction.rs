//! Eviction laws: which open block the controller evicts for another one, and with which write a block takes
//! its slot.

use flashscope_record::observation::Order;

/// Which open block the controller evicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EvictionLaw {
    /// The least recently written block: with one block too many, every switch merges.
    Lru,
    /// Any open block: with one block too many, only some switches merge.
    Random,
}

/// When a unit takes a slot, and which evictions cost a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SlotUse {
    /// A unit takes a slot with its first write, and each eviction costs a merge.
    FirstWrite,
    /// In random order, a unit takes its slot with the second write: the first one alone is a run.
    SecondWrite,
    /// The same if fewer units fit than in sequential order, and earlier sequential writes may hold some of
    /// these slots: gaps left by small requests count as random.
    SecondWriteTaken,
    /// The first eviction of a block costs nothing: the block held no data before.
    FirstEvictionFree,
}

impl SlotUse {
    /// Whether this can be modelled under the law. Under random eviction the evicted unit is unknown, and so
    /// is whether this is its first eviction.
    pub(super) const fn is_compatible(self, law: EvictionLaw) -> bool {
        !matches!(
            (self, law),
            (Self::FirstEvictionFree, EvictionLaw::Random) | (Self::SecondWriteTaken, EvictionLaw::Lru)
        )
    }

    /// The prior probability under a law. Guess: the shares of controllers are unknown.
    pub(super) const fn prior(self, order: Order, law: EvictionLaw) -> f64 {
        match (self, order, law) {
            (Self::FirstWrite, Order::Linear, EvictionLaw::Random) => 1.0,
            (Self::FirstWrite, Order::Linear, _) => 0.85,
            (Self::FirstEvictionFree, ..) => 0.15,
            (Self::SecondWriteTaken, ..) => 0.02,
            _ => 0.5,
        }
    }
}

/// Whether the second of the first two writes into a unit merges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum SecondWriteMerge {
    /// It never does: the slot was taken with the first write.
    Never,
    /// It merges if no slot for random order is free, which has this probability. The first write takes a
    /// slot for sequential order.
    IfFull(f64),
    /// Either of the two writes may merge.
    Either,
}

/// The lowest probability of a merge, or of none, in one of two paired writes. Guess.
pub(super) const PAIR_PROBABILITY_MIN: f64 = 0.01;

/// One write, or a pair of random writes, as the eviction laws see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockWrite {
    /// The unit, by the sequence of first writes.
    pub unit: usize,
    /// The number of earlier writes into it.
    pub writes_before: u32,
    /// The number of other units written since then.
    pub distance: usize,
    /// The number of those that can be written again.
    pub distance_writable: usize,
    /// The number of units that are certainly open at once if this write is fast.
    pub open_at_once: usize,
    /// Whether these are two consecutive writes into one unit, of which the slower one counts.
    pub is_pair: bool,
    /// The probabilities that the first and the second write of a pair are slow.
    pub pair_slow: Option<(f64, f64)>,
    /// The probability that the first write of a pair that opens a unit is slow, by earlier openings.
    pub first_opening_slow: f64,
    /// The probability that a write that opens a unit is slow while slots are left, by earlier openings.
    pub opening_slow: f64,
}
