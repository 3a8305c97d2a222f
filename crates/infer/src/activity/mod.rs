//! What a watched disk is doing: throughput, stalls, suspected merges, and when it can be unplugged.
//!
//! Everything is a pure function of samples: an [`Interval`] between two of them, and a [`History`] of
//! intervals.

#[cfg(test)]
mod fixtures;
mod history;
mod interval;
mod merges;
mod stall;
mod unplug;
mod writeback_limit;

pub use history::{Activity, History, Writer};
pub use interval::{Interval, Transfers};
pub use stall::{Stall, StallCause};
pub use unplug::{UnplugEstimate, UnplugUnknown};
pub use writeback_limit::writeback_limit;
