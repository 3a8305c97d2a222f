//! Trials: one workload on one filesystem, timed once. Measured on a stick, or replayed from a recording.

use flashscope_device::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is written and read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrialWorkload {
    /// A source tree such as the kernel's: 33,000 files in folders, 13 KiB on average.
    Tree,
    /// One file of 64 MiB.
    Large,
    /// 2,000 files of at most 2 KiB in one folder.
    Small,
    /// Files with the sizes of a folder that the user named.
    Like,
}

/// The direction of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrialOperation {
    /// Written until it is durable.
    Write,
    /// Read back with cold caches.
    Read,
}

/// When the host's page cache was written to the stick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Writeback {
    /// Everything at the final flush: as a host with much memory does.
    Late,
    /// Beyond 4 MiB of data, while files are still copied: as a host does that waits for a slow stick.
    Early,
    /// As this host does.
    Host,
}

/// One timed trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// The filesystem with its options, such as `ext4-stripe`.
    pub variant: String,
    /// What was written and read.
    pub workload: TrialWorkload,
    /// The direction.
    pub operation: TrialOperation,
    /// The first byte of the filesystem on the medium.
    pub start: Bytes,
    /// The round, or the number of the recording. Trials of one round share their conditions.
    pub round: u32,
    /// When the data was written.
    pub writeback: Writeback,
    /// The time, seconds.
    pub seconds: f64,
}

impl TrialWorkload {
    /// All of them but `Like`, in the order of tables.
    pub const STANDARD: [Self; 3] = [Self::Tree, Self::Large, Self::Small];

    /// Its name on the command line and in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Large => "large",
            Self::Small => "small",
            Self::Like => "like",
        }
    }
}

impl TrialOperation {
    /// Both, in the order of tables.
    pub const ALL: [Self; 2] = [Self::Write, Self::Read];

    /// Its name in tables and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
        }
    }
}

impl Writeback {
    /// Its name in tables and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Late => "late",
            Self::Early => "early",
            Self::Host => "host",
        }
    }
}
