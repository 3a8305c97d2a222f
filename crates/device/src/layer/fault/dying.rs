//! A device that gets slower, and fails more often, with every byte written to it.

use std::collections::HashMap;

use super::clock::Shift;
use super::failing::{Chance, Failing};
use super::spec::DyingSpec;
use crate::contract::{Capabilities, Device, DeviceError};
use crate::request::{Completion, Op, OpKind, Tag};
use crate::time::Instant;
use crate::units::{ByteRange, Bytes};

/// A device that dies as [`DyingSpec`] says.
#[derive(Debug)]
pub struct Dying<D> {
    device: D,
    spec: DyingSpec,
    written: Bytes,
    chance: Chance,
    failing: Failing,
    shift: Shift,
    submitted: HashMap<Tag, (Instant, OpKind)>,
}

impl<D: Device> Dying<D> {
    /// `device`, dying; `seed` decides which requests fail and how long each is held up.
    pub fn new(device: D, spec: DyingSpec, seed: u64) -> Self {
        Self {
            device,
            spec,
            written: Bytes::ZERO,
            chance: Chance::new(seed),
            failing: Failing::default(),
            shift: Shift::default(),
            submitted: HashMap::new(),
        }
    }

    /// How ill it is: 0 before it begins, 1 at the full measure.
    fn severity(&self) -> f64 {
        let excess = self.written.saturating_sub(self.spec.after);
        (excess.as_f64() / self.spec.over.as_f64()).min(1.0)
    }

    fn strikes(&mut self, op: &Op) -> Option<ByteRange> {
        let struck = op.range().filter(|_| matches!(op.kind(), OpKind::Read | OpKind::Write))?;
        let probability = self.spec.errors * self.severity();
        self.chance.happens(probability).then_some(struck)
    }

    fn hold_up(&mut self, kind: OpKind) {
        let severity = self.severity();
        if kind != OpKind::Pause && severity > 0.0 {
            let delay = self.spec.delay.as_secs_f64() * severity * self.chance.exponential();
            self.shift.add(std::time::Duration::try_from_secs_f64(delay).unwrap_or_default());
        }
    }
}

impl<D: Device> Device for Dying<D> {
    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn now(&self) -> Instant {
        self.shift.of(self.device.now())
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        let submitted = (self.now(), op.kind());
        let length = op.range().map_or(Bytes::ZERO, |range| range.length);
        match self.strikes(&op) {
            Some(range) => self.failing.submit(&mut self.device, tag, op, range)?,
            None => self.device.submit(tag, op)?,
        }
        if submitted.1 == OpKind::Write {
            self.written += length;
        }
        self.submitted.insert(tag, submitted);
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        let Some(completion) = self.device.wait()? else { return Ok(None) };
        let (submitted_at, kind) = self
            .submitted
            .remove(&completion.tag)
            .unwrap_or((self.shift.of(completion.submitted_at), OpKind::Pause));
        self.hold_up(kind);
        let completed_at = self.shift.of(completion.completed_at);
        Ok(Some(self.failing.settle(Completion { submitted_at, completed_at, ..completion })))
    }
}
