//! Reads the state of a disk at one moment.

use flashscope_device::Instant;

use super::counters::Counters;
use super::pending_writes::PendingWrites;
use super::processes::Processes;
use crate::clock::Clock;
use crate::describe;
use crate::disk::Disk;
use crate::mounts::{self, Mount};
use crate::roots::Roots;
use crate::sysfs::{Node, Sysfs};

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
    /// Where it is mounted.
    pub mounts: Vec<Mount>,
}

impl Snapshot {
    /// Whether it is of the same disk as the `earlier` snapshot. The counters of a replugged disk restart
    /// at zero.
    #[must_use]
    pub fn follows(&self, earlier: &Self) -> bool {
        self.sequence == earlier.sequence && earlier.counters.can_precede(&self.counters)
    }
}

/// Why a disk can no longer be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// It was unplugged, or the card was removed from its reader.
    #[error("{0} went away; was it unplugged, or its card taken out? flashscope list shows what is there")]
    Gone(String),
    /// Another disk has its name, or the same disk was plugged in again.
    #[error("{0} was plugged in again, or is another disk now; start to watch it again")]
    Replaced(String),
    /// It exists, but its counters do not: a copy without them, or a kernel that has none.
    #[error("{0} has no I/O counters: block/{1}/stat is missing in sysfs, or is not a list of counters")]
    NoCounters(String, String),
    /// It exists, but the kernel does not count its I/O.
    #[error(
        "the kernel does not count the I/O of {0}; echo 1 | sudo tee /sys/block/{1}/queue/iostats turns that on"
    )]
    Uncounted(String, String),
}

/// Reads samples and stamps them with its own clock.
#[derive(Debug)]
pub struct Sampler {
    roots: Roots,
    clock: Clock,
}

impl Sampler {
    /// A sampler for the disks in `roots`. Its clock starts at zero now and is monotonic.
    #[must_use]
    pub fn start(roots: &Roots) -> Self {
        Self { roots: roots.clone(), clock: Clock::start() }
    }

    /// The time since [`Sampler::start`].
    #[must_use]
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Reads everything about `disk`: hundreds of files, where many processes run.
    ///
    /// # Errors
    /// As [`Sampler::snapshot`].
    pub fn sample(&self, disk: &Disk) -> Result<Sample, WatchError> {
        let all = mounts::read(&self.roots.mounts).unwrap_or_default();
        let mounts = describe::mounts(&self.node(disk)?, &all, &self.roots);
        let disk = Disk { mounts, ..disk.clone() };
        let processes = Processes::read(&disk, &all, &self.roots);
        Ok(Sample { processes, snapshot: self.snapshot(&disk)?, mounts: disk.mounts })
    }

    /// Reads the snapshot of `disk`: a few files.
    ///
    /// # Errors
    /// [`WatchError`] if the disk is gone, or not counted.
    pub fn snapshot(&self, disk: &Disk) -> Result<Snapshot, WatchError> {
        let node = self.node(disk)?;
        if node.size().is_zero() && !disk.is_empty() {
            return Err(gone(disk));
        }
        if node.text("queue/iostats").as_deref() == Some("0") {
            return Err(WatchError::Uncounted(disk.path.display().to_string(), disk.name.clone()));
        }
        let counters = node.text("stat").and_then(|text| Counters::parse(&text));
        // Nothing is read between the counters and the clock.
        let at = self.clock.now();
        Ok(Snapshot {
            at,
            counters: counters.ok_or_else(|| no_counters(&node, disk))?,
            pending: PendingWrites::read(&node, disk, &self.roots),
            sequence: node.number("diskseq"),
        })
    }

    fn node(&self, disk: &Disk) -> Result<Node, WatchError> {
        Sysfs::at(&self.roots.sysfs).disk(&disk.name).ok_or_else(|| gone(disk))
    }
}

/// The error for missing counters: the disk vanished meanwhile, or never had any.
fn no_counters(node: &Node, disk: &Disk) -> WatchError {
    if node.is_there() {
        return WatchError::NoCounters(disk.path.display().to_string(), disk.name.clone());
    }
    gone(disk)
}

fn gone(disk: &Disk) -> WatchError {
    WatchError::Gone(disk.path.display().to_string())
}
