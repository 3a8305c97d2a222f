//! A real device: an open target and the engine that serves its requests.

use std::os::fd::OwnedFd;

use flashscope_device::layer::Interrupt;
use flashscope_device::{Bytes, Capabilities, Completion, Device, DeviceError, Instant, Op, Tag};

use crate::engine::ActiveEngine;
use crate::erasable::medium;
use crate::other_writes::OtherWrites;
use crate::remark::Remark;
use crate::roots::Roots;
use crate::sysfs::Sysfs;
use crate::target::{Target, TargetKind};

/// A block device or an image file.
///
/// Its clock is the host's monotonic clock, zero at opening. With `io_uring`, requests are submitted to the
/// kernel in batches, at the latest by the next [`Device::wait`]. A request counts as submitted when the
/// kernel receives it, and as completed when its completion is seen. Reads are checked after that.
#[derive(Debug)]
pub struct LinuxDevice {
    target: Target,
    engine: ActiveEngine,
    remarks: Vec<Remark>,
    /// The medium that a person agreed to erase, until it is compared before the first write.
    unchecked: Option<String>,
    /// Ends the wait for a password, if udisks2 is asked for it again.
    interrupt: Option<Interrupt>,
    /// What others write to the disk under a file.
    other_writes: Option<OtherWrites>,
}

impl LinuxDevice {
    pub(crate) const fn new(target: Target, engine: ActiveEngine, remarks: Vec<Remark>) -> Self {
        Self { target, engine, remarks, unchecked: None, interrupt: None, other_writes: None }
    }

    /// The same, with `medium` compared before the first write: planning a layout or reading may have taken
    /// minutes since it was opened, and the card may be another one.
    pub(crate) fn for_medium(self, medium: Option<&str>) -> Self {
        Self { unchecked: medium.map(str::to_owned), ..self }
    }

    /// The same, with an interrupt for opening it again.
    pub(crate) fn interruptible(self, interrupt: Option<Interrupt>) -> Self {
        Self { interrupt, ..self }
    }

    pub(crate) const fn interrupt(&self) -> Option<&Interrupt> {
        self.interrupt.as_ref()
    }

    /// Compares the medium, once.
    pub(crate) fn check_medium(&mut self) -> Result<(), DeviceError> {
        let Some(agreed) = self.unchecked.take() else { return Ok(()) };
        let node = Sysfs::default().node_of_file(&self.target.file);
        if node.and_then(|node| medium(&node, &Roots::default())).as_ref() == Some(&agreed) {
            return Ok(());
        }
        self.unchecked = Some(agreed);
        Err(DeviceError::MediumChanged)
    }

    pub(crate) const fn kind(&self) -> TargetKind {
        self.target.kind
    }

    /// Its descriptor.
    pub(crate) const fn file(&self) -> &OwnedFd {
        &self.target.file
    }

    /// Truncates a temporary file to `capacity`, so that its unwritten end is not measured.
    ///
    /// # Errors
    /// The kernel's error if the file cannot be truncated.
    pub fn shorten(&mut self, capacity: Bytes) -> std::io::Result<()> {
        rustix::fs::ftruncate(&self.target.file, capacity.get())?;
        self.target.capabilities.capacity = capacity;
        for remark in &mut self.remarks {
            if let Remark::TemporaryFile { size } = remark {
                *size = capacity;
            }
        }
        Ok(())
    }

    /// From now on its completions report whether others wrote to the disk under this file, if the kernel
    /// counts writes. All writes of the file must reach the disk before they complete.
    pub fn notice_other_writes(&mut self) {
        self.other_writes = OtherWrites::to_disk_under(&self.target.file);
    }

    /// What the person should know about how this target was opened.
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
        if op.modifies() {
            self.check_medium()?;
        }
        if let (Some(other_writes), Op::Write { range, .. }) = (&mut self.other_writes, &op) {
            other_writes.add_own(range.length);
        }
        match &mut self.engine {
            ActiveEngine::Sync(engine) => engine.submit(&self.target, tag, op),
            ActiveEngine::Ring(engine) => engine.submit(&self.target, tag, op),
        }
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        let mut completion = match &mut self.engine {
            ActiveEngine::Sync(engine) => engine.wait(&self.target),
            ActiveEngine::Ring(engine) => engine.wait(&self.target),
        }?;
        if let (Some(other_writes), Some(completion)) = (&mut self.other_writes, &mut completion) {
            completion.others_wrote = other_writes.any_since_last(completion.outcome.is_ok());
        }
        Ok(completion)
    }
}
