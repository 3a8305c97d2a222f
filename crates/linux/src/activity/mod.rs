//! Reads what a disk is doing: the kernel's I/O counters, the writes pending in memory, the processes with
//! open files.
//!
//! A [`Sampler`] reads one snapshot or sample at a time from `/sys` and `/proc`. The disk itself is never
//! accessed.

mod pending_writes;
mod processes;
mod sample;
mod writeback_limit;
mod writeback_statistics;

pub use sample::{DiskSample, Sampler, WatchError};
pub use writeback_limit::{DiskWritebackLimit, WritebackLimits};
