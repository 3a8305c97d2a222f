//! Records every request with its times, so that a measurement can be looked at, or replayed without the stick.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::contract::{Capabilities, Device, DeviceError};
use crate::request::{Completion, Op, OpKind, Tag};
use crate::time::Instant;
use crate::units::{ByteRange, Bytes};

/// One completed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceRecord {
    /// What was asked.
    pub kind: OpKind,
    /// Of which range; empty at offset 0 for a flush or a pause.
    pub range: ByteRange,
    /// When the device took it.
    pub submitted_at: Instant,
    /// When the device finished it.
    pub completed_at: Instant,
    /// Whether it succeeded.
    pub succeeded: bool,
}

/// Keeps a record of every completed request, in order of completion.
#[derive(Debug)]
pub struct Trace<D> {
    device: D,
    asked: HashMap<Tag, (OpKind, ByteRange)>,
    records: Vec<TraceRecord>,
}

/// The range of a request as traces write it: empty for those that have none.
#[must_use]
pub fn traced_range(op: &Op) -> ByteRange {
    op.range().unwrap_or(ByteRange::new(Bytes::ZERO, Bytes::ZERO))
}

impl<D: Device> Trace<D> {
    /// `device`, recorded.
    pub fn new(device: D) -> Self {
        Self { device, asked: HashMap::new(), records: Vec::new() }
    }

    /// What was recorded so far.
    #[must_use]
    pub fn records(&self) -> &[TraceRecord] {
        &self.records
    }
}

impl<D: Device> Device for Trace<D> {
    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn now(&self) -> Instant {
        self.device.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        let asked = (op.kind(), traced_range(&op));
        self.device.submit(tag, op)?;
        self.asked.insert(tag, asked);
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        let completion = self.device.wait()?;
        if let Some(completion) = &completion
            && let Some((kind, range)) = self.asked.remove(&completion.tag)
        {
            self.records.push(TraceRecord {
                kind,
                range,
                submitted_at: completion.submitted_at,
                completed_at: completion.completed_at,
                succeeded: completion.outcome.is_ok(),
            });
        }
        Ok(completion)
    }
}
