//! The numbers of what a controller does on its own: while nothing is asked for, and when it can wait no longer.

use flashscope_device::{Bytes, SECTOR};
use serde::Deserialize;

use super::bounds::{CAPACITY_MAX, TIME_MAX_US, ensure, number, size, time};
use super::{Basis, ProfileError, quantity};

/// The controller's own work: folding, collecting, and the stalls where that was put off too long.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Background {
    /// How these numbers were found.
    pub basis: Basis,
    /// How long nothing must be asked for until it begins, us.
    pub idle_after_us: f64,
    /// A piece of work that a request must wait for if it comes in the middle, us; 0: work stops at once.
    #[serde(default)]
    pub unit_us: f64,
    /// The stalls of collection, where there are any.
    pub stall: Option<Stall>,
}

/// After so many bytes written, one write waits until the controller has tidied up; idle time pays for it beforehand.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stall {
    /// After how many bytes written.
    #[serde(deserialize_with = "quantity::bytes")]
    pub every: Bytes,
    /// How long it takes, us.
    pub duration_us: f64,
    /// How long at most, us: each draws from `duration_us` to this; default: all take the same.
    pub duration_max_us: Option<f64>,
}

impl Background {
    pub(super) fn check(&self) -> Result<(), ProfileError> {
        time("background.idle_after_us", self.idle_after_us)?;
        time("background.unit_us", self.unit_us)?;
        self.stall.as_ref().map_or(Ok(()), Stall::check)
    }
}

impl Stall {
    /// Lets each take what all take on average.
    pub(crate) fn even_out(&mut self) {
        self.duration_us = f64::midpoint(self.duration_us, self.longest_us());
        self.duration_max_us = None;
    }

    fn check(&self) -> Result<(), ProfileError> {
        size("background.stall.every", self.every, SECTOR, CAPACITY_MAX)?;
        number("background.stall.duration_us", self.duration_us, 1.0, TIME_MAX_US)?;
        let allowed = format!("a number from duration_us ({}) to {TIME_MAX_US}", self.duration_us);
        let most = self.longest_us();
        ensure(
            (self.duration_us..=TIME_MAX_US).contains(&most),
            "background.stall.duration_max_us",
            most,
            allowed,
        )
    }

    /// The most that one takes, us.
    pub(crate) fn longest_us(&self) -> f64 {
        self.duration_max_us.unwrap_or(self.duration_us)
    }
}
