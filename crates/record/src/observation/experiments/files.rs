//! Many small files and one large file of the same bytes, on a mounted filesystem.

use std::time::Duration;

use flashscope_device::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::speed::{LinkLimit, check_link};
use crate::limits::{Checked, each, positive, seconds, size, time};
use crate::observation::experiment_data::ExperimentData;

/// Rounds of the same files, and of one file of as many bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FilesData {
    /// The file sizes: a profile's name, or the directory they are taken from.
    pub profile: String,
    /// When data is sent to the medium.
    pub flush: FlushTime,
    /// The allocation unit of the filesystem (cluster, block).
    pub cluster: Bytes,
    /// The filesystem, e.g. `vfat`.
    pub filesystem: String,
    /// How the page cache was emptied before reads.
    pub cold: ColdBy,
    /// What was measured instead of a removable device, if known.
    #[serde(default)]
    pub instead: Vec<Instead>,
    /// The speed limit of the path to the device, if known.
    #[serde(default)]
    pub link: Option<LinkLimit>,
    /// The rounds, each with new files.
    pub rounds: Vec<FilesRound>,
}

/// When data is sent to the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlushTime {
    /// Once, when all files are closed: `syncfs`.
    AtEnd,
    /// After each file: `fsync`.
    EachFile,
}

/// How the page cache was emptied before reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ColdBy {
    /// The kernel was advised to drop each file from its cache; metadata may have stayed in memory.
    Advice,
    /// The kernel dropped all its caches.
    Drop,
}

/// Storage under a directory that is not a removable device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Instead {
    /// Memory.
    Memory,
    /// Another machine.
    Network,
    /// Layers over another filesystem.
    Overlay,
    /// A filesystem in user space (FUSE), which adds its own latency.
    UserSpace,
    /// The disk that the system runs from, which other programs use as well.
    SystemDisk,
}

/// One round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FilesRound {
    /// The many files.
    pub small: FilesPart,
    /// One file of as many bytes.
    pub large: FilesPart,
}

/// Files that were created, flushed, read back and removed. Times in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FilesPart {
    /// The number of files.
    pub files: u32,
    /// Their total size.
    pub bytes: Bytes,
    /// The space that the filesystem allocated for them.
    pub allocated: Bytes,
    /// The time until the last file was closed.
    pub made_s: f64,
    /// The time of the final flush, after which the data is durable.
    pub flush_s: f64,
    /// The time to read them back.
    pub read_s: f64,
    /// The time to remove them, with a flush.
    pub removed_s: f64,
    /// The time to create each file, nanoseconds.
    #[serde(default)]
    pub each_made_ns: Vec<u64>,
    /// The time to read each file, nanoseconds.
    #[serde(default)]
    pub each_read_ns: Vec<u64>,
    /// The share of their pages that was in memory when reading began, if the kernel reports it.
    pub warm: Option<f64>,
    /// The number of files with other data than was written.
    #[serde(default)]
    pub wrong: u32,
    /// The requests of the device until the data was durable, if the kernel counts them.
    pub writes: Option<Traffic>,
    /// The requests of the device while the files were read.
    pub reads: Option<Traffic>,
}

impl FilesPart {
    /// The time until the data was durable, seconds.
    #[must_use]
    pub fn durable_s(&self) -> f64 {
        self.made_s + self.flush_s
    }

    /// The ratio of allocated space to file size.
    #[must_use]
    pub fn bloat(&self) -> f64 {
        self.allocated.as_f64() / self.bytes.as_f64().max(1.0)
    }
}

/// Requests of a device, as the kernel counts them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Traffic {
    /// The number of requests.
    pub requests: u64,
    /// The number of bytes.
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
