//! Stops a measurement between two requests when the user interrupts it (Ctrl-C).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::contract::{Capabilities, Device, DeviceError};
use crate::request::{Completion, Op, Tag};
use crate::time::Instant;

/// A flag that stops a measurement. Clones share it; a signal handler may hold one.
#[derive(Debug, Default, Clone)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Requests the stop.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// True after a request to stop.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag, for a signal handler.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

/// Accepts no request after an [`Interrupt`]. Requests in flight still complete.
#[derive(Debug)]
pub struct Interruptible<D> {
    device: D,
    interrupt: Interrupt,
}

impl<D: Device> Interruptible<D> {
    /// Passes requests to `device` until `interrupt` is requested.
    pub const fn new(device: D, interrupt: Interrupt) -> Self {
        Self { device, interrupt }
    }

    /// The device below, without this layer.
    pub fn into_device(self) -> D {
        self.device
    }

    /// The device below, which an interrupt does not stop.
    pub const fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }
}

impl<D: Device> Device for Interruptible<D> {
    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn now(&self) -> Instant {
        self.device.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        if self.interrupt.is_requested() {
            return Err(DeviceError::Interrupted);
        }
        self.device.submit(tag, op)
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        self.device.wait()
    }
}
