//! What a disk is doing: the kernel's counters, what waits in memory for it, who has files open on it.
//!
//! A [`Sampler`] reads one [`Glance`] or [`Sample`] at a time from `/sys` and `/proc`; all else is a pure function of them:
//! an [`Interval`] between two of them, and a [`History`] of intervals. The disk itself is never touched.

mod books;
#[cfg(test)]
mod canned;
mod counters;
mod history;
mod interval;
mod merges;
mod processes;
mod sample;
mod stall;
mod unplug;
mod waiting;

pub use counters::{Counters, Requests};
pub use history::{Activity, History, Writer};
pub use interval::{Interval, Moved};
pub use processes::{Process, Processes};
pub use sample::{Glance, Lost, Sample, Sampler};
pub use stall::{Cause, Stall};
pub use unplug::{Unclear, Unplug};
pub use waiting::{Bound, Waiting};
