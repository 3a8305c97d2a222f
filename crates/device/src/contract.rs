//! The contract itself: four methods.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::buffer::Buffer;
use crate::request::{Completion, FailureCause, Op, Payload, ReadInto, RequestError, Tag};
use crate::time::Instant;
use crate::units::{ByteRange, Bytes};

/// What a device can do. Layers may answer differently from the device they wrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// How many bytes the device claims to hold.
    pub capacity: Bytes,
    /// The unit of offsets and lengths.
    pub logical_block: Bytes,
    /// The unit below which the device says it works less well.
    pub physical_block: Bytes,
    /// The most that one request may carry. Transports cut it further, out of sight.
    pub max_request: Bytes,
    /// How many requests may be in flight.
    pub queue_depth: u32,
    /// Whether writes are taken.
    pub writable: bool,
    /// Whether discards are taken.
    pub discard: bool,
}

impl Capabilities {
    /// The whole device as a range.
    #[must_use]
    pub const fn whole(&self) -> ByteRange {
        ByteRange::new(Bytes::ZERO, self.capacity)
    }

    /// Holds a request against these capabilities.
    ///
    /// # Errors
    /// The [`RequestError`] a device must complete this request with.
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

/// The device itself failed; no further request makes sense. (A failed *request* is a [`Completion`].)
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The device is gone: unplugged, or its process died.
    #[error("the device vanished during a {during}; plug it in again and check the connection")]
    Gone {
        /// What was going on.
        during: String,
    },
    /// More requests in flight than the queue takes. A mistake of the caller.
    #[error("more than {queue_depth} requests in flight")]
    QueueFull {
        /// The device's queue depth.
        queue_depth: u32,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The budget of requests, bytes or time is spent, or too little of it is left for what was asked.
    #[error("the budget allows no more: {limit}")]
    BudgetSpent {
        /// Which limit was reached, or would be exceeded by what.
        limit: String,
    },
    /// A replayed trace does not hold what was asked for.
    #[error(
        "the replayed trace has no such request at position {position}: asked for {asked}, recorded {recorded}"
    )]
    ReplayDiverged {
        /// Index into the trace.
        position: usize,
        /// What was asked for.
        asked: String,
        /// What the trace holds there.
        recorded: String,
    },
    /// The operating system failed in a way that is not one request's.
    #[error("{during}: the system said: {}", std::io::Error::from_raw_os_error(*errno))]
    System {
        /// What was going on.
        during: String,
        /// The error number.
        errno: i32,
    },
}

/// A storage device with its own clock, real or virtual.
///
/// Requests complete in any order. At most [`Capabilities::queue_depth`] may be in flight. A device that refuses a
/// request says so in its completion; only a device that can do nothing more returns a [`DeviceError`].
pub trait Device {
    /// What the device can do.
    fn capabilities(&self) -> Capabilities;

    /// Device time, real or virtual. Never goes back.
    fn now(&self) -> Instant;

    /// Hands a request to the device.
    ///
    /// # Errors
    /// [`DeviceError`] if the device can take no more requests at all.
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

/// What follows from the four methods, for every device.
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
