//! Makes a device fail on purpose, the same way for the same seed.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::refusals::Refusals;
use crate::contract::{Capabilities, Device, DeviceError};
use crate::request::{Completion, FailureCause, Op, OpKind, Tag};
use crate::time::Instant;

/// What goes wrong, and when.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    /// This share of the requests of one kind fails with a medium error.
    Errors {
        /// Which requests.
        kind: OpKind,
        /// From 0 to 1.
        share: f64,
    },
    /// The device vanishes once it has taken this many requests.
    Unplug {
        /// How many requests still succeed.
        after_requests: u64,
    },
}

/// A device that fails as [`Fault`] says; which requests fail depends on the seed alone.
#[derive(Debug)]
pub struct Faulty<D> {
    device: D,
    fault: Fault,
    random: Xoshiro256PlusPlus,
    taken: u64,
    refusals: Refusals,
}

impl<D: Device> Faulty<D> {
    /// `device`, with this fault.
    pub fn new(device: D, fault: Fault, seed: u64) -> Self {
        Self {
            device,
            fault,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            taken: 0,
            refusals: Refusals::default(),
        }
    }

    fn is_unplugged(&self) -> bool {
        matches!(self.fault, Fault::Unplug { after_requests } if self.taken > after_requests)
    }

    fn strikes(&mut self, op: &Op) -> bool {
        let Fault::Errors { kind, share } = self.fault else { return false };
        #[expect(clippy::cast_precision_loss, reason = "a draw from [0, 1) needs no more than 53 bits")]
        let draw = (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        kind == op.kind() && draw < share
    }
}

impl<D: Device> Device for Faulty<D> {
    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn now(&self) -> Instant {
        self.device.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        self.taken += 1;
        if self.is_unplugged() {
            return Err(DeviceError::Gone { during: op.kind().to_string() });
        }
        if self.strikes(&op) {
            self.refusals.refuse(&self.device, tag, op, FailureCause::Medium);
            return Ok(());
        }
        self.device.submit(tag, op)
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        if self.is_unplugged() {
            return Err(DeviceError::Gone { during: "wait".to_owned() });
        }
        self.refusals.or_wait(&mut self.device)
    }
}
