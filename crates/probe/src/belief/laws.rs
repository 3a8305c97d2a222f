//! What a controller with so many places does when another erase block is written: which one has to go, and when that costs
//! a merge. Each law predicts, write by write, how likely a merge is.

use std::collections::HashSet;
use std::ops::Range;

use super::any_place::AnyPlace;
use crate::observation::Order;

/// How the controller chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Law {
    /// The block written longest ago goes: with one block too many every switch merges.
    LeastRecent,
    /// Any block goes: with one too many some switches merge.
    Any,
}

/// What else differs between controllers of one law.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// A unit takes a place with its first write, and each that has to go costs a merge.
    AtOnce,
    /// Out of order, the first write alone is a run like any other: the place is taken with the second.
    TwoSteps,
    /// A block that holds nothing yet but what was just written to it costs nothing the first time that it has to go.
    FirstFree,
}

impl Way {
    /// Under [`Law::Any`] it is not known which unit has to go, and so not whether it is the first time.
    pub(super) const fn goes_with(self, law: Law) -> bool {
        !matches!((self, law), (Self::FirstFree, Law::Any))
    }

    /// How plausible it is before anything was seen.
    pub(super) const fn plausible(self, order: Order, law: Law) -> f64 {
        match (self, order, law) {
            (Self::AtOnce, Order::Linear, Law::Any) => 1.0,
            (Self::AtOnce, Order::Linear, _) => 0.85,
            (Self::FirstFree, ..) => 0.15,
            _ => 0.5,
        }
    }
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
    /// Whether it fills the unit.
    pub is_last: bool,
    /// How many units are surely open at once after this write if it turns out clean.
    pub proven: usize,
}

/// Whether the first write into a unit merges depends on what was open before: that says nothing of the number.
const NOTHING_KNOWN: f64 = 0.5;

/// The places of a controller under one law.
///
/// In linear order a unit takes a place with its first write. Out of order it may take it only with its second. Both are
/// tried ([`Way`]).
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
    LeastRecentFirstFree(FirstFree),
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
    pub(super) fn new(law: Law, count: usize, is_random_order: bool, way: Way) -> Self {
        let kind = match (law, way) {
            (Law::LeastRecent, Way::AtOnce) => Kind::LeastRecent,
            (Law::LeastRecent, Way::TwoSteps) => Kind::LeastRecentInTwoSteps(Recent::default()),
            (Law::LeastRecent, Way::FirstFree) => Kind::LeastRecentFirstFree(FirstFree::default()),
            (Law::Any, _) => Kind::Any(AnyPlace::new(count, way == Way::TwoSteps)),
        };
        Self { count, openings: 1 + u32::from(is_random_order), kind }
    }

    pub(super) const fn law(&self) -> Law {
        match self.kind {
            Kind::Any(_) => Law::Any,
            _ => Law::LeastRecent,
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
        if touch.before < self.openings || touch.is_last {
            return NOTHING_KNOWN;
        }
        let certain = |merges: bool| f64::from(u8::from(merges));
        match &self.kind {
            Kind::LeastRecent => certain(touch.distance >= self.count),
            Kind::LeastRecentFirstFree(places) => places.chance(touch.unit, self.count),
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
            Kind::LeastRecentFirstFree(places) => places.placed.extend(units),
            Kind::Any(places) => places.hold(units),
        }
    }

    /// The unit was written to its end: its place is free.
    pub(super) fn close(&mut self, unit: usize) {
        match &mut self.kind {
            Kind::Any(places) => places.close(unit),
            Kind::LeastRecentFirstFree(places) => places.placed.retain(|other| *other != unit),
            Kind::LeastRecent | Kind::LeastRecentInTwoSteps(_) => {}
        }
    }

    /// Moves on after a write that is slow with this probability.
    pub(super) fn take(&mut self, touch: Touch, slow: f64) {
        // In two steps the second write is predicted like any other.
        let openings = self.openings;
        match &mut self.kind {
            Kind::LeastRecent => {}
            Kind::LeastRecentInTwoSteps(recent) => recent.take(touch.unit, self.count),
            Kind::LeastRecentFirstFree(places) => places.take(touch.unit, self.count),
            Kind::Any(_) if self.count == 0 => {}
            Kind::Any(places) => places.take(touch.unit, touch.before < openings, slow),
        }
    }
}

/// Units that hold a place, the one written longest ago first, and those that had to go once.
#[derive(Debug, Clone, Default)]
struct FirstFree {
    placed: Vec<usize>,
    gone: HashSet<usize>,
}

impl FirstFree {
    /// How likely a write into this unit merges the one that has to go.
    fn chance(&self, unit: usize, count: usize) -> f64 {
        match self.placed.first() {
            _ if self.placed.contains(&unit) || self.placed.len() < count => 0.0,
            Some(goes) if self.gone.contains(goes) => 1.0,
            _ => SELDOM,
        }
    }

    fn take(&mut self, unit: usize, count: usize) {
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
