//! A device that wears out: latency and error rate grow with every byte written.

use std::collections::HashMap;

use super::failing::{Failing, RandomSource};
use super::spec::DyingSpec;
use crate::contract::{Capabilities, Device, DeviceError};
use crate::layer::clock::ClockOffset;
use crate::request::{Completion, Op, OpKind, Tag};
use crate::time::Instant;
use crate::units::{ByteRange, Bytes};

/// A device that wears out as [`DyingSpec`] describes.
#[derive(Debug)]
pub struct Dying<D> {
    device: D,
    spec: DyingSpec,
    written: Bytes,
    random: RandomSource,
    failing: Failing,
    offset: ClockOffset,
    submitted: HashMap<Tag, (Instant, OpKind)>,
}

impl<D: Device> Dying<D> {
    /// `device`, wearing out; `seed` selects the failing requests and the delays.
    pub fn new(device: D, spec: DyingSpec, seed: u64) -> Self {
        Self {
            device,
            spec,
            written: Bytes::ZERO,
            random: RandomSource::new(seed),
            failing: Failing::default(),
            offset: ClockOffset::default(),
            submitted: HashMap::new(),
        }
    }

    /// From 0, no effect, to 1, the full error rate and delay.
    fn severity(&self) -> f64 {
        let excess = self.written.saturating_sub(self.spec.after);
        (excess.as_f64() / self.spec.over.as_f64()).min(1.0)
    }

    fn should_fail(&mut self, op: &Op) -> Option<ByteRange> {
        let failing_range = op.range().filter(|_| matches!(op.kind(), OpKind::Read | OpKind::Write))?;
        let probability = self.spec.errors * self.severity();
        self.random.happens(probability).then_some(failing_range)
    }

    fn add_delay(&mut self, kind: OpKind) {
        let severity = self.severity();
        if kind != OpKind::Pause && severity > 0.0 {
            let delay = self.spec.delay.as_secs_f64() * severity * self.random.exponential();
            self.offset.add(std::time::Duration::try_from_secs_f64(delay).unwrap_or_default());
        }
    }
}

impl<D: Device> Device for Dying<D> {
    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn now(&self) -> Instant {
        self.offset.of(self.device.now())
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        let submitted = (self.now(), op.kind());
        let length = op.range().map_or(Bytes::ZERO, |range| range.length);
        match self.should_fail(&op) {
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
            .unwrap_or((self.offset.of(completion.submitted_at), OpKind::Pause));
        self.add_delay(kind);
        let completed_at = self.offset.of(completion.completed_at);
        Ok(Some(self.failing.complete(Completion { submitted_at, completed_at, ..completion })))
    }
}
