//! Requests that fail after a normal latency. The device below reads the same range instead.

use std::collections::HashMap;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::buffer::Buffer;
use crate::contract::{Device, DeviceError};
use crate::request::{Completion, FailureCause, Op, OpKind, RequestError, Tag};
use crate::units::ByteRange;

/// A request that must fail.
#[derive(Debug)]
struct FailingRequest {
    kind: OpKind,
    range: ByteRange,
    buffer: Option<Buffer>,
}

/// The failing requests in flight.
#[derive(Debug, Default)]
pub struct Failing(HashMap<Tag, FailingRequest>);

impl Failing {
    /// Submits a read of `range` in place of `op`, whose completion will be an error.
    pub fn submit(
        &mut self,
        device: &mut impl Device,
        tag: Tag,
        op: Op,
        range: ByteRange,
    ) -> Result<(), DeviceError> {
        device.submit(tag, Op::read(range))?;
        self.0.insert(tag, FailingRequest { kind: op.kind(), range, buffer: op.into_buffer() });
        Ok(())
    }

    /// The completion for the host: a medium error if the request must fail.
    pub fn complete(&mut self, completion: Completion) -> Completion {
        let Some(failing) = self.0.remove(&completion.tag) else { return completion };
        let error = RequestError::new(failing.kind, Some(failing.range), FailureCause::Medium);
        Completion { outcome: Err(error), buffer: failing.buffer, ..completion }
    }
}

/// Random numbers from a seed.
#[derive(Debug)]
pub struct RandomSource(Xoshiro256PlusPlus);

impl RandomSource {
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform in [0, 1).
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in a float")]
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with this probability.
    pub fn happens(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// Uniform in `0..count`; 0 if `count` is 0.
    pub fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(count)) >> 64) as u64
    }
}
