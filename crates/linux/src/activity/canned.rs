//! Glances and samples for tests.

use std::time::Duration;

use flashscope_device::{Bytes, Instant};

use super::counters::Counters;
use super::processes::Processes;
use super::sample::{Glance, Sample};
use super::waiting::Waiting;

/// A glance at so many seconds, with the counters of this line, and nothing that waits.
pub fn glance(seconds: f64, stat: &str) -> Glance {
    let at = Instant::ZERO + Duration::from_secs_f64(seconds);
    Glance { at, counters: Counters::parse(stat).unwrap(), waiting: counted(0, 0), sequence: None }
}

/// The same with nothing else.
pub fn sample(glance: Glance) -> Sample {
    Sample { glance, processes: Processes::default(), mounts: Vec::new() }
}

/// Mebibytes that wait for the disk alone, exactly.
pub const fn counted(dirty: u64, writeback: u64) -> Waiting {
    Waiting::Counted { dirty: Bytes::mib(dirty), writeback: Bytes::mib(writeback), error: Bytes::ZERO }
}

/// Glances so many seconds apart: writes of 1 MiB that have ended, their milliseconds in the queue, requests in flight. The
/// disk is busy all the time.
pub fn writes(seconds: f64, rows: &[(u64, u64, u64)]) -> Vec<Glance> {
    let line = |at: f64, (writes, ms, in_flight): &(u64, u64, u64)| {
        format!("0 0 0 0 {writes} 0 {} {ms} {in_flight} {:.0} {ms}", writes * 2048, at * 1e3)
    };
    let rows = rows.iter().enumerate().map(|(number, row)| (number as f64 * seconds, row));
    rows.map(|(at, row)| glance(at, &line(at, row))).collect()
}
