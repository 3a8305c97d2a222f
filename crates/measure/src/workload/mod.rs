//! Workloads: what people do with a stick through the operating system. Files, also on one filesystem after
//! another, write methods, and reads through the page cache.
//!
//! A workload runs over a trait of [`flashscope_device::host`], which `linux` implements with system calls
//! and tests with a fake in virtual time.

pub mod cache;
pub mod file_sizes;
pub mod files;
pub mod methods;
pub mod trials;

use std::time::Duration;

/// Why a workload ended early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped<E> {
    /// The person interrupted it.
    Interrupted,
    /// The operating system failed.
    Host(E),
}

impl<E> From<E> for Stopped<E> {
    fn from(error: E) -> Self {
        Self::Host(error)
    }
}

/// The fewest rounds by default: with three, a single stall cannot be the median.
pub const ROUNDS_MIN: u32 = 3;

/// The most rounds by default: with nine, the interval of the median leaves out the extremes. Guess.
pub const ROUNDS_MAX: u32 = 9;

/// The smallest number of files after a reduction. Guess: fewer say little about many.
const COUNT_MIN: u32 = 100;

/// The shortest time in a result, seconds. It keeps throughputs finite on a coarse clock.
const SECONDS_MIN: f64 = 1e-9;

/// A duration in seconds, at least [`SECONDS_MIN`].
fn positive_seconds(duration: Duration) -> f64 {
    duration.as_secs_f64().max(SECONDS_MIN)
}
