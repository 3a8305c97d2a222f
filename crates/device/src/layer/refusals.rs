//! Completions of requests that a layer refuses and does not pass to the device below.

use std::collections::VecDeque;

use crate::contract::{Device, DeviceError};
use crate::request::{Completion, FailureCause, Op, RequestError, Tag};

/// Completions of refused requests that the caller has not collected yet.
#[derive(Debug, Default)]
pub struct Refusals {
    waiting: VecDeque<Completion>,
}

impl Refusals {
    /// Refuses `op`. The next [`Refusals::or_wait`] returns its completion, with its buffer.
    pub fn refuse(&mut self, device: &impl Device, tag: Tag, op: Op, cause: FailureCause) {
        let now = device.now();
        let outcome = Err(RequestError::new(op.kind(), op.range(), cause));
        self.waiting.push_back(Completion::new(tag, (now, now), outcome, op.into_buffer()));
    }

    /// The next refused request, if there is one.
    pub fn next(&mut self) -> Option<Completion> {
        self.waiting.pop_front()
    }

    /// The next refused request, or the next completion of the device below.
    pub fn or_wait(&mut self, device: &mut impl Device) -> Result<Option<Completion>, DeviceError> {
        match self.next() {
            Some(completion) => Ok(Some(completion)),
            None => device.wait(),
        }
    }
}
