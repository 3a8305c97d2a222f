//! Traces that cannot be read.

/// What is wrong with a trace, and at which byte of it.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file is something else.
    #[error("this is no flashscope trace: it does not begin with the eight bytes 89 46 53 54 0d 0a 1a 0a")]
    NotATrace,
    /// A newer flashscope wrote it.
    #[error("the trace has format {version}, and this flashscope reads format 1; a newer one may read it")]
    Version {
        /// Its version.
        version: u64,
    },
    /// The file ends inside its header.
    #[error("the trace ends inside its header, at byte {position}; nothing of it can be used")]
    CutHeader {
        /// Where it ends.
        position: u64,
    },
    /// Bytes that no trace has.
    #[error("the trace is damaged at byte {position}: {what}")]
    Damaged {
        /// Where.
        position: u64,
        /// What is there.
        what: String,
    },
    /// It cannot be read from.
    #[error("the trace cannot be read at byte {position}: {source}")]
    Io {
        /// Where.
        position: u64,
        /// What the system said.
        source: std::io::Error,
    },
}
