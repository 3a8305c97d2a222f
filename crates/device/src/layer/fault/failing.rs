//! Requests that take their time and then fail, while the device below does something harmless in their place.

use std::collections::HashMap;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::buffer::Buffer;
use crate::contract::{Device, DeviceError};
use crate::request::{Completion, FailureCause, Op, OpKind, RequestError, Tag};
use crate::units::ByteRange;

/// A request that will fail.
#[derive(Debug)]
struct Doomed {
    kind: OpKind,
    range: ByteRange,
    buffer: Option<Buffer>,
}

/// Doomed requests under way.
#[derive(Debug, Default)]
pub struct Failing(HashMap<Tag, Doomed>);

impl Failing {
    /// Has the device read `range` for its time alone, and the request `op` fail afterwards.
    pub fn submit(
        &mut self,
        device: &mut impl Device,
        tag: Tag,
        op: Op,
        range: ByteRange,
    ) -> Result<(), DeviceError> {
        device.submit(tag, Op::read(range))?;
        self.0.insert(tag, Doomed { kind: op.kind(), range, buffer: op.into_buffer() });
        Ok(())
    }

    /// The completion as the host sees it: that of a doomed request is a medium error.
    pub fn settle(&mut self, completion: Completion) -> Completion {
        let Some(doomed) = self.0.remove(&completion.tag) else { return completion };
        let error = RequestError::new(doomed.kind, Some(doomed.range), FailureCause::Medium);
        Completion { outcome: Err(error), buffer: doomed.buffer, ..completion }
    }
}

/// Chance from a seed.
#[derive(Debug)]
pub struct Chance(Xoshiro256PlusPlus);

impl Chance {
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
