//! What a controller with so many places does when another erase block is written: which one has to go, and when that costs
//! a merge. Each law predicts, write by write, how likely a merge is.

use std::ops::Range;

use super::any_place::AnyPlace;

/// How the controller chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Law {
    /// The block written longest ago goes: with one block too many every switch merges.
    LeastRecent,
    /// Any block goes: with one too many some switches merge.
    Any,
}

/// One write as the laws see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Touch {
    /// Which unit, counted in the order in which they were first written.
    pub unit: usize,
    /// How often it was written before.
    pub before: u32,
    /// How many other units were written since.
    pub distance: usize,
    /// How many units are surely open at once after this write if it turns out clean.
    pub proven: usize,
}

/// Whether the first write into a unit merges depends on what was open before: that says nothing of the number.
const NOTHING_KNOWN: f64 = 0.5;

/// The places of a controller under one law.
///
/// In linear order a unit takes a place with its first write. Out of order it may take it only with its second: the
/// first one alone is a run like any other. Both are tried (`two_steps`).
#[derive(Debug, Clone)]
pub(super) struct Places {
    count: usize,
    openings: u32,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    LeastRecent,
    LeastRecentInTwoSteps(Recent),
    Any(AnyPlace),
}

/// Units that hold a place, the one written longest ago first, and those that were written once since they lost one.
#[derive(Debug, Clone, Default)]
struct Recent {
    placed: Vec<usize>,
    begun: Vec<usize>,
}

impl Places {
    /// So many places. In random order the first two writes into a unit may both have to make room for it.
    pub(super) fn new(law: Law, count: usize, is_random_order: bool, two_steps: bool) -> Self {
        let kind = match (law, two_steps) {
            (Law::LeastRecent, false) => Kind::LeastRecent,
            (Law::LeastRecent, true) => Kind::LeastRecentInTwoSteps(Recent::default()),
            (Law::Any, _) => Kind::Any(AnyPlace::new(count, two_steps)),
        };
        Self { count, openings: 1 + u32::from(is_random_order), kind }
    }

    pub(super) const fn law(&self) -> Law {
        match self.kind {
            Kind::LeastRecent | Kind::LeastRecentInTwoSteps(_) => Law::LeastRecent,
            Kind::Any(_) => Law::Any,
        }
    }

    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// How likely this write contains a merge.
    pub(super) fn chance(&self, touch: Touch) -> f64 {
        if self.count == 0 {
            return if touch.before == 0 { NOTHING_KNOWN } else { 1.0 };
        }
        if touch.before < self.openings {
            return NOTHING_KNOWN;
        }
        let certain = |merges: bool| f64::from(u8::from(merges));
        match &self.kind {
            Kind::LeastRecent => certain(touch.distance >= self.count),
            _ if touch.proven > self.count => 1.0,
            Kind::LeastRecentInTwoSteps(recent) => certain(recent.begun.contains(&touch.unit)),
            Kind::Any(places) => places.chance(touch.unit),
        }
    }

    /// These units hold places already, so that another one has to make room at once.
    pub(super) fn hold(&mut self, units: Range<usize>) {
        self.openings = 1;
        match &mut self.kind {
            Kind::LeastRecent => {}
            Kind::LeastRecentInTwoSteps(recent) => recent.placed.extend(units),
            Kind::Any(places) => places.hold(units),
        }
    }

    /// The unit was written to its end: its place is free.
    pub(super) fn close(&mut self, unit: usize) {
        if let Kind::Any(places) = &mut self.kind {
            places.close(unit);
        }
    }

    /// Moves on after a write that is slow with this probability.
    pub(super) fn take(&mut self, touch: Touch, slow: f64) {
        // In two steps the second write is predicted like any other.
        let openings = self.openings;
        match &mut self.kind {
            Kind::LeastRecent => {}
            Kind::LeastRecentInTwoSteps(recent) => recent.take(touch.unit, self.count),
            Kind::Any(_) if self.count == 0 => {}
            Kind::Any(places) => places.take(touch.unit, touch.before < openings, slow),
        }
    }
}

impl Recent {
    fn take(&mut self, unit: usize, count: usize) {
        if let Some(place) = self.placed.iter().position(|other| *other == unit) {
            self.placed.remove(place);
        } else if let Some(begun) = self.begun.iter().position(|other| *other == unit) {
            self.begun.remove(begun);
            if self.placed.len() >= count && !self.placed.is_empty() {
                self.placed.remove(0);
            }
        } else {
            self.begun.push(unit);
            return;
        }
        self.placed.push(unit);
    }
}
