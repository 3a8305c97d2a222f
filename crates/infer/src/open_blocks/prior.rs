//! Which numbers of open units are plausible before anything was seen.

use crate::open_blocks::laws::Law;
use crate::open_blocks::limits::OPEN_MAX;
use crate::open_blocks::posterior::Belief;

/// How plausible it is that one block too many costs a merge at every switch, before anything was seen.
const LEAST_RECENT: f64 = 0.7;
/// What holds in one order holds in the other but this seldom.
const ANOTHER_LAW: f64 = 0.02;

/// More than [`OPEN_MAX`], or none at all.
const MORE: f64 = 0.04;
/// What does not fit in linear order fits out of order this seldom.
const MORE_THAN_LINEAR: f64 = 0.02;

/// Where fewer fit than in linear order any number may, beside that small ones are frequent.
const ANY_FEWER: f64 = 0.1;

/// What is taken for plausible before the first write.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Prior {
    /// In linear order at least one unit is open. Most cards have one to eight (A. Bergmann, LWN 428584); powers of two
    /// are common.
    Linear,
    /// Out of order there are as many as in linear order, fewer, or none.
    Random {
        /// What was found in linear order, if anything was.
        linear: Option<u32>,
        /// How likely it is by the linear order that every switch merges with one block too many.
        every_switch: f64,
        /// How likely it is by the linear order that many merges do not show, against before anything was seen.
        hides: f64,
    },
}

impl Prior {
    /// The prior of random order after the search in linear order.
    #[must_use]
    pub fn after(linear: &Belief) -> Self {
        let verdict = linear.verdict();
        let every_switch = linear.law(Law::LeastRecent).clamp(ANOTHER_LAW, 1.0 - ANOTHER_LAW);
        let hides = linear.hides().clamp(ANOTHER_LAW, 1.0);
        Self::Random { linear: verdict.tells(OPEN_MAX + 1).then_some(verdict.number), every_switch, hides }
    }

    /// How plausible it is that one block too many costs a merge at every switch: one controller chooses alike in both orders.
    pub(super) const fn every_switch(self) -> f64 {
        match self {
            Self::Linear => LEAST_RECENT,
            Self::Random { every_switch, .. } => every_switch,
        }
    }

    /// The largest number that is at all likely.
    pub(super) const fn most_likely(self) -> Option<u32> {
        match self {
            Self::Linear => None,
            Self::Random { linear, .. } => linear,
        }
    }

    /// How much less plausible it is under a law that many merges do not show: what hides them in one order does in the other. Where any
    /// has to go, fewer units of which merges hide look much like more.
    pub(super) const fn hides(self, law: Law) -> f64 {
        match (self, law) {
            (Self::Linear, _) => 1.0,
            (Self::Random { hides, .. }, Law::Any) if hides <= ANOTHER_LAW => 0.0,
            (Self::Random { hides, .. }, _) => hides,
        }
    }

    /// How plausible this number is, up to a factor.
    pub(super) fn weight(self, number: u32) -> f64 {
        let powers = if number.is_power_of_two() { 2.0 } else { 1.0 };
        let falling = powers / f64::from(number + 2).powf(1.5);
        match (self, number) {
            (Self::Random { linear: Some(_), .. }, number) if number > OPEN_MAX => MORE * MORE_THAN_LINEAR,
            (_, number) if number > OPEN_MAX => MORE,
            (Self::Linear, 0) => 0.0,
            (Self::Linear, _) => falling,
            (Self::Random { .. }, 0) => 0.4,
            (Self::Random { linear: Some(linear), .. }, number) if number == linear => 0.5 + falling,
            (Self::Random { linear: Some(linear), .. }, number) if number > linear => {
                falling * MORE_THAN_LINEAR
            }
            (Self::Random { linear: Some(linear), .. }, _) => falling + ANY_FEWER / f64::from(linear),
            _ => falling,
        }
    }
}
