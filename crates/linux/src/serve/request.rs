//! Requests as they come from the kernel, on their way to the thread that owns the device.

use flashscope_device::{Buffer, ByteRange, Bytes, FailureCause, Instant, OpKind};
use fuser::{ReplyData, ReplyEmpty, ReplyWrite};
use rustix::io::Errno;

use super::overhead::Sample;

/// What the serving thread is sent.
#[derive(Debug)]
pub enum Message {
    /// A request for the device.
    Request(Request),
    /// A request for the file that measures the host: answered at once, without the device.
    Calibration(Request),
    /// The host has been measured with requests of this kind.
    Learn(Sample),
    /// Refuse what is left and end.
    Stop,
}

/// One request.
#[derive(Debug)]
pub struct Request {
    /// When it was taken from the kernel, on the host's clock.
    pub arrived_at: Instant,
    /// What is asked.
    pub ask: Ask,
    /// Where the answer goes.
    pub reply: Reply,
}

/// What is asked. Ranges lie inside the device, but reads and writes need not be whole sectors.
#[derive(Debug)]
pub enum Ask {
    /// Read this range.
    Read(ByteRange),
    /// Write these bytes.
    Write {
        /// Where to.
        offset: Bytes,
        /// The bytes.
        data: Buffer,
        /// Whether a flush belongs to it (`O_SYNC`, `O_DSYNC`).
        then_flush: bool,
    },
    /// Make durable what was written.
    Flush,
    /// Forget these whole sectors.
    Discard(ByteRange),
}

impl Ask {
    /// Its kind.
    pub const fn kind(&self) -> OpKind {
        match self {
            Self::Read(_) => OpKind::Read,
            Self::Write { .. } => OpKind::Write,
            Self::Flush => OpKind::Flush,
            Self::Discard(_) => OpKind::Discard,
        }
    }

    /// The bytes it touches; none for a flush.
    pub fn range(&self) -> ByteRange {
        match self {
            Self::Read(range) | Self::Discard(range) => *range,
            Self::Write { offset, data, .. } => ByteRange::new(*offset, data.length()),
            Self::Flush => ByteRange::new(Bytes::ZERO, Bytes::ZERO),
        }
    }
}

/// Where an answer goes. Dropped without one, it says `EIO`.
#[derive(Debug)]
pub enum Reply {
    /// To a reader.
    Data(ReplyData),
    /// To a writer.
    Written(ReplyWrite),
    /// To whoever waits for nothing but the end.
    Done(ReplyEmpty),
    /// To a test.
    #[cfg(test)]
    Test(std::sync::mpsc::Sender<Result<Vec<u8>, Errno>>),
}

impl Reply {
    /// Answers with the data that was read (none, except for a read) and the number of bytes that were written.
    pub fn answer(self, outcome: Result<&[u8], Errno>, written: Bytes) {
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

/// What a failed request is called in the kernel's numbers. The other way round: `failure.rs`.
pub const fn errno_of(cause: FailureCause) -> Errno {
    match cause {
        FailureCause::Medium => Errno::IO,
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
