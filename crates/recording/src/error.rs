//! Errors of reading recordings.

use std::path::PathBuf;

use flashscope_device::trace::TraceError;
use flashscope_device::{ByteRange, Bytes};

/// Why a recording or the index of a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The folder has no index, or it cannot be read.
    #[error(
        "{} cannot be read: {source}; a folder of recordings has an index of this name",
        path.display()
    )]
    NoIndex {
        /// The path of the index.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The index is larger than any index.
    #[error("the index of the recordings is larger than {most}: this is no index")]
    LargeIndex {
        /// The largest index.
        most: Bytes,
    },
    /// The index is not one of recordings.
    #[error("the index of the recordings is wrong: {source}")]
    Index {
        /// The parser's error.
        source: Box<toml::de::Error>,
    },
    /// A recording in the index has an impossible value.
    #[error("the index of the recordings is wrong: '{}': {what}", file.escape_debug())]
    Entry {
        /// The file of the recording.
        file: String,
        /// The problem.
        what: &'static str,
    },
    /// The file is missing or cannot be read.
    #[error("the recording {file} cannot be read: {source}; the index names it")]
    Missing {
        /// The file.
        file: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file has another size than the index says.
    #[error("the recording {file} has {found} instead of {size}: it was cut off or replaced; copy it again")]
    Size {
        /// The file.
        file: String,
        /// The size in the index.
        size: Bytes,
        /// The size of the file, at most one byte more than the index says.
        found: Bytes,
    },
    /// The file has another checksum than the index says.
    #[error("the recording {file} is damaged: its checksum is {found} instead of {checksum}; copy it again")]
    Checksum {
        /// The file.
        file: String,
        /// The checksum in the index.
        checksum: String,
        /// The checksum of the file.
        found: String,
    },
    /// The file is not compressed with zstd.
    #[error("{file} is no recording: it is not compressed with zstd ({what})")]
    NotCompressed {
        /// The file.
        file: String,
        /// The decoder's error.
        what: String,
    },
    /// The file holds no trace, or a damaged one.
    #[error("{file} is no recording: {source}")]
    Trace {
        /// The file.
        file: String,
        /// The reader's error.
        source: TraceError,
    },
    /// The trace ends in the middle.
    #[error("the recording {file} was cut off after {requests} requests")]
    CutOff {
        /// The file.
        file: String,
        /// The complete requests.
        requests: u64,
    },
    /// The trace has another number of requests than the index says.
    #[error("the recording {file} holds another number of requests than the {requests} of the index")]
    Count {
        /// The file.
        file: String,
        /// The number in the index.
        requests: u64,
    },
    /// A request lies outside of the filesystem.
    #[error(
        "the recording {file} is one of another capacity: it has a request at {range}, and the index says {capacity}"
    )]
    OutOfCapacity {
        /// The file.
        file: String,
        /// The range of the request.
        range: ByteRange,
        /// The capacity in the index.
        capacity: Bytes,
    },
}
