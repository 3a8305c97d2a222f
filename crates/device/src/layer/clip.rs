//! Reports a smaller capacity, and refuses requests beyond it.

use super::refusals::Refusals;
use crate::contract::{Capabilities, Device, DeviceError};
use crate::request::{Completion, FailureCause, Op, Tag};
use crate::time::Instant;
use crate::units::Bytes;

/// The first part of a device, as if it were all of it. So a counterfeit is measured only where it stores
/// data.
#[derive(Debug)]
pub struct Clip<D> {
    device: D,
    capacity: Bytes,
    refusals: Refusals,
}

impl<D: Device> Clip<D> {
    /// The first `capacity` bytes of `device`, in whole logical blocks; all of it if that is less.
    pub fn new(device: D, capacity: Bytes) -> Self {
        let whole = device.capabilities();
        let capacity = capacity.min(whole.capacity).round_down(whole.logical_block);
        Self { device, capacity, refusals: Refusals::default() }
    }
}

impl<D: Device> Device for Clip<D> {
    fn capabilities(&self) -> Capabilities {
        Capabilities { capacity: self.capacity, ..self.device.capabilities() }
    }

    fn now(&self) -> Instant {
        self.device.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        if op.range().is_none_or(|range| range.end() <= self.capacity) {
            return self.device.submit(tag, op);
        }
        let cause = FailureCause::OutOfRange { capacity: self.capacity };
        self.refusals.refuse(&self.device, tag, op, cause);
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        self.refusals.or_wait(&mut self.device)
    }
}
