//! Completions that a layer makes itself, because it keeps a request from the device below.

use std::collections::VecDeque;

use crate::contract::{Device, DeviceError};
use crate::request::{Completion, FailureCause, Op, RequestError, Tag};

/// Refused requests, waiting to be collected like any other completion.
#[derive(Debug, Default)]
pub struct Refusals {
    waiting: VecDeque<Completion>,
}

impl Refusals {
    /// Refuses `op`: its completion, with its buffer, is handed out by the next [`Refusals::or_wait`].
    pub fn refuse(&mut self, device: &impl Device, tag: Tag, op: Op, cause: FailureCause) {
        let now = device.now();
        let outcome = Err(RequestError::new(op.kind(), op.range(), cause));
        self.waiting.push_back(Completion {
            tag,
            submitted_at: now,
            completed_at: now,
            outcome,
            buffer: op.into_buffer(),
        });
    }

    /// The next refusal, if there is one.
    pub fn next(&mut self) -> Option<Completion> {
        self.waiting.pop_front()
    }

    /// The next refusal, or else what the device below completes.
    pub fn or_wait(&mut self, device: &mut impl Device) -> Result<Option<Completion>, DeviceError> {
        match self.next() {
            Some(completion) => Ok(Some(completion)),
            None => device.wait(),
        }
    }
}
