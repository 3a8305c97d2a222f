//! Times that depend on a size, as they were measured: a few points and straight lines between them.

use flashscope_device::{Bytes, SECTOR};
use serde::Deserialize;

use super::bounds::{TIME_MAX_US, ensure, number};
use super::{ProfileError, quantity};

// More points than sizes that anybody measures are a mistake.
const KNOTS_MAX: usize = 64;

/// One point: what a size takes.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Knot(
    /// The size.
    #[serde(deserialize_with = "quantity::bytes")]
    pub Bytes,
    /// What it takes, us.
    pub f64,
);

/// A time in microseconds by size. In TOML a number, for the same time at every size, or points in order of size:
/// `[["4KiB", 900], ["64KiB", 5100]]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a time in microseconds, or points such as [[\"4KiB\", 900], [\"64KiB\", 5100]]"
)]
pub enum Curve {
    /// The same at every size, us.
    Constant(f64),
    /// Straight lines between these points.
    Knots(Vec<Knot>),
}

impl Curve {
    /// Its points; a constant has one, at the smallest size there is.
    #[must_use]
    pub fn knots(&self) -> Vec<Knot> {
        match self {
            Self::Constant(us) => vec![Knot(SECTOR, *us)],
            Self::Knots(knots) => knots.clone(),
        }
    }

    /// The time of the largest size it has a point for, us.
    #[must_use]
    pub fn last_us(&self) -> f64 {
        match self {
            Self::Constant(us) => *us,
            Self::Knots(knots) => knots.last().map_or(0.0, |knot| knot.1),
        }
    }

    pub(super) fn check(&self, key: &'static str) -> Result<(), ProfileError> {
        let knots = self.knots();
        let few = (1..=KNOTS_MAX).contains(&knots.len());
        ensure(few, key, format!("{} points", knots.len()), format!("1 to {KNOTS_MAX} points"))?;
        knots.iter().try_for_each(|knot| number(key, knot.1, 0.0, TIME_MAX_US))?;
        let size =
            |knot: &Knot| !knot.0.is_zero() && knot.0.is_multiple_of(SECTOR) && knot.0 <= Bytes::gib(1);
        let odd = knots.iter().find(|knot| !size(knot)).map(|knot| knot.0);
        let swapped = knots.windows(2).find(|pair| pair[0].0 >= pair[1].0).map(|pair| pair[1].0);
        match odd.or(swapped) {
            Some(wrong) => ensure(
                false,
                key,
                format!("a point at {wrong}"),
                "multiples of 512 B up to 1 GiB, in rising order",
            ),
            None => Ok(()),
        }
    }
}
