//! Slots under LRU eviction.

use std::collections::HashSet;

/// The probability of a merge at the first eviction of a block that held no data before. Guess.
const FIRST_EVICTION_MERGES: f64 = 0.1;

/// Slots that units take with their second write.
#[derive(Debug, Clone, Default)]
pub(super) struct SecondWriteSlots {
    /// Units with a slot, the least recently written first.
    pub(super) open: Vec<usize>,
    /// Units with one write since they lost their slot.
    pub(super) written_once: Vec<usize>,
}

/// Slots of which a unit loses its first one without a merge.
#[derive(Debug, Clone, Default)]
pub(super) struct FirstFreeSlots {
    /// Units with a slot, the least recently written first.
    pub(super) open: Vec<usize>,
    /// Units that were evicted at least once.
    evicted: HashSet<usize>,
}

impl FirstFreeSlots {
    /// The probability that a write into this unit merges the evicted one, with `count` slots.
    pub(super) fn merge_probability(&self, unit: usize, count: usize) -> f64 {
        match self.open.first() {
            _ if self.open.contains(&unit) || self.open.len() < count => 0.0,
            Some(oldest) if self.evicted.contains(oldest) => 1.0,
            _ => FIRST_EVICTION_MERGES,
        }
    }

    /// Takes a write into this unit, with `count` slots.
    pub(super) fn write(&mut self, unit: usize, count: usize) {
        if let Some(index) = self.open.iter().position(|other| *other == unit) {
            self.open.remove(index);
        } else if self.open.len() >= count && !self.open.is_empty() {
            self.evicted.insert(self.open.remove(0));
        }
        self.open.push(unit);
    }
}

impl SecondWriteSlots {
    /// Takes a write into this unit, with `count` slots.
    pub(super) fn write(&mut self, unit: usize, count: usize) {
        if self.open.contains(&unit) || self.written_once.contains(&unit) {
            self.written_once.retain(|other| *other != unit);
            self.open(unit, count);
        } else {
            self.written_once.push(unit);
        }
    }

    /// Gives a slot to this unit, and evicts the least recently written one if none is left.
    fn open(&mut self, unit: usize, count: usize) {
        if let Some(index) = self.open.iter().position(|other| *other == unit) {
            self.open.remove(index);
        } else if self.open.len() >= count && !self.open.is_empty() {
            self.open.remove(0);
        }
        self.open.push(unit);
    }
}
