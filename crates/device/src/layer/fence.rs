//! Passes only requests inside one byte range.

use super::refusals::Refusals;
use crate::contract::{Capabilities, Device, DeviceError};
use crate::request::{Completion, FailureCause, Op, Tag};
use crate::time::Instant;
use crate::units::ByteRange;

/// Refuses every request outside its range with [`FailureCause::Fenced`].
#[derive(Debug)]
pub struct Fence<D> {
    device: D,
    fence: ByteRange,
    refusals: Refusals,
}

impl<D: Device> Fence<D> {
    /// Passes requests inside `fence` to `device`.
    pub fn new(device: D, fence: ByteRange) -> Self {
        Self { device, fence, refusals: Refusals::default() }
    }
}

impl<D: Device> Device for Fence<D> {
    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn now(&self) -> Instant {
        self.device.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        if op.range().is_none_or(|range| self.fence.contains(range)) {
            return self.device.submit(tag, op);
        }
        self.refusals.refuse(&self.device, tag, op, FailureCause::Fenced { fence: self.fence });
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        self.refusals.or_wait(&mut self.device)
    }
}
