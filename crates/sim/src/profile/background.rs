//! Parameters of background work: while the stick is idle, and stalls when it was deferred too long.

use flashscope_device::{Bytes, SECTOR};
use serde::{Deserialize, Serialize};

use super::bounds::{CAPACITY_MAX, TIME_MAX_US, ensure, number, size, time};
use super::{Basis, ProfileError, quantity};

/// Background work of the controller: folding, garbage collection, and stalls when either was deferred too
/// long.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Background {
    /// How these numbers were found.
    pub basis: Basis,
    /// Idle time before background work starts, us.
    pub idle_after_us: f64,
    /// The length of an uninterruptible piece of work, us. A request waits for its end; 0: work stops at
    /// once.
    #[serde(default, skip_serializing_if = "quantity::is_default")]
    pub unit_us: f64,
    /// Garbage-collection stalls, if there are any.
    pub stall: Option<Stall>,
}

/// Periodic garbage collection: one write stalls after every `every` bytes written. Idle time does the work
/// in advance.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Stall {
    /// The bytes written between two stalls.
    #[serde(with = "quantity")]
    pub every: Bytes,
    /// The shortest stall, us.
    pub duration_us: f64,
    /// The longest stall, us: sampled uniformly from `duration_us` to this. Default: `duration_us`.
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
    /// Gives every stall the mean duration.
    pub(crate) fn use_mean_duration(&mut self) {
        self.duration_us = f64::midpoint(self.duration_us, self.duration_max_us());
        self.duration_max_us = None;
    }

    fn check(&self) -> Result<(), ProfileError> {
        size("background.stall.every", self.every, SECTOR, CAPACITY_MAX)?;
        number("background.stall.duration_us", self.duration_us, 1.0, TIME_MAX_US)?;
        let allowed = format!("a number from duration_us ({}) to {TIME_MAX_US}", self.duration_us);
        let longest_us = self.duration_max_us();
        ensure(
            (self.duration_us..=TIME_MAX_US).contains(&longest_us),
            "background.stall.duration_max_us",
            longest_us,
            allowed,
        )
    }

    /// The longest stall, us.
    pub(crate) fn duration_max_us(&self) -> f64 {
        self.duration_max_us.unwrap_or(self.duration_us)
    }
}
