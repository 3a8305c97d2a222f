//! Takes no writes and no discards: what stands between an experiment and somebody's data.

use super::refusals::Refusals;
use crate::contract::{Capabilities, Device, DeviceError};
use crate::request::{Completion, FailureCause, Op, Tag};
use crate::time::Instant;

/// Refuses whatever would change the device, with [`FailureCause::ReadOnly`].
#[derive(Debug)]
pub struct ReadOnly<D> {
    device: D,
    refusals: Refusals,
}

impl<D: Device> ReadOnly<D> {
    /// `device`, for reading only.
    pub fn new(device: D) -> Self {
        Self { device, refusals: Refusals::default() }
    }
}

impl<D: Device> Device for ReadOnly<D> {
    fn capabilities(&self) -> Capabilities {
        Capabilities { writable: false, discard: false, ..self.device.capabilities() }
    }

    fn now(&self) -> Instant {
        self.device.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        if !op.modifies() {
            return self.device.submit(tag, op);
        }
        self.refusals.refuse(&self.device, tag, op, FailureCause::ReadOnly);
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        self.refusals.or_wait(&mut self.device)
    }
}
