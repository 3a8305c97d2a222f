//! Places of which the one written longest ago has to go.

use std::collections::HashSet;

/// Units that hold a place, the one written longest ago first, and those that were written once since they lost one.
#[derive(Debug, Clone, Default)]
pub(super) struct Recent {
    pub(super) placed: Vec<usize>,
    pub(super) opened: Vec<usize>,
}

/// Units that hold a place, the one written longest ago first, and those that had to go once.
#[derive(Debug, Clone, Default)]
pub(super) struct FirstFree {
    pub(super) placed: Vec<usize>,
    gone: HashSet<usize>,
}

impl FirstFree {
    /// How likely a write into this unit merges the one that has to go.
    pub(super) fn chance(&self, unit: usize, count: usize) -> f64 {
        match self.placed.first() {
            _ if self.placed.contains(&unit) || self.placed.len() < count => 0.0,
            Some(goes) if self.gone.contains(goes) => 1.0,
            _ => SELDOM,
        }
    }

    /// The unit was written.
    pub(super) fn take(&mut self, unit: usize, count: usize) {
        if let Some(place) = self.placed.iter().position(|other| *other == unit) {
            self.placed.remove(place);
        } else if self.placed.len() >= count && !self.placed.is_empty() {
            self.gone.insert(self.placed.remove(0));
        }
        self.placed.push(unit);
    }
}

/// The first time costs something now and then.
const SELDOM: f64 = 0.1;

impl Recent {
    /// The unit was written: it takes a place with its second write since it lost one.
    pub(super) fn take(&mut self, unit: usize, count: usize) {
        if self.placed.contains(&unit) || self.opened.contains(&unit) {
            self.opened.retain(|other| *other != unit);
            self.place(unit, count);
        } else {
            self.opened.push(unit);
        }
    }

    /// The unit holds a place, where none was left that of the one written longest ago.
    pub(super) fn place(&mut self, unit: usize, count: usize) {
        if let Some(place) = self.placed.iter().position(|other| *other == unit) {
            self.placed.remove(place);
        } else if self.placed.len() >= count && !self.placed.is_empty() {
            self.placed.remove(0);
        }
        self.placed.push(unit);
    }
}
