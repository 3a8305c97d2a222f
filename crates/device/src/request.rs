//! Requests to a device, and their completions.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::buffer::Buffer;
use crate::pattern::{CheckReport, Pattern};
use crate::time::Instant;
use crate::units::{ByteRange, Bytes};

/// The caller's number for a request. The completion carries it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(pub u64);

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Read a range.
    Read {
        /// What to read.
        range: ByteRange,
        /// What happens to the data.
        into: ReadInto,
    },
    /// Write a range.
    Write {
        /// Where to write. Its length is that of the payload.
        range: ByteRange,
        /// What to write.
        payload: Payload,
    },
    /// Make all completed writes durable: they survive a power cut.
    Flush,
    /// Discard the contents of a range (TRIM).
    Discard {
        /// The range.
        range: ByteRange,
    },
    /// Stay idle for this much device time. Virtual time passes at once.
    Pause {
        /// How long.
        duration: Duration,
    },
}

/// What a read does with the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadInto {
    /// Only the latency counts; the data is dropped.
    Timing,
    /// Every sector is compared with the pattern. The completion holds the result.
    Check(Pattern),
    /// The bytes are read into this buffer, which is as long as the range. The completion returns it.
    Bytes(Buffer),
}

/// What a write writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// The data pattern, as a reference. Bytes are generated only where they are needed.
    Pattern {
        /// The pattern.
        pattern: Pattern,
        /// What is read back. Only its part in the range of the request counts; it may be empty. Elsewhere a
        /// layer may write other data: a journal writes the old data again.
        sample: ByteRange,
    },
    /// These bytes; the buffer is as long as the range. The completion returns it.
    Bytes(Buffer),
}

/// The kind of a request, without its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OpKind {
    /// [`Op::Read`]
    Read,
    /// [`Op::Write`]
    Write,
    /// [`Op::Flush`]
    Flush,
    /// [`Op::Discard`]
    Discard,
    /// [`Op::Pause`]
    Pause,
}

impl fmt::Display for OpKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Flush => "flush",
            Self::Discard => "discard",
            Self::Pause => "pause",
        })
    }
}

impl Op {
    /// A read for its latency alone.
    #[must_use]
    pub const fn read(range: ByteRange) -> Self {
        Self::Read { range, into: ReadInto::Timing }
    }

    /// A write of the data pattern, to be read back.
    #[must_use]
    pub const fn write(range: ByteRange, pattern: Pattern) -> Self {
        Self::write_sampled(range, pattern, range)
    }

    /// A write for its latency; only `sample` is read back. See [`Payload::Pattern`].
    #[must_use]
    pub const fn write_sampled(range: ByteRange, pattern: Pattern, sample: ByteRange) -> Self {
        Self::Write { range, payload: Payload::Pattern { pattern, sample } }
    }

    /// The kind of this request.
    #[must_use]
    pub const fn kind(&self) -> OpKind {
        match self {
            Self::Read { .. } => OpKind::Read,
            Self::Write { .. } => OpKind::Write,
            Self::Flush => OpKind::Flush,
            Self::Discard { .. } => OpKind::Discard,
            Self::Pause { .. } => OpKind::Pause,
        }
    }

    /// The range of this request; `None` for a flush or a pause.
    #[must_use]
    pub const fn range(&self) -> Option<ByteRange> {
        match self {
            Self::Read { range, .. } | Self::Write { range, .. } | Self::Discard { range } => Some(*range),
            Self::Flush | Self::Pause { .. } => None,
        }
    }

    /// The buffer of this request, if it carries one.
    #[must_use]
    pub fn into_buffer(self) -> Option<Buffer> {
        match self {
            Self::Read { into: ReadInto::Bytes(buffer), .. }
            | Self::Write { payload: Payload::Bytes(buffer), .. } => Some(buffer),
            _ => None,
        }
    }

    /// True if this request changes stored data.
    #[must_use]
    pub const fn modifies(&self) -> bool {
        matches!(self, Self::Write { .. } | Self::Discard { .. })
    }
}

