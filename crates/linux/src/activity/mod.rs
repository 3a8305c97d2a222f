//! What a disk is doing: the kernel's I/O counters, the writes that are pending in memory, the processes
//! with open files.
//!
//! A [`Sampler`] reads one [`Snapshot`] or [`Sample`] at a time from `/sys` and `/proc`. Everything else is
//! a pure function of them: an [`Interval`] between two of them, and a [`History`] of intervals. The disk
//! itself is never accessed.

mod counters;
#[cfg(test)]
mod fixtures;
mod history;
mod interval;
mod merges;
mod pending_writes;
mod processes;
mod sample;
mod stall;
mod unplug;
mod writeback_statistics;

pub use counters::{Counters, RequestCounters};
pub use history::{Activity, History, Writer};
pub use interval::{Interval, Transfers};
pub use pending_writes::{BoundReason, PendingWrites};
pub use processes::{Process, Processes};
pub use sample::{Sample, Sampler, Snapshot, WatchError};
pub use stall::{Stall, StallCause};
pub use unplug::{UnplugEstimate, UnplugUnknown};
