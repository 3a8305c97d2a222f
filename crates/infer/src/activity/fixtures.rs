//! Snapshots and samples for tests.

use std::time::Duration;

use flashscope_device::{Bytes, Instant};
use flashscope_record::activity::{Counters, PendingWrites, Processes, Sample, Snapshot};

/// A snapshot at `seconds`, with the counters of the line `stat` and no pending writes.
pub fn snapshot(seconds: f64, stat: &str) -> Snapshot {
    let at = Instant::ZERO + Duration::from_secs_f64(seconds);
    Snapshot { at, counters: Counters::parse(stat).unwrap(), pending: counted(0, 0), sequence: None }
}

/// A sample of this snapshot, without processes and mounts.
pub fn sample(snapshot: Snapshot) -> Sample {
    Sample { snapshot, processes: Processes::default() }
}

/// Pending writes of this disk alone, exact, in MiB.
pub const fn counted(dirty: u64, writeback: u64) -> PendingWrites {
    PendingWrites::Counted { dirty: Bytes::mib(dirty), writeback: Bytes::mib(writeback), error: Bytes::ZERO }
}

/// Snapshots `seconds` apart. Each row has the completed 1 MiB writes, their milliseconds in the queue, and
/// the requests in flight. The disk is always busy.
pub fn writes(seconds: f64, rows: &[(u64, u64, u64)]) -> Vec<Snapshot> {
    let line = |at: f64, (writes, ms, in_flight): &(u64, u64, u64)| {
        format!("0 0 0 0 {writes} 0 {} {ms} {in_flight} {:.0} {ms}", writes * 2048, at * 1e3)
    };
    let rows = rows.iter().enumerate().map(|(number, row)| (number as f64 * seconds, row));
    rows.map(|(at, row)| snapshot(at, &line(at, row))).collect()
}
