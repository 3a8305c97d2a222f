//! The device under a target's layers, with or without a journal.

use std::path::PathBuf;

use flashscope_device::layer::Watched;
use flashscope_device::layer::journal::{JournalStore, Journaled};
use flashscope_device::{Capabilities, Completion, Device, DeviceError, Instant, Op, Tag};

use crate::stall;

/// A device whose original data is kept in a journal.
pub struct Kept {
    /// The device.
    pub device: Journaled<Box<dyn Device>, Box<dyn JournalStore>>,
    /// The file of the journal; `None` for one in memory.
    pub path: Option<PathBuf>,
}

/// The device under a target's layers.
pub enum Base {
    /// What is overwritten is lost.
    Plain(Box<dyn Device>),
    /// What is overwritten is kept (`--scratch`).
    Journaled(Box<Kept>),
}

impl Base {
    /// A device without a journal, whose pending requests are watched for stalls.
    pub fn watched(device: impl Device + 'static) -> Self {
        Self::Plain(Box::new(Watched::new(device, stall::pending().clone())))
    }

    /// The device without its journal.
    pub fn into_plain(self) -> Box<dyn Device> {
        match self {
            Self::Plain(device) => device,
            Self::Journaled(kept) => kept.device.into_parts().0,
        }
    }

    fn device(&self) -> &dyn Device {
        match self {
            Self::Plain(device) => device,
            Self::Journaled(kept) => &kept.device,
        }
    }

    fn device_mut(&mut self) -> &mut dyn Device {
        match self {
            Self::Plain(device) => device,
            Self::Journaled(kept) => &mut kept.device,
        }
    }
}

impl Device for Base {
    fn capabilities(&self) -> Capabilities {
        self.device().capabilities()
    }

    fn now(&self) -> Instant {
        self.device().now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        self.device_mut().submit(tag, op)
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        self.device_mut().wait()
    }
}
