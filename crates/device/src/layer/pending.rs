//! Shows another thread that a request is pending, and keeps the longest latency.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::contract::{Capabilities, Device, DeviceError};
use crate::request::{Completion, Op, Tag};
use crate::time::Instant;

/// What is pending on a device. Clones share it.
#[derive(Debug, Default, Clone)]
pub struct Pending(Arc<State>);

#[derive(Debug, Default)]
struct State {
    /// Odd while the device holds the calling thread.
    calls: AtomicU64,
    /// Nanoseconds.
    longest: AtomicU64,
}

impl Pending {
    /// A number that stays the same as long as the device holds the calling thread with one request; `None`
    /// while it does not.
    #[must_use]
    pub fn call(&self) -> Option<u64> {
        Some(self.0.calls.load(Ordering::Relaxed)).filter(|calls| !calls.is_multiple_of(2))
    }

    /// The longest latency of a request so far.
    #[must_use]
    pub fn longest(&self) -> Duration {
        Duration::from_nanos(self.0.longest.load(Ordering::Relaxed))
    }

    fn step(&self) {
        self.0.calls.fetch_add(1, Ordering::Relaxed);
    }

    fn keep(&self, latency: Duration) {
        let nanoseconds = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.0.longest.fetch_max(nanoseconds, Ordering::Relaxed);
    }
}

/// Notes in a [`Pending`] when the device below holds the calling thread. Pauses do not count.
#[derive(Debug)]
pub struct Watched<D> {
    device: D,
    pending: Pending,
    /// Pauses in flight.
    pauses: Vec<Tag>,
}

impl<D: Device> Watched<D> {
    /// Watches this device.
    pub const fn new(device: D, pending: Pending) -> Self {
        Self { device, pending, pauses: Vec::new() }
    }
}

impl<D: Device> Device for Watched<D> {
    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn now(&self) -> Instant {
        self.device.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        if matches!(op, Op::Pause { .. }) {
            self.pauses.push(tag);
            return self.device.submit(tag, op);
        }
        self.pending.step();
        let result = self.device.submit(tag, op);
        self.pending.step();
        result
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        if !self.pauses.is_empty() {
            let completion = self.device.wait()?;
            self.pauses.retain(|tag| completion.as_ref().is_none_or(|completion| completion.tag != *tag));
            return Ok(completion);
        }
        self.pending.step();
        let result = self.device.wait();
        self.pending.step();
        if let Ok(Some(completion)) = &result {
            self.pending.keep(completion.latency());
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryDevice;
    use crate::request::Op;
    use crate::units::{ByteRange, Bytes};
    use crate::{DeviceExt as _, Pattern};

    /// A device that looks at what is pending while it is called.
    struct Looking {
        device: MemoryDevice,
        pending: Pending,
        seen: Vec<Option<u64>>,
    }

    impl Device for Looking {
        fn capabilities(&self) -> Capabilities {
            self.device.capabilities()
        }

        fn now(&self) -> Instant {
            self.device.now()
        }

        fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
            self.seen.push(self.pending.call());
            self.device.submit(tag, op)
        }

        fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
            self.seen.push(self.pending.call());
            self.device.wait()
        }
    }

    #[test]
    fn a_request_is_pending_while_the_device_is_called_and_a_pause_is_not() {
        let pending = Pending::default();
        let device = MemoryDevice::new(Bytes::mib(1));
        let mut watched =
            Watched::new(Looking { device, pending: pending.clone(), seen: Vec::new() }, pending.clone());
        watched.run(Op::write(ByteRange::new(Bytes::ZERO, Bytes::kib(4)), Pattern::new(1))).unwrap();
        assert_eq!(pending.call(), None);
        watched.run(Op::Pause { duration: Duration::from_secs(300) }).unwrap();
        let [submit, wait, pause @ ..] = watched.device.seen.as_slice() else { panic!("no calls") };
        assert!(submit.is_some() && wait.is_some() && submit != wait, "{submit:?} {wait:?}");
        assert!(pause.iter().all(Option::is_none), "{pause:?}");
        assert!(pending.longest() < Duration::from_secs(300), "a pause is no latency");
    }
}
