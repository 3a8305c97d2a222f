//! The [`Device`] trait: four methods.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::buffer::Buffer;
use crate::limit::Limit;
use crate::request::{Completion, FailureCause, Op, Payload, ReadInto, RequestError, Tag};
use crate::time::Instant;
use crate::units::{ByteRange, Bytes};

/// What a device can do. A layer may report other capabilities than the device that it wraps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// The capacity that the device reports, bytes.
    pub capacity: Bytes,
    /// The unit of offsets and lengths: every request is a multiple of it.
    pub logical_block: Bytes,
    /// The smallest request that the device reports to handle without a read-modify-write.
    pub physical_block: Bytes,
    /// The largest request. The kernel may split it further before it reaches the device.
    pub max_request: Bytes,
    /// The largest number of requests in flight.
    pub queue_depth: u32,
    /// Whether the device accepts writes.
    pub writable: bool,
    /// Whether the device accepts discards.
    pub discard: bool,
}

impl Capabilities {
    /// The whole device as a range.
    #[must_use]
    pub const fn whole(&self) -> ByteRange {
        ByteRange::new(Bytes::ZERO, self.capacity)
    }

    /// Checks a request against these capabilities.
    ///
    /// # Errors
    /// The [`RequestError`] with which a device must complete this request.
    pub fn admit(&self, op: &Op) -> Result<(), RequestError> {
        let refuse = |cause| Err(RequestError::new(op.kind(), op.range(), cause));
        if op.modifies() && !self.writable {
            return refuse(FailureCause::ReadOnly);
        }
        if matches!(op, Op::Discard { .. }) && !self.discard {
            return refuse(FailureCause::Unsupported);
        }
        let Some(range) = op.range() else { return Ok(()) };
        let aligned = range.offset.is_multiple_of(self.logical_block)
            && range.length.is_multiple_of(self.logical_block);
        if range.length.is_zero() || !aligned {
            return refuse(FailureCause::Misaligned { logical_block: self.logical_block });
        }
        if !self.whole().contains(range) {
            return refuse(FailureCause::OutOfRange { capacity: self.capacity });
        }
        if range.length > self.max_request && !matches!(op, Op::Discard { .. }) {
            return refuse(FailureCause::TooLarge { max_request: self.max_request });
        }
        match payload_length(op) {
            Some(length) if length != range.length => refuse(FailureCause::BufferLength { buffer: length }),
            _ => Ok(()),
        }
    }
}

fn payload_length(op: &Op) -> Option<Bytes> {
    match op {
        Op::Read { into: ReadInto::Bytes(buffer), .. }
        | Op::Write { payload: Payload::Bytes(buffer), .. } => Some(buffer.length()),
        _ => None,
    }
}

/// The device failed and accepts no further request. (A failed *request* is a [`Completion`].)
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The device disappeared: it was unplugged, or its process died.
    #[error("the device vanished during a {during}; plug it in again and check the connection")]
    Gone {
        /// The operation that was running.
        during: String,
    },
    /// The filesystem that holds the target has no space left for the data. The device is not to blame.
    #[error("the filesystem that holds the target has no space left for a {during}; free some space there")]
    NoSpace {
        /// The operation that was running.
        during: String,
    },
    /// Another medium is in the drive than the one that may be written.
    #[error("the medium was changed since it was opened; nothing was written to the new one")]
    MediumChanged,
    /// The caller submitted more requests than the queue depth allows.
    #[error("more than {queue_depth} requests in flight")]
    QueueFull {
        /// The device's queue depth.
        queue_depth: u32,
    },
    /// The user interrupted the measurement.
    #[error("interrupted")]
    Interrupted,
    /// The budget of requests, bytes or time is spent, or too small for the next request.
    #[error("the budget allows no more: {limit}")]
    BudgetSpent {
        /// The limit that was reached, or would be exceeded.
        limit: Limit,
    },
    /// A request differs from the one that the replayed trace holds.
    #[error(
        "the replayed trace has no such request at position {position}: asked for {asked}, recorded {recorded}"
    )]
    ReplayDiverged {
        /// Index into the trace.
        position: usize,
        /// The request.
        asked: String,
        /// The request in the trace.
        recorded: String,
    },
    /// The operating system reported an error that does not belong to one request.
    #[error("{during}: the system said: {}", std::io::Error::from_raw_os_error(*errno))]
    System {
        /// The operation that was running.
        during: String,
        /// The error number.
        errno: i32,
    },
}

/// A storage device with its own clock, real or virtual.
///
/// Requests complete in any order. At most [`Capabilities::queue_depth`] may be in flight. A refused request
/// is a completion with an error; a [`DeviceError`] means that the device accepts no further request.
pub trait Device {
    /// What the device can do.
    fn capabilities(&self) -> Capabilities;

    /// Device time, real or virtual. It never decreases.
    fn now(&self) -> Instant;

    /// Submits a request.
    ///
    /// # Errors
    /// [`DeviceError`] if the device accepts no further request.
    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError>;

    /// Waits for the next completion; `None` if nothing is in flight.
    ///
    /// # Errors
    /// [`DeviceError`] if the device failed.
    fn wait(&mut self) -> Result<Option<Completion>, DeviceError>;
}

impl<D: Device + ?Sized> Device for &mut D {
    fn capabilities(&self) -> Capabilities {
        (**self).capabilities()
    }
    fn now(&self) -> Instant {
        (**self).now()
    }
    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        (**self).submit(tag, op)
    }
    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        (**self).wait()
    }
}

impl<D: Device + ?Sized> Device for Box<D> {
    fn capabilities(&self) -> Capabilities {
        (**self).capabilities()
    }
    fn now(&self) -> Instant {
        (**self).now()
    }
    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        (**self).submit(tag, op)
    }
    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        (**self).wait()
    }
}

/// Helpers for every device, built on the four methods of [`Device`].
pub trait DeviceExt: Device {
    /// Runs one request alone and waits for it. Nothing else may be in flight.
    ///
    /// # Errors
    /// [`DeviceError`] if the device failed. A failed request is an `Ok` completion.
    fn run(&mut self, op: Op) -> Result<Completion, DeviceError> {
        let kind = op.kind();
        self.submit(Tag::default(), op)?;
        self.wait()?.ok_or_else(|| DeviceError::Gone { during: kind.to_string() })
    }

    /// Reads `range` as bytes.
    ///
    /// # Errors
    /// [`DeviceError`] if the device failed; inside, the [`RequestError`] if the read did.
    fn read_bytes(&mut self, range: ByteRange) -> Result<Result<Buffer, RequestError>, DeviceError> {
        let into = ReadInto::Bytes(Buffer::zeroed(range.length));
        let completion = self.run(Op::Read { range, into })?;
        Ok(completion.outcome.map(|_| completion.buffer.unwrap_or_default()))
    }

    /// Lets `duration` of device time pass.
    ///
    /// # Errors
    /// [`DeviceError`] if the device failed.
    fn pause(&mut self, duration: Duration) -> Result<(), DeviceError> {
        self.run(Op::Pause { duration }).map(drop)
    }
}

impl<D: Device + ?Sized> DeviceExt for D {}
