//! What was seen of many small files and of one large file of the same bytes, on a mounted filesystem.

use std::time::Duration;

use flashscope_device::Bytes;
use serde::{Deserialize, Serialize};

use super::speed::{LinkLimit, check_link};
use crate::limits::{Checked, each, positive, seconds, size, time};
use crate::observation::experiment_data::ExperimentData;

/// Rounds of the same files, and of one file of as many bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FilesData {
    /// What the files are like: a profile's name, or the folder they are taken from.
    pub profile: String,
    /// When data is sent to the medium.
    pub flush: FlushTime,
    /// The unit in which the filesystem gives space to files, as it says.
    pub cluster: Bytes,
    /// The filesystem, e.g. `vfat`.
    pub filesystem: String,
    /// How reads were made cold.
    pub cold: ColdBy,
    /// What is measured instead of a stick, where that is known.
    #[serde(default)]
    pub instead: Vec<Instead>,
    /// The speed limit of the path to the device, if known.
    #[serde(default)]
    pub link: Option<LinkLimit>,
    /// Each with new files.
    pub rounds: Vec<FilesRound>,
}

/// When data is sent to the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlushTime {
    /// Once, when all files are closed: `syncfs`.
    AtEnd,
    /// Behind every file as well: `fsync`.
    EachFile,
}

/// How reads were made cold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColdBy {
    /// The kernel was advised to forget each file; folders and tables may have stayed in memory.
    Advice,
    /// The kernel dropped all its caches.
    Drop,
}

/// What a folder lies on that is no stick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Instead {
    /// Memory.
    Memory,
    /// Another machine.
    Network,
    /// Layers over another filesystem.
    Overlay,
    /// A program in user space, which takes time of its own.
    UserSpace,
    /// The disk that the system runs from, which others use as well.
    SystemDisk,
}

impl Instead {
    /// What to say of it: `… : this measures …`.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Memory => "it lies in memory (tmpfs): this measures memory, and no stick",
            Self::Network => {
                "it lies on another machine: this measures the network and that machine, and no stick"
            }
            Self::Overlay => {
                "it lies on an overlay: this measures the filesystem below as well as the layers over it"
            }
            Self::UserSpace => {
                "its filesystem is a program (FUSE): this measures that program along with what is below it"
            }
            Self::SystemDisk => {
                "it lies on the disk that the system runs from: this measures that disk, with all who use it"
            }
        }
    }
}

/// One round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FilesRound {
    /// The many files.
    pub small: FilesPart,
    /// One file of as many bytes.
    pub large: FilesPart,
}

/// Files that were made, flushed, read back and removed. Times in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FilesPart {
    /// How many.
    pub files: u32,
    /// What they hold.
    pub bytes: Bytes,
    /// What the filesystem gave them.
    pub allocated: Bytes,
    /// Until the last was closed.
    pub made_s: f64,
    /// What the flush behind that took: then the data is there.
    pub flush_s: f64,
    /// What reading them back took.
    pub read_s: f64,
    /// What removing them took, with a flush.
    pub removed_s: f64,
    /// What making each took, nanoseconds.
    #[serde(default)]
    pub each_made_ns: Vec<u64>,
    /// What reading each took, nanoseconds.
    #[serde(default)]
    pub each_read_ns: Vec<u64>,
    /// The share of their pages that was still in memory when reading began, where the kernel tells.
    pub warm: Option<f64>,
    /// How many files did not hold what had been written to them.
    #[serde(default)]
    pub wrong: u32,
    /// What the device below did until the data was there, where the kernel counts.
    pub writes: Option<Traffic>,
    /// What it did while they were read.
    pub reads: Option<Traffic>,
}

impl FilesPart {
    /// Until the data was there, seconds.
    #[must_use]
    pub fn durable_s(&self) -> f64 {
        self.made_s + self.flush_s
    }

    /// How many bytes of space each byte took.
    #[must_use]
    pub fn bloat(&self) -> f64 {
        self.allocated.as_f64() / self.bytes.as_f64().max(1.0)
    }
}

/// Requests that reached a device.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Traffic {
    /// How many.
    pub requests: u64,
    /// How much they carried.
    pub bytes: Bytes,
    /// How long the device was busy with any request, seconds.
    pub busy_s: f64,
}

impl ExperimentData for FilesData {
    fn check(&self) -> Checked {
        size("cluster", self.cluster)?;
        check_link(self.link.as_ref())?;
        each("rounds", &self.rounds, |round| {
            part(&round.small).map_err(|error| error.inside("small"))?;
            part(&round.large).map_err(|error| error.inside("large"))
        })
    }

    fn records(&self) -> usize {
        self.rounds.len()
    }

    fn is_of_speed(&self) -> bool {
        true
    }
}

fn part(part: &FilesPart) -> Checked {
    size("bytes", part.bytes)?;
    size("allocated", part.allocated)?;
    positive("made_s", part.made_s)?;
    positive("read_s", part.read_s)?;
    seconds("flush_s", part.flush_s)?;
    seconds("removed_s", part.removed_s)?;
    seconds("warm", part.warm.unwrap_or(0.0))?;
    each("each_made_ns", &part.each_made_ns, |latency| time("", Duration::from_nanos(*latency)))?;
    each("each_read_ns", &part.each_read_ns, |latency| time("", Duration::from_nanos(*latency)))?;
    traffic(part.writes.as_ref()).map_err(|error| error.inside("writes"))?;
    traffic(part.reads.as_ref()).map_err(|error| error.inside("reads"))
}

fn traffic(traffic: Option<&Traffic>) -> Checked {
    let Some(traffic) = traffic else { return Ok(()) };
    size("bytes", traffic.bytes)?;
    size("requests", Bytes::new(traffic.requests))?;
    seconds("busy_s", traffic.busy_s)
}
