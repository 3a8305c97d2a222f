//! Requests from the kernel, on their way to the thread that owns the device.

use flashscope_device::{Buffer, ByteRange, Bytes, FailureCause, Instant, OpKind};
use fuser::{ReplyData, ReplyEmpty, ReplyWrite};
use rustix::io::Errno;

use super::overhead::Sample;

/// A message to the serving thread.
#[derive(Debug)]
pub enum Message {
    /// A request for the device.
    Request(Request),
    /// A request for the calibration file: answered at once, without the device.
    Calibration(Request),
    /// A calibration series with requests of this kind has ended.
    CalibrationDone(Sample),
    /// Refuse the remaining requests and end.
    Stop,
}

/// One request.
#[derive(Debug)]
pub struct Request {
    /// When it was received from the kernel, on the host's clock.
    pub arrived_at: Instant,
    /// The operation.
    pub operation: Operation,
    /// Where the reply goes.
    pub reply: Reply,
}

/// An operation. Ranges lie inside the device, but reads and writes need not be whole sectors.
#[derive(Debug)]
pub enum Operation {
    /// Read this range.
    Read(ByteRange),
    /// Write these bytes.
    Write {
        /// The offset.
        offset: Bytes,
        /// The bytes.
        data: Buffer,
        /// Whether a flush belongs to it (`O_SYNC`, `O_DSYNC`).
        flush_after: bool,
    },
    /// Make all writes durable.
    Flush,
    /// Discard these whole sectors.
    Discard(ByteRange),
}

impl Operation {
    /// Its kind.
    pub const fn kind(&self) -> OpKind {
        match self {
            Self::Read(_) => OpKind::Read,
            Self::Write { .. } => OpKind::Write,
            Self::Flush => OpKind::Flush,
            Self::Discard(_) => OpKind::Discard,
        }
    }

    /// Its range; empty for a flush.
    pub fn range(&self) -> ByteRange {
        match self {
            Self::Read(range) | Self::Discard(range) => *range,
            Self::Write { offset, data, .. } => ByteRange::new(*offset, data.length()),
            Self::Flush => ByteRange::new(Bytes::ZERO, Bytes::ZERO),
        }
    }
}

/// Where a reply goes. Dropping it unused replies `EIO`.
#[derive(Debug)]
pub enum Reply {
    /// To a read.
    Data(ReplyData),
    /// To a write.
    Written(ReplyWrite),
    /// To a flush or discard.
    Done(ReplyEmpty),
    /// To a test.
    #[cfg(test)]
    Test(std::sync::mpsc::Sender<Result<Vec<u8>, Errno>>),
}

impl Reply {
    /// Replies with the data of a read, or with the number of bytes written.
    pub fn send(self, outcome: Result<&[u8], Errno>, written: Bytes) {
        let refusal = |errno: Errno| fuser::Errno::from_i32(errno.raw_os_error());
        match (self, outcome) {
            (Self::Data(reply), Ok(data)) => reply.data(data),
            (Self::Data(reply), Err(errno)) => reply.error(refusal(errno)),
            (Self::Written(reply), Ok(_)) => reply.written(u32::try_from(written.get()).unwrap_or(u32::MAX)),
            (Self::Written(reply), Err(errno)) => reply.error(refusal(errno)),
            (Self::Done(reply), Ok(_)) => reply.ok(),
            (Self::Done(reply), Err(errno)) => reply.error(refusal(errno)),
            #[cfg(test)]
            (Self::Test(sender), outcome) => drop(sender.send(outcome.map(<[u8]>::to_vec))),
        }
    }
}

/// The error number for a failed request. `failure.rs` has the opposite direction.
pub const fn errno_of(cause: FailureCause) -> Errno {
    match cause {
        FailureCause::Medium | FailureCause::NotSaved => Errno::IO,
        FailureCause::OutOfRange { .. } => Errno::NOSPC,
        FailureCause::Unsupported => Errno::OPNOTSUPP,
        FailureCause::ReadOnly => Errno::ROFS,
        FailureCause::Fenced { .. } => Errno::PERM,
        FailureCause::System { errno } => Errno::from_raw_os_error(errno),
        FailureCause::Misaligned { .. }
        | FailureCause::TooLarge { .. }
        | FailureCause::BufferLength { .. } => Errno::INVAL,
    }
}
