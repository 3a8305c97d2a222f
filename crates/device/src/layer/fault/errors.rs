//! Some requests fail with a medium error, after the time they would have taken.

use super::failing::{Chance, Failing};
use super::spec::ErrorSpec;
use crate::contract::{Capabilities, Device, DeviceError};
use crate::request::{Completion, Op, OpKind, Tag};
use crate::time::Instant;

/// A device whose requests of one kind fail as [`ErrorSpec`] says; a write that fails leaves the old data.
#[derive(Debug)]
pub struct Errors<D> {
    device: D,
    kind: OpKind,
    spec: ErrorSpec,
    chance: Chance,
    failing: Failing,
}

impl<D: Device> Errors<D> {
    /// `device`, with requests of this kind failing; which ones depends on the seed alone.
    pub fn new(device: D, kind: OpKind, spec: ErrorSpec, seed: u64) -> Self {
        Self { device, kind, spec, chance: Chance::new(seed), failing: Failing::default() }
    }

    fn strikes(&mut self, op: &Op) -> bool {
        let within = |range| self.spec.range.is_none_or(|bad| bad.overlaps(range));
        op.kind() == self.kind && op.range().is_some_and(within) && self.chance.happens(self.spec.share)
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
            Some(range) if self.strikes(&op) => self.failing.submit(&mut self.device, tag, op, range),
            _ => self.device.submit(tag, op),
        }
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        let completion = self.device.wait()?;
        Ok(completion.map(|completion| self.failing.settle(completion)))
    }
}