/// The result of a request.
#[derive(Debug, Clone)]
pub struct Completion {
    /// The caller's number for the request.
    pub tag: Tag,
    /// When the device accepted the request.
    pub submitted_at: Instant,
    /// When the device finished it.
    pub completed_at: Instant,
    /// Success or failure. A failed request completes like any other.
    pub outcome: Result<Success, RequestError>,
    /// The buffer of the request, if it carried one.
    pub buffer: Option<Buffer>,
    /// Whether others have written to the same device since the completion before, as far as that is seen: a
    /// filesystem its own tables, or another program.
    pub others_wrote: bool,
}

impl Completion {
    /// The completion of a request that was submitted and finished at these times, where no writes of others
    /// were seen.
    #[must_use]
    pub const fn new(
        tag: Tag,
        (submitted_at, completed_at): (Instant, Instant),
        outcome: Result<Success, RequestError>,
        buffer: Option<Buffer>,
    ) -> Self {
        Self { tag, submitted_at, completed_at, outcome, buffer, others_wrote: false }
    }

    /// Time from submission to completion.
    #[must_use]
    pub const fn latency(&self) -> Duration {
        self.completed_at.since(self.submitted_at)
    }
}

/// How a request succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Success {
    /// The request is done; no data was checked.
    Done,
    /// A checked read found every sector right.
    AllRight,
    /// A checked read found sectors that differ from what was written.
    Wrong(Box<CheckReport>),
}

impl Success {
    /// The success of a checked read with this result.
    #[must_use]
    pub fn of_check(report: CheckReport) -> Self {
        if report.is_right() { Self::AllRight } else { Self::Wrong(Box::new(report)) }
    }
}

/// Why a request failed: its kind, its range, and the cause.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {cause}", self.subject())]
pub struct RequestError {
    /// The kind of the request.
    pub kind: OpKind,
    /// Its range; `None` for a flush.
    pub range: Option<ByteRange>,
    /// The cause.
    pub cause: FailureCause,
}

impl RequestError {
    /// The error of this kind and range.
    #[must_use]
    pub const fn new(kind: OpKind, range: Option<ByteRange>, cause: FailureCause) -> Self {
        Self { kind, range, cause }
    }

    fn subject(&self) -> String {
        self.range.map_or_else(|| self.kind.to_string(), |range| format!("{} of {range}", self.kind))
    }
}

/// Why one request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FailureCause {
    /// The medium could not read or write the data (EIO).
    #[error("the device reported an input/output error")]
    Medium,
    /// The range ends beyond the end of the device.
    #[error("the range ends beyond the device's {capacity}")]
    OutOfRange {
        /// The device's capacity.
        capacity: Bytes,
    },
    /// Offset or length is not a multiple of the logical block, or the length is zero.
    #[error("offset and length must be non-zero multiples of the logical block of {logical_block}")]
    Misaligned {
        /// The device's logical block size.
        logical_block: Bytes,
    },
    /// The request is larger than the device accepts.
    #[error("the device accepts at most {max_request} in one request")]
    TooLarge {
        /// The largest request that the device accepts.
        max_request: Bytes,
    },
    /// The buffer's length differs from the range's.
    #[error("the buffer's length of {buffer} differs from the range's")]
    BufferLength {
        /// The buffer's length.
        buffer: Bytes,
    },
    /// A write to a device that was opened read-only.
    #[error("the device was opened read-only")]
    ReadOnly,
    /// The range lies outside the fence.
    #[error("the range lies outside the permitted {fence}")]
    Fenced {
        /// Where requests are permitted.
        fence: ByteRange,
    },
    /// The present data could not be read and saved, so nothing was written.
    #[error("the present data cannot be read and saved, so nothing was written")]
    NotSaved,
    /// The device does not support this request.
    #[error("the device does not support this request")]
    Unsupported,
    /// Any other error of the operating system.
    #[error("the system said: {}", std::io::Error::from_raw_os_error(*errno))]
    System {
        /// The error number.
        errno: i32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_error_shows_its_number_once() {
        let text = FailureCause::System { errno: 1 }.to_string();
        assert_eq!(text.matches("os error 1").count(), 1, "{text}");
    }
}
