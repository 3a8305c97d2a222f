//! Requests one after the other: `pread` and `pwrite` in the caller's thread.

use std::collections::VecDeque;

use flashscope_device::{Completion, DeviceError, Op, Tag};

use crate::scratch::Scratch;
use crate::target::{Call, Target};

/// Serves requests in the order they came, each when its completion is waited for.
#[derive(Debug, Default)]
pub struct SyncEngine {
    scratch: Scratch,
    waiting: VecDeque<(Tag, Op)>,
}

impl SyncEngine {
    /// Takes a request.
    pub fn submit(&mut self, target: &Target, tag: Tag, op: Op) -> Result<(), DeviceError> {
        let queue_depth = target.capabilities.queue_depth;
        if self.waiting.len() >= queue_depth as usize {
            return Err(DeviceError::QueueFull { queue_depth });
        }
        self.waiting.push_back((tag, op));
        Ok(())
    }

    /// Serves the request that has waited longest.
    pub fn wait(&mut self, target: &Target) -> Result<Option<Completion>, DeviceError> {
        match self.waiting.pop_front() {
            Some((tag, op)) => self.serve(target, tag, op).map(Some),
            None => Ok(None),
        }
    }

    /// Nothing but the system call lies between the two time stamps.
    fn serve(&mut self, target: &Target, tag: Tag, mut op: Op) -> Result<Completion, DeviceError> {
        if let Err(refusal) = target.capabilities.admit(&op) {
            return Ok(target.refused(tag, op, refusal));
        }
        self.scratch.prepare(&op);
        let call = Call::from(&op);
        let payload = self.scratch.payload(&mut op);
        let submitted_at = target.now();
        let transferred = target.transfer(call, payload, 0);
        let completed_at = target.now();
        target.forget(&op);
        let outcome = match transferred {
            Ok(()) => Ok(self.scratch.verdict(&op)),
            Err(failure) => Err(target.error(&op, failure)?),
        };
        Ok(Completion { tag, submitted_at, completed_at, outcome, buffer: op.into_buffer() })
    }
}
