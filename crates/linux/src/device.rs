//! A real device behind the contract: an open target and the engine that serves its requests.

use std::os::fd::OwnedFd;

use flashscope_device::{Bytes, Capabilities, Completion, Device, DeviceError, Instant, Op, Tag};

use crate::engine::ActiveEngine;
use crate::remark::Remark;
use crate::target::Target;

/// A block device, or a file taken as one.
///
/// Its clock is the host's monotonic clock, zero at opening. With `io_uring`, requests are gathered and handed to the
/// kernel together, at the latest by the next [`Device::wait`]; a request counts as submitted when the kernel gets it,
/// and as completed when its completion is seen. Checks of what was read are made after that.
#[derive(Debug)]
pub struct LinuxDevice {
    target: Target,
    engine: ActiveEngine,
    remarks: Vec<Remark>,
}

impl LinuxDevice {
    pub(crate) const fn new(target: Target, engine: ActiveEngine, remarks: Vec<Remark>) -> Self {
        Self { target, engine, remarks }
    }

    /// Its descriptor.
    pub(crate) const fn file(&self) -> &OwnedFd {
        &self.target.file
    }

    /// Gives up what lies behind the first `capacity` bytes of a file of our own, so that nobody takes it for written.
    ///
    /// # Errors
    /// What the kernel says if the file cannot be made shorter.
    pub fn shorten(&mut self, capacity: Bytes) -> std::io::Result<()> {
        rustix::fs::ftruncate(&self.target.file, capacity.get())?;
        self.target.capabilities.capacity = capacity;
        for remark in &mut self.remarks {
            if let Remark::OwnFile { size } = remark {
                *size = capacity;
            }
        }
        Ok(())
    }

    /// What the person should know of how this target was opened.
    #[must_use]
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }
}

impl Device for LinuxDevice {
    fn capabilities(&self) -> Capabilities {
        self.target.capabilities
    }

    fn now(&self) -> Instant {
        self.target.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        match &mut self.engine {
            ActiveEngine::Sync(engine) => engine.submit(&self.target, tag, op),
            ActiveEngine::Ring(engine) => engine.submit(&self.target, tag, op),
        }
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        match &mut self.engine {
            ActiveEngine::Sync(engine) => engine.wait(&self.target),
            ActiveEngine::Ring(engine) => engine.wait(&self.target),
        }
    }
}
