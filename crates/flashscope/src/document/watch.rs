//! The document of `watch`. What is unknown is null.

use flashscope_device::{Bytes, Instant};
use flashscope_infer::activity::{Activity, Stall, StallCause, Transfers, UnplugEstimate, Writer};
use flashscope_linux::Disk;
use flashscope_record::activity::PendingWrites;
use schemars::JsonSchema;
use serde::Serialize;

use super::body::Body;
use crate::text::activity as text;
use crate::wall_clock;

/// What disks are doing. `watch --json` prints one document a line for each interval, `watch --once --json`
/// one.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WatchDocument {
    /// When (UTC, RFC 3339).
    pub at: String,
    /// The disks.
    pub disks: Vec<ActivityDocument>,
}

/// What a disk did in one interval.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ActivityDocument {
    /// Its device file.
    pub path: String,
    /// Its kernel name.
    pub name: String,
    /// Where it and its partitions are mounted.
    pub mounts: Vec<String>,
    /// The length of the interval.
    pub interval_seconds: f64,
    /// Its writes.
    pub write: TransferDocument,
    /// Its reads.
    pub read: TransferDocument,
    /// How many flushes it completed.
    pub flushes: u64,
    /// How long a flush took on average.
    pub flush_seconds: Option<f64>,
    /// The average number of requests in flight.
    pub queue: Option<f64>,
    /// The share of the time with a request in flight, from 0 to 1.
    pub busy: f64,
    /// How many requests are in flight now.
    pub in_flight: u64,
    /// How many merges of erase blocks are suspected since watching started.
    pub merges_suspected: Option<u64>,
    /// What waits in memory to be written.
    pub waiting: WaitingDocument,
    /// When the disk can be unplugged.
    pub safe_to_unplug: UnplugDocument,
    /// Recent stalls.
    pub stalls: Vec<StallDocument>,
    /// Processes with open files on the disk.
    pub processes: Vec<ProcessDocument>,
    /// How many processes could not be looked at without root.
    pub processes_hidden: u32,
}

/// The completed requests of one direction.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TransferDocument {
    /// How many bytes.
    pub bytes: u64,
    /// The speed, bytes per second.
    pub bytes_per_s: f64,
    /// How many requests.
    pub requests: u64,
    /// Requests per second (IOPS).
    pub requests_per_s: f64,
    /// The mean latency; null without requests.
    pub latency_seconds_mean: Option<f64>,
}

/// What waits in memory to be written.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WaitingDocument {
    /// What `bytes` counts.
    pub status: WaitingStatus,
    /// How many bytes wait.
    pub bytes: Option<u64>,
    /// How many of them are being written.
    pub writeback_bytes: Option<u64>,
    /// The error of `bytes`.
    pub error_bytes: Option<u64>,
    /// The same in words.
    pub text: String,
}

/// What a count of waiting bytes covers.
#[derive(Debug, Serialize, JsonSchema)]
pub enum WaitingStatus {
    /// This disk alone (debugfs).
    #[serde(rename = "this disk")]
    ThisDisk,
    /// All disks together: an upper bound for this one.
    #[serde(rename = "at most")]
    AtMost,
    /// Nothing could be read.
    #[serde(rename = "unknown")]
    Unknown,
}

/// When a disk can be unplugged.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UnplugDocument {
    /// Whether data waits for it.
    pub status: UnplugStatus,
    /// The data is written after at least this time.
    pub seconds_low: Option<f64>,
    /// The data is written after at most this time.
    pub seconds_high: Option<f64>,
    /// Whether it is mounted: unmount it first.
    pub mounted: bool,
    /// The same in words.
    pub text: String,
}

/// Whether data waits for a disk.
#[derive(Debug, Serialize, JsonSchema)]
pub enum UnplugStatus {
    /// None.
    #[serde(rename = "nothing waits")]
    Now,
    /// Less than the count's error.
    #[serde(rename = "next to nothing waits")]
    Nearly,
    /// Some.
    #[serde(rename = "later")]
    Later,
    /// Unknown.
    #[serde(rename = "unknown")]
    Unknown,
}

/// A stall.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StallDocument {
    /// When it began, seconds since watching started.
    pub began_at_seconds: f64,
    /// How long it took.
    pub seconds: f64,
    /// What caused it.
    pub cause: StallCauseDocument,
}

/// What caused a stall.
#[derive(Debug, Serialize, JsonSchema)]
pub enum StallCauseDocument {
    /// The disk had requests and completed none.
    #[serde(rename = "device busy")]
    Device,
    /// The disk flushed its own cache.
    #[serde(rename = "flush")]
    Flush,
    /// The kernel was writing back, but the disk had no request.
    #[serde(rename = "writeback")]
    Writeback,
}

