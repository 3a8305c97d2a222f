//! The virtual stick: the `Device` contract over the parts of the model.

use std::collections::VecDeque;

use flashscope_device::{
    Bytes, Capabilities, Completion, Device, DeviceError, Instant, Op, Payload, ReadInto, RequestError,
    SECTOR, Success, Tag,
};

use crate::contents::Contents;
use crate::controller::Controller;
use crate::ftl::Inconsistency;
use crate::link::Link;
use crate::noise::RequestNoise;
use crate::profile::Profile;
use crate::rng::StreamRng;
use crate::statistics::Statistics;

// The host queues requests even if the link does not. 32: the usual depth of Linux block devices.
const QUEUE_DEPTH: u32 = 32;
// Guess: larger than any request of an experiment.
const REQUEST_MAX: Bytes = Bytes::mib(64);

/// A USB stick or SD card in virtual time, deterministic from its profile and seed.
#[derive(Debug, Clone)]
pub struct VirtualStick {
    profile: Profile,
    seed: u64,
    capabilities: Capabilities,
    now: Instant,
    in_flight: VecDeque<Completion>,
    link: Link,
    controller: Controller,
    contents: Contents,
    noise: RequestNoise,
}

impl VirtualStick {
    /// A new stick with blank contents. `seed` determines every random choice.
    #[must_use]
    pub fn new(profile: &Profile, seed: u64) -> Self {
        let capabilities = Capabilities {
            capacity: profile.capacity,
            logical_block: SECTOR,
            physical_block: SECTOR,
            max_request: REQUEST_MAX,
            queue_depth: profile.link.timing().queue_depth.max(QUEUE_DEPTH),
            writable: true,
            discard: true,
        };
        Self {
            seed,
            capabilities,
            now: Instant::ZERO,
            in_flight: VecDeque::with_capacity(capabilities.queue_depth as usize),
            link: Link::new(profile),
            controller: Controller::new(profile, seed),
            contents: Contents::new(profile.capacity),
            noise: RequestNoise::new(&profile.noise, StreamRng::new(seed, 2)),
            profile: profile.clone(),
        }
    }

    /// The profile of the stick.
    #[must_use]
    pub const fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The random seed.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// The counters so far. A request counts when it is submitted.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let statistics = self.link.add_counters(self.noise.add_counters(Statistics::default()));
        self.controller.add_counters(statistics, &self.profile)
    }

    /// Checks the invariants of the translation layer, and that it holds every page with contents. Walks over
    /// the whole stick.
    ///
    /// # Errors
    /// [`Inconsistency`] names the failed invariant: a bug of the simulator.
    pub fn audit(&self) -> Result<(), Inconsistency> {
        self.controller.audit(&self.profile, |range| self.contents.is_blank(range))
    }

    /// The end and the outcome of a request.
    fn perform(&mut self, op: &mut Op) -> (Instant, Result<Success, RequestError>) {
        if let Err(refusal) = self.capabilities.admit(op) {
            return (self.link.refuse(self.now), Err(refusal));
        }
        let completed_at = self.link.serve(self.now, op, &mut self.controller, &mut self.noise);
        let outcome = self.controller.outcome(op).map(|()| self.apply_to_contents(op));
        (completed_at, outcome)
    }

    /// Applies a request to the contents.
    fn apply_to_contents(&mut self, op: &mut Op) -> Success {
        match op {
            Op::Read { into: ReadInto::Timing, .. } | Op::Flush | Op::Pause { .. } => {}
            Op::Read { range, into: ReadInto::Check(pattern) } => {
                return Success::of_check(self.contents.check(*range, *pattern));
            }
            Op::Read { range, into: ReadInto::Bytes(buffer) } => self.contents.read(*range, buffer),
            Op::Write { range, payload: Payload::Pattern { pattern, .. } } => {
                self.contents.write_pattern(*range, *pattern);
            }
            Op::Write { range, payload: Payload::Bytes(buffer) } => self.contents.write_bytes(*range, buffer),
            Op::Discard { range } => self.contents.discard(*range),
        }
        Success::Done
    }

    /// Queues a completion in order of completion time.
    fn complete(&mut self, completion: Completion) {
        let is_later = |other: &&Completion| other.completed_at > completion.completed_at;
        match self.in_flight.iter().rev().take_while(is_later).count() {
            0 => self.in_flight.push_back(completion),
            overtaken => self.in_flight.insert(self.in_flight.len() - overtaken, completion),
        }
    }
}

impl Device for VirtualStick {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn submit(&mut self, tag: Tag, mut op: Op) -> Result<(), DeviceError> {
        let queue_depth = self.capabilities.queue_depth;
        if self.in_flight.len() >= queue_depth as usize {
            return Err(DeviceError::QueueFull { queue_depth });
        }
        let (completed_at, outcome) = self.perform(&mut op);
        let (submitted_at, buffer) = (self.now, op.into_buffer());
        self.complete(Completion::new(tag, (submitted_at, completed_at), outcome, buffer));
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        let completion = self.in_flight.pop_front();
        if let Some(completion) = &completion {
            self.now = self.now.max(completion.completed_at);
        }
        Ok(completion)
    }
}
