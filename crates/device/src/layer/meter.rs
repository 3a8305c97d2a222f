//! Counts requests, bytes and device time of a measurement, and stops it at its budget.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limit::Limit;

use crate::contract::{Capabilities, Device, DeviceError};
use crate::request::{Completion, Op, OpKind, Tag};
use crate::time::Instant;
use crate::units::Bytes;

/// Requests, bytes and device time of a measurement.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Read requests.
    pub reads: u64,
    /// Write requests.
    pub writes: u64,
    /// Bytes read.
    pub bytes_read: Bytes,
    /// Bytes written.
    pub bytes_written: Bytes,
    /// Device time from the first request to the last completion.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub device_time: Duration,
}

impl Cost {
    /// Counts one request, without its time.
    pub fn count(&mut self, kind: OpKind, length: Bytes) {
        match kind {
            OpKind::Read => {
                self.reads += 1;
                self.bytes_read += length;
            }
            OpKind::Write => {
                self.writes += 1;
                self.bytes_written += length;
            }
            OpKind::Flush | OpKind::Discard | OpKind::Pause => {}
        }
    }
}

/// The limits of a measurement. `None`: no limit.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// Read requests.
    pub reads: Option<u64>,
    /// Bytes written.
    pub bytes_written: Option<Bytes>,
    /// Device time.
    pub device_time: Option<Duration>,
}

impl Budget {
    /// No limits.
    pub const UNLIMITED: Self = Self { reads: None, bytes_written: None, device_time: None };

    /// The limit that one more request of this size, or a pause of this length, would exceed.
    #[must_use]
    pub fn exceeded_by(&self, cost: &Cost, kind: OpKind, length: Bytes, pause: Duration) -> Option<Limit> {
        if let Some(limit) = self.device_time.and_then(|limit| no_time(limit, cost.device_time, pause)) {
            return Some(limit);
        }
        match kind {
            OpKind::Read => self.reads.filter(|limit| cost.reads >= *limit).map(Limit::Reads),
            OpKind::Write => self.bytes_written.and_then(|limit| no_room(limit, cost.bytes_written, length)),
            OpKind::Flush | OpKind::Discard | OpKind::Pause => None,
        }
    }

    /// The rest of the budget after `cost` was spent.
    #[must_use]
    pub fn left(&self, cost: &Cost) -> Self {
        Self {
            reads: self.reads.map(|reads| reads.saturating_sub(cost.reads)),
            bytes_written: self.bytes_written.map(|bytes| bytes.saturating_sub(cost.bytes_written)),
            device_time: self.device_time.map(|time| time.saturating_sub(cost.device_time)),
        }
    }
}

fn no_time(limit: Duration, spent: Duration, pause: Duration) -> Option<Limit> {
    let left = limit.saturating_sub(spent);
    (left.is_zero() || pause > left).then_some(Limit::DeviceTime { limit, left, pause })
}

fn no_room(limit: Bytes, spent: Bytes, write: Bytes) -> Option<Limit> {
    let left = limit.saturating_sub(spent);
    (write > left).then_some(Limit::Written { limit, left, write })
}

/// Counts every request and refuses, with [`DeviceError::BudgetSpent`], the first that would exceed the
/// budget.
#[derive(Debug)]
pub struct Meter<D> {
    device: D,
    budget: Budget,
    cost: Cost,
    started_at: Option<Instant>,
    /// Device time that was spent before this meter began.
    previous_time: Duration,
}

impl<D: Device> Meter<D> {
    /// Counts the requests to `device`, within `budget`.
    pub const fn new(device: D, budget: Budget) -> Self {
        let cost = Cost {
            reads: 0,
            writes: 0,
            bytes_read: Bytes::ZERO,
            bytes_written: Bytes::ZERO,
            device_time: Duration::ZERO,
        };
        Self::after(cost, device, budget)
    }

    /// The same, where `cost` of the budget is already spent.
    pub const fn after(cost: Cost, device: D, budget: Budget) -> Self {
        Self { device, budget, cost, started_at: None, previous_time: cost.device_time }
    }

    /// The rest of the budget.
    #[must_use]
    pub fn left(&self) -> Budget {
        self.budget.left(&self.cost)
    }

    /// The cost until now.
    #[must_use]
    pub const fn cost(&self) -> Cost {
        self.cost
    }

    /// The device below, without this layer.
    pub fn into_device(self) -> D {
        self.device
    }

    /// The device below. Its requests are not counted and have no limit.
    pub const fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }
}

impl<D: Device> Device for Meter<D> {
    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn now(&self) -> Instant {
        self.device.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        let (kind, length) = (op.kind(), op.range().map_or(Bytes::ZERO, |range| range.length));
        let pause = if let Op::Pause { duration } = &op { *duration } else { Duration::ZERO };
        if let Some(limit) = self.budget.exceeded_by(&self.cost, kind, length, pause) {
            return Err(DeviceError::BudgetSpent { limit });
        }
        self.started_at.get_or_insert_with(|| self.device.now());
        self.device.submit(tag, op)?;
        self.cost.count(kind, length);
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        let completion = self.device.wait()?;
        if let (Some(completion), Some(started_at)) = (&completion, self.started_at) {
            self.cost.device_time = self.previous_time + completion.completed_at.since(started_at);
        }
        Ok(completion)
    }
}