/// A process with open files on a disk.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProcessDocument {
    /// Its process id.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// How many files on the disk it has open.
    pub files: u32,
    /// How many of them it may write to.
    pub files_to_write: u32,
    /// How fast it writes to any disk, bytes per second; null if that cannot be read.
    pub bytes_per_s: Option<f64>,
}

impl Body for WatchDocument {
    const NAME: &'static str = "watch";
    const COMMANDS: &'static str = "watch";
}

impl WatchDocument {
    /// What these disks are doing now.
    pub fn now<'a>(disks: impl Iterator<Item = (&'a Disk, &'a Activity)>) -> Self {
        let disks = disks.map(|(disk, activity)| ActivityDocument::new(disk, activity));
        Self { at: wall_clock::now(), disks: disks.collect() }
    }
}

impl ActivityDocument {
    fn new(disk: &Disk, activity: &Activity) -> Self {
        let interval = &activity.interval;
        Self {
            path: disk.path.display().to_string(),
            name: disk.name.clone(),
            mounts: disk.mounts.iter().map(|mount| mount.path.clone()).collect(),
            interval_seconds: interval.duration.as_secs_f64(),
            write: TransferDocument::from(&interval.written),
            read: TransferDocument::from(&interval.read),
            flushes: interval.flushes,
            flush_seconds: interval.flush_seconds,
            queue: interval.queue,
            busy: interval.busy,
            in_flight: interval.in_flight[1],
            merges_suspected: activity.merges_suspected,
            waiting: WaitingDocument::from(activity.pending),
            safe_to_unplug: UnplugDocument::new(activity.unplug, disk),
            stalls: activity.stalls.iter().map(StallDocument::from).collect(),
            processes: activity.writers.iter().map(ProcessDocument::from).collect(),
            processes_hidden: activity.hidden_processes,
        }
    }
}

impl From<&Transfers> for TransferDocument {
    fn from(moved: &Transfers) -> Self {
        Self {
            bytes: moved.bytes.get(),
            bytes_per_s: moved.bytes_per_s,
            requests: moved.requests,
            requests_per_s: moved.requests_per_s,
            latency_seconds_mean: moved.latency_seconds,
        }
    }
}

impl From<PendingWrites> for WaitingDocument {
    fn from(waiting: PendingWrites) -> Self {
        let (status, writeback) = match waiting {
            PendingWrites::Counted { writeback, .. } => (WaitingStatus::ThisDisk, Some(writeback)),
            PendingWrites::AtMost(..) => (WaitingStatus::AtMost, None),
            PendingWrites::Unknown => (WaitingStatus::Unknown, None),
        };
        Self {
            status,
            bytes: waiting.bytes_max().map(Bytes::get),
            writeback_bytes: writeback.map(Bytes::get),
            error_bytes: waiting.bytes_max().map(|_| waiting.error().get()),
            text: text::waiting(waiting),
        }
    }
}

impl UnplugDocument {
    fn new(unplug: UnplugEstimate, disk: &Disk) -> Self {
        let (status, seconds_low, seconds_high) = match unplug {
            UnplugEstimate::Now => (UnplugStatus::Now, Some(0.0), Some(0.0)),
            UnplugEstimate::AlmostNow => (UnplugStatus::Nearly, Some(0.0), None),
            UnplugEstimate::In { low, high } => {
                (UnplugStatus::Later, low.map(|low| low.as_secs_f64()), high.map(|high| high.as_secs_f64()))
            }
            UnplugEstimate::Unknown(_) => (UnplugStatus::Unknown, None, None),
        };
        let mounted = !disk.mounts.is_empty();
        Self { status, seconds_low, seconds_high, mounted, text: text::unplug(unplug, disk) }
    }
}

impl From<&Stall> for StallDocument {
    fn from(stall: &Stall) -> Self {
        Self {
            began_at_seconds: stall.started_at.since(Instant::ZERO).as_secs_f64(),
            seconds: stall.duration.as_secs_f64(),
            cause: match stall.cause {
                StallCause::Device => StallCauseDocument::Device,
                StallCause::Flush => StallCauseDocument::Flush,
                StallCause::Writeback => StallCauseDocument::Writeback,
            },
        }
    }
}

impl From<&Writer> for ProcessDocument {
    fn from(writer: &Writer) -> Self {
        let process = &writer.process;
        Self {
            pid: process.pid,
            name: process.name.clone(),
            files: process.files,
            files_to_write: process.files_to_write,
            bytes_per_s: writer.bytes_per_s,
        }
    }
}
