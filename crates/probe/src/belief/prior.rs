//! Which numbers of open units are plausible before anything was seen.

use super::posterior::{Belief, OPEN_MAX};

/// More than [`OPEN_MAX`], or none at all.
const MORE: f64 = 0.04;
/// What does not fit in linear order fits out of order this seldom.
const MORE_THAN_LINEAR: f64 = 0.02;

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
    },
}

impl Prior {
    /// The prior of random order after the search in linear order.
    #[must_use]
    pub fn after(linear: &Belief) -> Self {
        let verdict = linear.verdict();
        Self::Random { linear: verdict.tells(OPEN_MAX).then_some(verdict.number) }
    }

    /// How plausible this number is, up to a factor.
    pub(super) fn weight(self, number: u32) -> f64 {
        let powers = if number.is_power_of_two() { 2.0 } else { 1.0 };
        let falling = powers / f64::from(number + 2).powf(1.5);
        match (self, number) {
            (Self::Random { linear: Some(_) }, number) if number > OPEN_MAX => MORE * MORE_THAN_LINEAR,
            (_, number) if number > OPEN_MAX => MORE,
            (Self::Linear, 0) => 0.0,
            (Self::Linear, _) => falling,
            (Self::Random { .. }, 0) => 0.4,
            (Self::Random { linear: Some(linear) }, number) if number == linear => 0.5 + falling,
            (Self::Random { linear: Some(linear) }, number) if number > linear => falling * MORE_THAN_LINEAR,
            _ => falling,
        }
    }
}
