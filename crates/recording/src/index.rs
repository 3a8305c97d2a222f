//! The index of the recordings: `testdata/traces/recordings.toml`.

use std::collections::BTreeSet;

use flashscope_device::Bytes;
use flashscope_record::{TrialOperation, TrialWorkload, Writeback};
use serde::{Deserialize, Serialize};

use crate::error::RecordingError;

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
    /// The file, a trace (docs/trace.md) compressed with zstd. Offsets count from the filesystem's start.
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

/// How long the kernel sleeps when a file is closed on a FAT filesystem with the option `flush`, seconds. The
/// device may write meanwhile. Source: `fat_file_release` in fs/fat/file.c of Linux 6.1. Recording 2,000
/// files on an instant stick took 290 s with it, and 30 s without.
const FLUSH_SLEEP_S: f64 = 0.1;

impl Recording {
    /// How long the kernel itself takes, whatever the device: it sleeps between requests. Seconds.
    #[must_use]
    pub fn kernel_seconds(&self) -> f64 {
        let sleeps =
            self.operation == TrialOperation::Write && self.mount.split(',').any(|option| option == "flush");
        if sleeps { f64::from(self.files) * FLUSH_SLEEP_S } else { 0.0 }
    }
}

/// The most recordings of an index. Policy: fifty times those of the program.
const RECORDINGS_MAX: usize = 50_000;
/// The most requests of a recording: one with 33,000 files has at most 300,000. Bounds the memory to 50 MB.
const REQUESTS_MAX: u64 = 1_000_000;
/// The largest file of a recording: [`REQUESTS_MAX`] requests need 8 MB before they are compressed.
const SIZE_MAX: Bytes = Bytes::mib(16);
/// The longest name of a filesystem with its options. Policy: a column of a table.
const VARIANT_CHARS_MAX: usize = 24;

impl Index {
    /// The index with this text, if every value is possible.
    ///
    /// # Errors
    /// [`RecordingError::Index`] or [`RecordingError::Entry`].
    pub fn parse(text: &str) -> Result<Self, RecordingError> {
        let index: Self =
            toml::from_str(text).map_err(|error| RecordingError::Index { source: Box::new(error) })?;
        if index.recording.len() > RECORDINGS_MAX {
            let file = String::new();
            return Err(RecordingError::Entry { file, what: "more recordings than this program reads" });
        }
        let mut seen = BTreeSet::new();
        for recording in &index.recording {
            let entry = |what| RecordingError::Entry { file: recording.file.clone(), what };
            recording.check().map_err(entry)?;
            if !seen.insert(recording.key()) {
                return Err(entry("another recording has the same conditions and round"));
            }
        }
        Ok(index)
    }
}

impl Recording {
    /// What is wrong with its values.
    fn check(&self) -> Result<(), &'static str> {
        let is_name = |text: &str, extra: &[u8]| {
            let plain =
                |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte) || extra.contains(&byte);
            !text.is_empty() && text.bytes().all(plain)
        };
        let is_checksum =
            self.checksum.len() == 16 && self.checksum.bytes().all(|byte| byte.is_ascii_hexdigit());
        let rules = [
            (
                is_name(&self.file, b".") && self.file.ends_with(".zst"),
                "the file's name is not a plain one ending in .zst",
            ),
            (is_name(&self.variant, b""), "the variant is not letters, digits and hyphens"),
            (self.variant.len() <= VARIANT_CHARS_MAX, "the variant has more than 24 characters"),
            (self.round > 0, "rounds count from 1"),
            (!self.capacity.is_zero(), "the capacity is zero"),
            (
                (1..=REQUESTS_MAX).contains(&self.requests),
                "the number of requests is not from 1 to 1,000,000",
            ),
            (!self.size.is_zero() && self.size <= SIZE_MAX, "the size is not from 1 byte to 16 MiB"),
            (is_checksum, "the checksum is not 16 hexadecimal digits"),
        ];
        rules.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, what)| Err(what))
    }

    /// Whether both were made under the same conditions: they differ in direction and round only.
    #[must_use]
    pub fn has_conditions_of(&self, other: &Self) -> bool {
        self.conditions() == other.conditions()
    }

    /// What distinguishes it from every other recording.
    fn key(&self) -> impl Ord + use<> {
        (self.conditions(), self.operation, self.round)
    }

    fn conditions(&self) -> impl Ord + use<> {
        (
            self.variant.clone(),
            (self.workload, self.writeback),
            (self.erase_block, self.request_max, self.capacity, self.memory),
        )
    }
}
