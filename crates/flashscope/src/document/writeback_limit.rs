//! The document of `watch --limit`.

use schemars::JsonSchema;
use serde::Serialize;

use super::body::Body;

/// Advice for the limit of the data that waits in memory for a disk.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WritebackLimitDocument {
    /// The device file.
    pub path: String,
    /// The write speed, bytes per second.
    pub bytes_per_s: f64,
    /// Where the speed comes from.
    pub speed_source: SpeedSource,
    /// What the limit applies to.
    pub scope: WritebackScope,
    /// The most bytes that may wait now; null if that cannot be read.
    pub bytes_now: Option<u64>,
    /// How long these take to be written.
    pub seconds_now: Option<f64>,
    /// The most bytes that should wait.
    pub bytes_max: u64,
    /// How long these take to be written: the time until it is safe to unplug.
    pub seconds_max: f64,
    /// The file to put the lines into.
    pub file: String,
    /// A udev rule, or settings for sysctl.
    pub lines: Vec<String>,
    /// Commands that take it back.
    pub undo: Vec<String>,
}

/// Where a speed comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpeedSource {
    /// A run file.
    RunFile,
    /// One interval of watching.
    Watched,
}

/// What a limit applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WritebackScope {
    /// This disk alone.
    Disk,
    /// All disks together: the kernel has no limit for one.
    AllDisks,
}

impl Body for WritebackLimitDocument {
    const NAME: &'static str = "watch-limit";
    const COMMANDS: &'static str = "watch --limit";
}
