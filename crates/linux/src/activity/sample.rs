//! Reading what there is to see of a disk at one moment.

use flashscope_device::Instant;

use super::counters::Counters;
use super::processes::Processes;
use super::waiting::Waiting;
use crate::clock::Clock;
use crate::describe;
use crate::disk::Disk;
use crate::mounts::{self, Mount};
use crate::roots::Roots;
use crate::sysfs::{Node, Sysfs};

/// What can be read ten times a second without being noticed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Glance {
    /// When, on the sampler's clock.
    pub at: Instant,
    /// What the disk has done.
    pub counters: Counters,
    /// What waits in memory for it.
    pub waiting: Waiting,
    /// The kernel's number of this disk (since Linux 5.15): another, if it was plugged in again.
    pub sequence: Option<u64>,
}

/// All that was seen at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The figures.
    pub glance: Glance,
    /// Who has files open on it.
    pub processes: Processes,
    /// Where it is mounted.
    pub mounts: Vec<Mount>,
}

impl Glance {
    /// Whether it is of the same disk as an `earlier` one: a disk that was plugged in again under the same name begins to count
    /// anew.
    #[must_use]
    pub fn follows(&self, earlier: &Self) -> bool {
        self.sequence == earlier.sequence && earlier.counters.can_become(&self.counters)
    }
}

/// Why a disk cannot be watched any more.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// It is not there, or a reader without its card.
    #[error("{0} went away; was it unplugged, or its card taken out? flashscope list shows what is there")]
    Gone(String),
    /// Another disk has its name, or the same one was plugged in again.
    #[error("{0} was plugged in again, or is another disk now; watch it anew")]
    Replaced(String),
    /// It is there, and its counters are not: a copy without them, or a kernel that has none.
    #[error(
        "{0} is there, but not what it did: block/{1}/stat is missing in sysfs, or is no list of counters"
    )]
    NoCounters(String, String),
    /// It is there, and its counters stand still whatever it does.
    #[error(
        "the kernel does not count what {0} does; echo 1 | sudo tee /sys/block/{1}/queue/iostats turns that on"
    )]
    Uncounted(String, String),
}

/// Reads samples, on a clock of its own.
#[derive(Debug)]
pub struct Sampler {
    roots: Roots,
    clock: Clock,
}

impl Sampler {
    /// Of the disks in `roots`; its clock's zero is now. Setting the host's clock does not move it.
    #[must_use]
    pub fn start(roots: &Roots) -> Self {
        Self { roots: roots.clone(), clock: Clock::start() }
    }

    /// The time since [`Sampler::start`].
    #[must_use]
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// All that is seen of `disk`: hundreds of files, where many processes run.
    ///
    /// # Errors
    /// As [`Sampler::glance`].
    pub fn sample(&self, disk: &Disk) -> Result<Sample, Lost> {
        let all = mounts::read(&self.roots.mounts).unwrap_or_default();
        let mounts = describe::mounts(&self.node(disk)?, &all, &self.roots);
        let disk = Disk { mounts, ..disk.clone() };
        let processes = Processes::read(&disk, &all, &self.roots);
        Ok(Sample { processes, glance: self.glance(&disk)?, mounts: disk.mounts })
    }

    /// The figures of `disk`: a few files.
    ///
    /// # Errors
    /// [`Lost`] if it is not there any more, or is not counted.
    pub fn glance(&self, disk: &Disk) -> Result<Glance, Lost> {
        let node = self.node(disk)?;
        if node.size().is_zero() && !disk.is_empty() {
            return Err(gone(disk));
        }
        if node.text("queue/iostats").as_deref() == Some("0") {
            return Err(Lost::Uncounted(disk.path.display().to_string(), disk.name.clone()));
        }
        let counters = node.text("stat").and_then(|text| Counters::parse(&text));
        // Between the counters and the clock nothing is read.
        let at = self.clock.now();
        Ok(Glance {
            at,
            counters: counters.ok_or_else(|| lost(&node, disk))?,
            waiting: Waiting::read(&node, disk, &self.roots),
            sequence: node.number("diskseq"),
        })
    }

    fn node(&self, disk: &Disk) -> Result<Node, Lost> {
        Sysfs::at(&self.roots.sysfs).disk(&disk.name).ok_or_else(|| gone(disk))
    }
}

/// Why there are no counters: the disk vanished meanwhile, or never had any.
fn lost(node: &Node, disk: &Disk) -> Lost {
    if node.is_there() {
        return Lost::NoCounters(disk.path.display().to_string(), disk.name.clone());
    }
    gone(disk)
}

fn gone(disk: &Disk) -> Lost {
    Lost::Gone(disk.path.display().to_string())
}
