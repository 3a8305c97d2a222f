//! The state of a disk at one moment.

use flashscope_device::Instant;

use super::counters::Counters;
use super::pending_writes::PendingWrites;
use super::processes::Processes;

/// The state that is cheap to read: ten times a second costs next to nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Snapshot {
    /// The time of the snapshot, on the sampler's clock.
    pub at: Instant,
    /// The I/O counters.
    pub counters: Counters,
    /// The pending writes.
    pub pending: PendingWrites,
    /// The kernel's sequence number of the disk (since Linux 5.15). It changes when the disk is plugged in
    /// again.
    pub sequence: Option<u64>,
}

/// The complete state at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// The processes with files open on it.
    pub processes: Processes,
}

impl Snapshot {
    /// Whether it is of the same disk as the `earlier` snapshot. The counters of a replugged disk restart
    /// at zero.
    #[must_use]
    pub fn follows(&self, earlier: &Self) -> bool {
        self.sequence == earlier.sequence && earlier.counters.can_precede(&self.counters)
    }
}
