//! What can be asked of a device, and what comes back.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::buffer::Buffer;
use crate::pattern::{CheckReport, Pattern};
use crate::time::Instant;
use crate::units::{ByteRange, Bytes};

/// The caller's own name for a request; it comes back in the completion.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(pub u64);

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Read a range.
    Read {
        /// What to read.
        range: ByteRange,
        /// What to do with the data.
        into: ReadInto,
    },
    /// Write a range.
    Write {
        /// Where to write; as long as the payload.
        range: ByteRange,
        /// What to write.
        payload: Payload,
    },
    /// Make everything written so far survive a power cut.
    Flush,
    /// Tell the device that a range's contents are no longer wanted (TRIM).
    Discard {
        /// The range.
        range: ByteRange,
    },
    /// Let this much device time pass. Costs nothing in virtual time.
    Pause {
        /// How long.
        duration: Duration,
    },
}

/// What a read does with the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadInto {
    /// Only the time matters; the data is dropped.
    Timing,
    /// Every block is held against the pattern; the verdict is in the completion.
    Check(Pattern),
    /// The bytes are wanted: a buffer as long as the range, which comes home in the completion.
    Bytes(Buffer),
}

/// What a write writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// The data pattern. No byte is touched until somebody needs it.
    Pattern(Pattern),
    /// These bytes, as many as the range has. The buffer comes home in the completion.
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
    /// A read that only takes time.
    #[must_use]
    pub const fn read(range: ByteRange) -> Self {
        Self::Read { range, into: ReadInto::Timing }
    }

    /// A write of the data pattern.
    #[must_use]
    pub const fn write(range: ByteRange, pattern: Pattern) -> Self {
        Self::Write { range, payload: Payload::Pattern(pattern) }
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

    /// The range this request touches; `None` for a flush or a pause.
    #[must_use]
    pub const fn range(&self) -> Option<ByteRange> {
        match self {
            Self::Read { range, .. } | Self::Write { range, .. } | Self::Discard { range } => Some(*range),
            Self::Flush | Self::Pause { .. } => None,
        }
    }

    /// The buffer inside this request, if it carries one.
    #[must_use]
    pub fn into_buffer(self) -> Option<Buffer> {
        match self {
            Self::Read { into: ReadInto::Bytes(buffer), .. }
            | Self::Write { payload: Payload::Bytes(buffer), .. } => Some(buffer),
            _ => None,
        }
    }

    /// True if this request changes what is stored.
    #[must_use]
    pub const fn modifies(&self) -> bool {
        matches!(self, Self::Write { .. } | Self::Discard { .. })
    }
}

/// The answer to a request.
#[derive(Debug, Clone)]
pub struct Completion {
    /// The caller's name for the request.
    pub tag: Tag,
    /// When the device took the request.
    pub submitted_at: Instant,
    /// When the device finished it.
    pub completed_at: Instant,
    /// What became of it. A failed request is a completion like any other.
    pub outcome: Result<Success, RequestError>,
    /// The buffer that travelled in the request, if one did.
    pub buffer: Option<Buffer>,
}

impl Completion {
    /// How long the device took.
    #[must_use]
    pub const fn latency(&self) -> Duration {
        self.completed_at.since(self.submitted_at)
    }
}

/// How a request succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Success {
    /// Done; nothing was checked.
    Done,
    /// A checked read found every block right.
    AllRight,
    /// A checked read found blocks that are not what was written.
    Wrong(Box<CheckReport>),
}

impl Success {
    /// The success of a checked read with this tally.
    #[must_use]
    pub fn of_check(report: CheckReport) -> Self {
        if report.is_right() { Self::AllRight } else { Self::Wrong(Box::new(report)) }
    }
}

/// Why a request failed: what was being done, to which range, and what the device said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {cause}", self.what())]
pub struct RequestError {
    /// What was being done.
    pub kind: OpKind,
    /// To which range; `None` for a flush.
    pub range: Option<ByteRange>,
    /// What went wrong.
    pub cause: FailureCause,
}

impl RequestError {
    /// The error of this kind and range.
    #[must_use]
    pub const fn new(kind: OpKind, range: Option<ByteRange>, cause: FailureCause) -> Self {
        Self { kind, range, cause }
    }

    fn what(&self) -> String {
        self.range.map_or_else(|| self.kind.to_string(), |range| format!("{} of {range}", self.kind))
    }
}

/// What went wrong with one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FailureCause {
    /// The medium could not deliver or take the data (EIO).
    #[error("the device reported an input/output error")]
    Medium,
    /// The range reaches behind the end of the device.
    #[error("the range ends behind the device's {capacity}")]
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
    /// The request is larger than the device takes in one piece.
    #[error("the device takes at most {max_request} in one request")]
    TooLarge {
        /// The most that one request may carry.
        max_request: Bytes,
    },
    /// The buffer's length differs from the range's.
    #[error("the buffer's length of {buffer} differs from the range's")]
    BufferLength {
        /// The buffer's length.
        buffer: Bytes,
    },
    /// A write to a device that was opened for reading only.
    #[error("the device was opened read-only")]
    ReadOnly,
    /// The range lies outside the fence.
    #[error("the range lies outside the permitted {fence}")]
    Fenced {
        /// Where requests are permitted.
        fence: ByteRange,
    },
    /// The device does not know this request.
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
    fn the_number_of_an_error_is_told_once() {
        let text = FailureCause::System { errno: 1 }.to_string();
        assert_eq!(text.matches("os error 1").count(), 1, "{text}");
    }
}
