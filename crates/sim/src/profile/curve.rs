//! Times that depend on a size: measured points with linear interpolation between them.

use flashscope_device::{Bytes, SECTOR};
use serde::{Deserialize, Serialize};

use super::bounds::{TIME_MAX_US, ensure, number};
use super::{ProfileError, quantity};

// Powers of two from 512 B to 1 GiB are 22 sizes. Guess: three times as many points are a mistake.
const KNOTS_MAX: usize = 64;

/// One point of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
pub struct Knot(
    /// The size.
    #[serde(with = "quantity")]
    pub Bytes,
    /// The time, us.
    pub f64,
);

/// A time in microseconds as a function of size. In TOML: a number (constant), or points in ascending order
/// of size: `[["4KiB", 900], ["64KiB", 5100]]`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(
    untagged,
    expecting = "expected a time in microseconds, or points such as [[\"4KiB\", 900], [\"64KiB\", 5100]]"
)]
pub enum Curve {
    /// A constant time, us.
    Constant(f64),
    /// Linear interpolation between these points.
    Knots(Vec<Knot>),
}

impl Curve {
    /// The points. A constant has one, at the smallest size (a sector).
    #[must_use]
    pub fn knots(&self) -> Vec<Knot> {
        match self {
            Self::Constant(us) => vec![Knot(SECTOR, *us)],
            Self::Knots(knots) => knots.clone(),
        }
    }

    /// The time of the last point, us.
    #[must_use]
    pub fn last_us(&self) -> f64 {
        match self {
            Self::Constant(us) => *us,
            Self::Knots(knots) => knots.last().map_or(0.0, |knot| knot.1),
        }
    }

    pub(super) fn check(&self, key: &'static str) -> Result<(), ProfileError> {
        let knots = self.knots();
        let is_count_good = (1..=KNOTS_MAX).contains(&knots.len());
        ensure(is_count_good, key, format!("{} points", knots.len()), format!("1 to {KNOTS_MAX} points"))?;
        knots.iter().try_for_each(|knot| number(key, knot.1, 0.0, TIME_MAX_US))?;
        let is_size_good =
            |knot: &Knot| !knot.0.is_zero() && knot.0.is_multiple_of(SECTOR) && knot.0 <= Bytes::gib(1);
        let bad_size = knots.iter().find(|knot| !is_size_good(knot)).map(|knot| knot.0);
        let descending = knots.windows(2).find(|pair| pair[0].0 >= pair[1].0).map(|pair| pair[1].0);
        match bad_size.or(descending) {
            Some(wrong) => ensure(
                false,
                key,
                format!("a point at {wrong}"),
                "multiples of 512 B up to 1 GiB, in ascending order",
            ),
            None => Ok(()),
        }
    }
}
