//! Requests that fail with a medium error after their usual latency.

use super::failing::{Failing, RandomSource};
use super::spec::ErrorSpec;
use crate::contract::{Capabilities, Device, DeviceError};
use crate::request::{Completion, Op, OpKind, Tag};
use crate::time::Instant;

/// A device whose requests of one kind fail as [`ErrorSpec`] describes. A failed write leaves the old data.
#[derive(Debug)]
pub struct Errors<D> {
    device: D,
    kind: OpKind,
    spec: ErrorSpec,
    random: RandomSource,
    failing: Failing,
}

impl<D: Device> Errors<D> {
    /// `device` with failing requests of this kind; `seed` selects them.
    pub fn new(device: D, kind: OpKind, spec: ErrorSpec, seed: u64) -> Self {
        Self { device, kind, spec, random: RandomSource::new(seed), failing: Failing::default() }
    }

    fn should_fail(&mut self, op: &Op) -> bool {
        let within = |range| self.spec.range.is_none_or(|bad| bad.overlaps(range));
        op.kind() == self.kind && op.range().is_some_and(within) && self.random.happens(self.spec.share)
    }
}

impl<D: Device> Device for Errors<D> {
    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn now(&self) -> Instant {
        self.device.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        match op.range() {
            Some(range) if self.should_fail(&op) => self.failing.submit(&mut self.device, tag, op, range),
            _ => self.device.submit(tag, op),
        }
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        let completion = self.device.wait()?;
        Ok(completion.map(|completion| self.failing.complete(completion)))
    }
}
