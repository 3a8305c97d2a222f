//! A device in memory: the simplest implementation of the contract, for tests.

use std::collections::VecDeque;
use std::time::Duration;

use crate::contract::{Capabilities, Device, DeviceError};
use crate::request::{Completion, Op, Payload, ReadInto, RequestError, Success, Tag};
use crate::time::Instant;
use crate::units::{ByteRange, Bytes, SECTOR};

/// Bytes in memory as a [`Device`] with virtual time: every request takes the same fixed time.
#[derive(Debug)]
pub struct MemoryDevice {
    contents: Vec<u8>,
    capabilities: Capabilities,
    now: Instant,
    per_request: Duration,
    /// Tag, start, time and request.
    in_flight: VecDeque<(Tag, Instant, Duration, Op)>,
}

impl MemoryDevice {
    /// A device of `capacity` zero bytes. Each request takes 100 us.
    #[must_use]
    pub fn new(capacity: Bytes) -> Self {
        let capabilities = Capabilities {
            capacity,
            logical_block: SECTOR,
            physical_block: SECTOR,
            max_request: Bytes::mib(64),
            queue_depth: 32,
            writable: true,
            discard: true,
        };
        Self {
            contents: vec![0; capacity.to_usize()],
            capabilities,
            now: Instant::ZERO,
            per_request: Duration::from_micros(100),
            in_flight: VecDeque::new(),
        }
    }

    /// The same device with another fixed time per request.
    #[must_use]
    pub const fn with_latency(mut self, per_request: Duration) -> Self {
        self.per_request = per_request;
        self
    }

    /// The same device without discards.
    #[must_use]
    pub const fn without_discards(mut self) -> Self {
        self.capabilities.discard = false;
        self
    }

    /// All bytes of the device.
    #[must_use]
    pub fn contents(&self) -> &[u8] {
        &self.contents
    }

    fn bytes(&mut self, range: ByteRange) -> &mut [u8] {
        &mut self.contents[range.offset.to_usize()..range.end().to_usize()]
    }

    fn perform(&mut self, op: &mut Op) -> Result<Success, RequestError> {
        self.capabilities.admit(op)?;
        match op {
            Op::Read { range, into } => return Ok(self.read(*range, into)),
            Op::Write { range, payload: Payload::Bytes(buffer) } => {
                self.bytes(*range).copy_from_slice(buffer)
            }
            Op::Write { range, payload: Payload::Pattern { pattern, .. } } => {
                pattern.fill(range.offset.sectors(), self.bytes(*range));
            }
            Op::Discard { range } => self.bytes(*range).fill(0),
            Op::Flush => {}
            Op::Pause { duration } => self.now += *duration,
        }
        Ok(Success::Done)
    }

    fn read(&mut self, range: ByteRange, into: &mut ReadInto) -> Success {
        match into {
            ReadInto::Timing => Success::Done,
            ReadInto::Check(pattern) => {
                Success::of_check(pattern.check(range.offset.sectors(), self.bytes(range)))
            }
            ReadInto::Bytes(buffer) => {
                buffer.copy_from_slice(self.bytes(range));
                Success::Done
            }
        }
    }
}

impl Device for MemoryDevice {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        if self.in_flight.len() >= self.capabilities.queue_depth as usize {
            return Err(DeviceError::QueueFull { queue_depth: self.capabilities.queue_depth });
        }
        self.in_flight.push_back((tag, self.now, self.per_request, op));
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        let Some((tag, submitted_at, takes, mut op)) = self.in_flight.pop_front() else { return Ok(None) };
        if !matches!(op, Op::Pause { .. }) {
            self.now += takes;
        }
        let outcome = self.perform(&mut op);
        Ok(Some(Completion::new(tag, (submitted_at, self.now), outcome, op.into_buffer())))
    }
}

/// A device in memory whose requests take the time that a function of each request gives.
pub struct TimedDevice<F> {
    device: MemoryDevice,
    latency: F,
}

impl<F: FnMut(&Op) -> Duration> TimedDevice<F> {
    /// `device` with the times of `latency`, which is called once for each request, in order.
    pub const fn new(device: MemoryDevice, latency: F) -> Self {
        Self { device, latency }
    }
}

impl<F: FnMut(&Op) -> Duration> Device for TimedDevice<F> {
    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn now(&self) -> Instant {
        self.device.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        self.device.per_request = (self.latency)(&op);
        self.device.submit(tag, op)
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        self.device.wait()
    }
}
