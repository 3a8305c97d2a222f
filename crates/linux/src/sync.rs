//! The synchronous engine: one request at a time with `pread` and `pwrite` in the caller's thread.

use std::collections::VecDeque;

use flashscope_device::{Completion, DeviceError, Op, Tag};

use crate::slot::Slot;
use crate::target::Target;

/// Serves requests in order of arrival, each when its completion is waited for.
#[derive(Debug, Default)]
pub struct SyncEngine {
    slot: Slot,
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

    /// Serves the oldest request.
    pub fn wait(&mut self, target: &Target) -> Result<Option<Completion>, DeviceError> {
        match self.waiting.pop_front() {
            Some((tag, op)) => self.serve(target, tag, op).map(Some),
            None => Ok(None),
        }
    }

    fn serve(&mut self, target: &Target, tag: Tag, op: Op) -> Result<Completion, DeviceError> {
        if let Err(refusal) = target.capabilities.admit(&op) {
            return Ok(target.refused(tag, op, refusal));
        }
        self.slot.fill(tag, op);
        self.slot.serve(target)
    }
}
