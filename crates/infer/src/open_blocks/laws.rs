//! What a controller with so many places does when another erase block is written: which one has to go, and when that costs
//! a merge. Each law predicts, write by write, how likely a merge is.

use flashscope_record::observation::Order;

use crate::open_blocks::random_eviction::AnyPlace;
use crate::open_blocks::recent::{FirstFree, Recent};

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
    /// The same where fewer fit than in order, and what was written in order before may hold some of these places: a gap that small
    /// requests left is out of order.
    TwoStepsTaken,
    /// A block that holds nothing yet but what was just written to it costs nothing the first time that it has to go.
    FirstFree,
}

impl Way {
    /// Under [`Law::Any`] it is not known which unit has to go, and so not whether it is the first time.
    pub(super) const fn goes_with(self, law: Law) -> bool {
        !matches!((self, law), (Self::FirstFree, Law::Any) | (Self::TwoStepsTaken, Law::LeastRecent))
    }

    /// How plausible it is before anything was seen.
    pub(super) const fn plausible(self, order: Order, law: Law) -> f64 {
        match (self, order, law) {
            (Self::AtOnce, Order::Linear, Law::Any) => 1.0,
            (Self::AtOnce, Order::Linear, _) => 0.85,
            (Self::FirstFree, ..) => 0.15,
            (Self::TwoStepsTaken, ..) => 0.02,
            _ => 0.5,
        }
    }
}

/// What the second of the first two writes into a unit says of the places out of order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Second {
    /// The place was taken with the first.
    PaysNothing,
    /// It pays if no place is free, which has this probability; the first one pays for a place in order.
    PaysIfFull(f64),
    /// Either of them may pay.
    OrTheFirst,
}

/// Nothing that the second of two writes does is less likely.
pub(super) const UNFORESEEN: f64 = 0.01;

/// One write as the laws see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Touch {
    /// Which unit, counted in the order in which they were first written.
    pub unit: usize,
    /// How often it was written before.
    pub before: u32,
    /// How many other units were written since.
    pub distance: usize,
    /// How many of those can be written again.
    pub live: usize,
    /// How many units are surely open at once after this write if it turns out clean.
    pub proven: usize,
    /// Whether these are two writes one after the other, of which the slower one counts.
    pub twice: bool,
    /// How likely either of these two is slow.
    pub halves: Option<(f64, f64)>,
    /// How likely the first of two into a unit is slow, by those before.
    pub first_opens_slowly: f64,
    /// How likely the first write into a unit is slow while places are left, by those before.
    pub opens_slowly: f64,
}

/// Whether the second write into a unit merges depends on what was open before: that says nothing of the number.
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
    /// Whether places out of order are apart from those in order, and free at first.
    is_apart: bool,
}

#[derive(Debug, Clone)]
enum Kind {
    /// Those of which so many are written last hold a place.
    LeastRecent,
    LeastRecentInTwoSteps(Recent),
    LeastRecentFirstFree(FirstFree),
    Any(AnyPlace),
}

impl Places {
    /// So many places, and so many in order, if that is known. In random order the first two writes into a unit may both have to make room
    /// for it.
    pub(super) fn new(
        law: Law,
        count: usize,
        is_random_order: bool,
        way: Way,
        in_order: Option<usize>,
    ) -> Self {
        // Fewer than in order are apart from those: none of them is taken by what was written in order before.
        let apart = in_order.filter(|in_order| way == Way::TwoSteps && count < *in_order);
        let kind = match (law, way) {
            (Law::LeastRecent, Way::AtOnce) => Kind::LeastRecent,
            (Law::LeastRecent, Way::TwoSteps | Way::TwoStepsTaken) => {
                Kind::LeastRecentInTwoSteps(Recent::default())
            }
            (Law::LeastRecent, Way::FirstFree) => Kind::LeastRecentFirstFree(FirstFree::default()),
            (Law::Any, _) => Kind::Any(match apart {
                Some(in_order) => AnyPlace::apart(count, in_order),
                None => AnyPlace::new(count, way != Way::AtOnce),
            }),
        };
        Self { count, openings: 1 + u32::from(is_random_order), kind, is_apart: apart.is_some() }
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
            return if touch.before == 0 && !touch.twice { NOTHING_KNOWN } else { 1.0 };
        }
        if touch.before == 0 {
            return self.chance_of_opening(touch);
        }
        if touch.before < self.openings {
            return NOTHING_KNOWN;
        }
        let certain = |merges: bool| f64::from(u8::from(merges));
        match &self.kind {
            Kind::LeastRecent => certain(touch.distance >= self.count),
            Kind::LeastRecentFirstFree(places) => places.chance(touch.unit, self.count),
            _ if touch.proven > self.count => 1.0,
            Kind::LeastRecentInTwoSteps(recent) if touch.twice => {
                certain(!recent.placed.contains(&touch.unit))
            }
            Kind::LeastRecentInTwoSteps(recent) => certain(recent.opened.contains(&touch.unit)),
            Kind::Any(places) => places.chance(touch),
        }
    }

    /// How likely the first write into a unit makes room. Once as many were written as there are places, it always does; until
    /// then it depends on what was open before, and goes on as it began.
    fn chance_of_opening(&self, touch: Touch) -> f64 {
        match &self.kind {
            Kind::LeastRecentFirstFree(places) if places.placed.len() >= self.count => {
                places.chance(touch.unit, self.count)
            }
            Kind::LeastRecent if touch.unit >= self.count => 1.0,
            Kind::Any(places) => places.chance_of_opening(touch),
            _ => touch.opens_slowly,
        }
    }

    /// What the second of the first two writes into a unit says.
    pub(super) fn second(&self) -> Second {
        let full = |probability: f64| Second::PaysIfFull(probability.clamp(UNFORESEEN, 1.0 - UNFORESEEN));
        match &self.kind {
            // Whatever is out of order merges.
            _ if self.count == 0 => full(1.0),
            Kind::LeastRecent => Second::PaysNothing,
            Kind::LeastRecentInTwoSteps(recent) if self.is_apart => {
                full(f64::from(u8::from(recent.placed.len() >= self.count)))
            }
            Kind::Any(places) => places.second().map_or_else(
                || if places.in_two_steps() { Second::OrTheFirst } else { Second::PaysNothing },
                full,
            ),
            _ => Second::OrTheFirst,
        }
    }

    /// One of the units that took turns will not be written again, whether it holds a place or not.
    pub(super) fn retire(&mut self, unit: usize) {
        if let Kind::Any(places) = &mut self.kind {
            places.retire(unit);
        }
    }

    /// Hears of a write before its time is known.
    pub(super) fn expect(&mut self, touch: Touch) {
        if let Kind::Any(places) = &mut self.kind {
            places.turn_to(touch);
        }
    }

    /// Moves on after a write that is slow with this probability.
    pub(super) fn take(&mut self, touch: Touch, slow: f64) {
        match &mut self.kind {
            Kind::LeastRecent => {}
            Kind::LeastRecentInTwoSteps(recent) => {
                recent.take(touch.unit, self.count);
                if touch.twice {
                    recent.take(touch.unit, self.count);
                }
            }
            Kind::LeastRecentFirstFree(places) => places.take(touch.unit, self.count),
            Kind::Any(_) if self.count == 0 => {}
            Kind::Any(places) => places.take(touch, slow),
        }
    }
}
