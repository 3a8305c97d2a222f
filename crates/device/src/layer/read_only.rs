//! Refuses writes and discards, to protect a person's data from an experiment.

use super::refusals::Refusals;
use crate::contract::{Capabilities, Device, DeviceError};
use crate::request::{Completion, FailureCause, Op, Tag};
use crate::time::Instant;

/// Refuses every write and discard with [`FailureCause::ReadOnly`].
#[derive(Debug)]
pub struct ReadOnly<D> {
    device: D,
    refusals: Refusals,
}

impl<D: Device> ReadOnly<D> {
    /// Passes only reads, flushes and pauses to `device`.
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
