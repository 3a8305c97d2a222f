//! The index of the recordings: `testdata/traces/recordings.toml`.

use flashscope_device::Bytes;
use flashscope_record::{TrialOperation, TrialWorkload, Writeback};
use serde::{Deserialize, Serialize};

/// All recordings of a folder.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Index {
    /// The recordings, in the order in which they were made.
    #[serde(default)]
    pub recording: Vec<Recording>,
}

/// One recording: the requests of one workload on one filesystem, and the conditions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// The file, a trace (docs/trace.md) compressed with zstd. Offsets count from the filesystem's first byte.
    pub file: String,
    /// The filesystem with its options, such as `ext4-stripe`.
    pub variant: String,
    /// What was written and read.
    pub workload: TrialWorkload,
    /// The direction.
    pub operation: TrialOperation,
    /// When the data was written.
    pub writeback: Writeback,
    /// The number of the recording among those with the same conditions, from 1.
    pub round: u32,
    /// The number of files.
    pub files: u32,
    /// The bytes of all files.
    pub bytes: Bytes,
    /// The filesystem's size.
    pub capacity: Bytes,
    /// The erase block that the options were chosen for; none if they do not depend on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erase_block: Option<Bytes>,
    /// The largest request of the link.
    pub request_max: Bytes,
    /// The command that made the filesystem.
    pub mkfs: String,
    /// The mount options.
    pub mount: String,
    /// The memory of the host.
    pub memory: Bytes,
    /// The kernel.
    pub kernel: String,
    /// The program that made the filesystem, with its version.
    pub tool: String,
    /// The number of requests.
    pub requests: u64,
    /// The size of the file.
    pub size: Bytes,
    /// The FNV-1a checksum of the file, 16 hexadecimal digits.
    pub checksum: String,
}
