//! A recorded trace as a device: the same requests get the same times again, without the stick.

use std::collections::VecDeque;

use super::trace::range_in_trace;
use crate::contract::{Capabilities, Device, DeviceError};
use crate::request::{Completion, FailureCause, Op, RequestError, Success, Tag};
use crate::time::Instant;
use crate::trace::TraceRecord;

/// Replays the completions of a trace. A request that differs from the recorded one is a
/// [`DeviceError::ReplayDiverged`].
///
/// Traces hold no data: checked reads succeed without a check, and reads of bytes return zeros.
#[derive(Debug)]
pub struct Replay {
    capabilities: Capabilities,
    records: Vec<TraceRecord>,
    position: usize,
    now: Instant,
    waiting: VecDeque<Completion>,
}

impl Replay {
    /// A device with these capabilities that replays these records.
    #[must_use]
    pub const fn new(capabilities: Capabilities, records: Vec<TraceRecord>) -> Self {
        Self { capabilities, records, position: 0, now: Instant::ZERO, waiting: VecDeque::new() }
    }

    fn diverged(&self, op: &Op, record: Option<&TraceRecord>) -> DeviceError {
        DeviceError::ReplayDiverged {
            position: self.position,
            asked: format!("{} of {}", op.kind(), range_in_trace(op)),
            recorded: record.map_or_else(
                || "the end of the trace".to_owned(),
                |record| format!("{} of {}", record.kind, record.range),
            ),
        }
    }
}

impl Device for Replay {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        let record = self.records.get(self.position).copied();
        let Some(record) =
            record.filter(|record| record.kind == op.kind() && record.range == range_in_trace(&op))
        else {
            return Err(self.diverged(&op, record.as_ref()));
        };
        self.position += 1;
        let failure = RequestError::new(op.kind(), op.range(), FailureCause::Medium);
        self.waiting.push_back(Completion::new(
            tag,
            (record.submitted_at, record.completed_at),
            if record.succeeded { Ok(Success::Done) } else { Err(failure) },
            op.into_buffer(),
        ));
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        let completion = self.waiting.pop_front();
        if let Some(completion) = &completion {
            self.now = completion.completed_at;
        }
        Ok(completion)
    }
}
