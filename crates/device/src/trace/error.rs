//! Errors of reading a trace.

/// Why a trace cannot be read, and at which byte.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file is not a trace.
    #[error("this is not a flashscope trace: it does not begin with the eight bytes 89 46 53 54 0d 0a 1a 0a")]
    NotATrace,
    /// The trace has a newer format.
    #[error("the trace has format {version}, and this flashscope reads format 1; a newer one may read it")]
    Version {
        /// The version of its format.
        version: u64,
    },
    /// The file ends inside its header.
    #[error("the trace ends inside its header, at byte {position}, and cannot be used")]
    CutHeader {
        /// The length of the file, bytes.
        position: u64,
    },
    /// The trace holds invalid bytes.
    #[error("the trace is damaged at byte {position}: {what}")]
    Damaged {
        /// The byte.
        position: u64,
        /// The problem.
        what: String,
    },
    /// Reading failed.
    #[error("the trace cannot be read at byte {position}: {source}")]
    Io {
        /// The byte.
        position: u64,
        /// The system's error.
        source: std::io::Error,
    },
}
