//! A device that consists only of its timing: it stores no data, so it supports only reads for timing.

use std::collections::VecDeque;
use std::time::Duration;

use flashscope_device::{
    Bytes, Capabilities, Completion, Device, DeviceError, FailureCause, Instant, Op, Payload, ReadInto,
    RequestError, SECTOR, Success, Tag,
};

use crate::draw::Draw;

/// A timing model.
pub(crate) trait Timing: std::fmt::Debug + Send {
    /// The time of a request that starts at `now`, seconds.
    fn seconds(&mut self, op: &Op, now: Instant, draw: &mut Draw) -> f64;
}

const QUEUE_DEPTH: u32 = 32;

/// A device with a [`Timing`] that serves one request at a time.
#[derive(Debug)]
pub(crate) struct Timed {
    capabilities: Capabilities,
    timing: Box<dyn Timing>,
    draw: Draw,
    now: Instant,
    in_flight: VecDeque<(Tag, Instant, Op)>,
}

impl Timed {
    pub(crate) fn new(capacity: Bytes, timing: Box<dyn Timing>, draw: Draw) -> Self {
        let capabilities = Capabilities {
            capacity,
            logical_block: SECTOR,
            physical_block: SECTOR,
            max_request: Bytes::mib(64),
            queue_depth: QUEUE_DEPTH,
            writable: true,
            discard: true,
        };
        Self { capabilities, timing, draw, now: Instant::ZERO, in_flight: VecDeque::new() }
    }

    fn perform(&mut self, op: &Op) -> Result<Success, RequestError> {
        self.capabilities.admit(op)?;
        self.now += match op {
            Op::Pause { duration } => *duration,
            _ => Duration::from_secs_f64(self.timing.seconds(op, self.now, &mut self.draw).max(0.0)),
        };
        if needs_data(op) {
            return Err(RequestError::new(op.kind(), op.range(), FailureCause::Unsupported));
        }
        Ok(Success::Done)
    }
}

/// True if a request needs stored data, which this device does not have.
const fn needs_data(op: &Op) -> bool {
    match op {
        Op::Read { into, .. } => !matches!(into, ReadInto::Timing),
        Op::Write { payload, .. } => matches!(payload, Payload::Bytes(_)),
        Op::Flush | Op::Discard { .. } | Op::Pause { .. } => false,
    }
}

impl Device for Timed {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        if self.in_flight.len() >= QUEUE_DEPTH as usize {
            return Err(DeviceError::QueueFull { queue_depth: QUEUE_DEPTH });
        }
        self.in_flight.push_back((tag, self.now, op));
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        let Some((tag, submitted_at, op)) = self.in_flight.pop_front() else { return Ok(None) };
        let outcome = self.perform(&op);
        Ok(Some(Completion::new(tag, (submitted_at, self.now), outcome, op.into_buffer())))
    }
}
