//! Reads the state of a disk at one moment.

use flashscope_device::Instant;

use flashscope_record::activity::{Counters, Sample, Snapshot};

use super::{pending_writes, processes};
use crate::clock::Clock;
use crate::describe;
use crate::disk::Disk;
use crate::mounts::{self, Mount};
use crate::roots::Roots;
use crate::sysfs::{Node, Sysfs};

/// A sample, and where the disk is mounted.
#[derive(Debug, Clone, PartialEq)]
pub struct DiskSample {
    /// The sample.
    pub sample: Sample,
    /// Where the disk is mounted.
    pub mounts: Vec<Mount>,
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
    pub fn sample(&self, disk: &Disk) -> Result<DiskSample, WatchError> {
        let all = mounts::read(&self.roots.mounts).unwrap_or_default();
        let mounts = describe::mounts(&self.node(disk)?, &all, &self.roots);
        let disk = Disk { mounts, ..disk.clone() };
        let processes = processes::read(&disk, &all, &self.roots);
        let sample = Sample { processes, snapshot: self.snapshot(&disk)? };
        Ok(DiskSample { sample, mounts: disk.mounts })
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
            pending: pending_writes::read(&node, disk, &self.roots),
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
