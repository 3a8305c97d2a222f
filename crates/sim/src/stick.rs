//! The virtual stick itself: the contract on the outside, the parts of the model inside.

use std::collections::VecDeque;
use std::time::Duration;

use flashscope_device::{
    ByteRange, Bytes, Capabilities, Completion, Device, DeviceError, Instant, Op, Payload, ReadInto,
    RequestError, SECTOR, Success, Tag,
};

use crate::chance::Chance;
use crate::contents::Contents;
use crate::controller::{Command, Controller};
use crate::link::Link;
use crate::noise::HoldUps;
use crate::profile::Profile;
use crate::statistics::Statistics;

// The host may queue; the link serves one request at a time, in order.
const QUEUE_DEPTH: u32 = 32;
const REQUEST_MAX: Bytes = Bytes::mib(64);

/// A USB stick or SD card in virtual time, deterministic from its profile and seed.
#[derive(Debug, Clone)]
pub struct VirtualStick {
    profile: Profile,
    seed: u64,
    capabilities: Capabilities,
    now: Instant,
    queue: VecDeque<(Tag, Instant, Op)>,
    link: Link,
    controller: Controller,
    contents: Contents,
    hold_ups: HoldUps,
    statistics: Statistics,
}

impl VirtualStick {
    /// A new stick, never written, made as `profile` says; `seed` decides all that is left to chance.
    #[must_use]
    pub fn new(profile: &Profile, seed: u64) -> Self {
        let capabilities = Capabilities {
            capacity: profile.capacity,
            logical_block: SECTOR,
            physical_block: SECTOR,
            max_request: REQUEST_MAX,
            queue_depth: QUEUE_DEPTH,
            writable: true,
            discard: true,
        };
        Self {
            seed,
            capabilities,
            now: Instant::ZERO,
            queue: VecDeque::with_capacity(QUEUE_DEPTH as usize),
            link: Link::new(&profile.link),
            controller: Controller::new(profile, seed),
            contents: Contents::new(profile.capacity),
            hold_ups: HoldUps::new(&profile.noise, Chance::new(seed, 2)),
            statistics: Statistics::default(),
            profile: profile.clone(),
        }
    }

    /// What the stick is made of.
    #[must_use]
    pub const fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The seed of everything left to chance.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// What happened inside so far.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.controller.count(self.statistics, &self.profile)
    }

    fn perform(&mut self, op: &mut Op) -> Result<Success, RequestError> {
        self.capabilities.admit(op)?;
        let ideal_ns = self.time_ns(op);
        self.now += match op {
            Op::Pause { duration } => *duration,
            _ => Duration::from_nanos(self.hold_ups.lengthen(ideal_ns, &mut self.statistics)),
        };
        Ok(match op {
            Op::Read { range, into } => self.deliver(*range, into),
            Op::Write { range, payload } => self.store(*range, payload),
            Op::Discard { range } => {
                self.contents.discard(*range);
                Success::Done
            }
            Op::Flush | Op::Pause { .. } => Success::Done,
        })
    }

    /// How long a request takes before noise; moves the model on.
    fn time_ns(&mut self, op: &Op) -> u64 {
        match op {
            Op::Read { range, .. } => self.commands_ns(*range, Controller::read_ns),
            Op::Write { range, .. } => {
                self.statistics.bytes_written += range.length;
                self.commands_ns(*range, Controller::write_ns)
            }
            Op::Flush | Op::Discard { .. } => {
                self.statistics.commands += 1;
                self.link.command_ns()
            }
            Op::Pause { .. } => 0,
        }
    }

    fn commands_ns(&mut self, range: ByteRange, of: fn(&mut Controller, Command) -> u64) -> u64 {
        let mut total_ns = 0;
        for (start, end) in self.link.commands(range.offset.get(), range.end().get()) {
            let command = Command { start, end, transfer_ns: self.link.transfer_ns(end - start) };
            total_ns += self.link.command_ns() + of(&mut self.controller, command);
            self.statistics.commands += 1;
        }
        total_ns
    }

    fn deliver(&self, range: ByteRange, into: &mut ReadInto) -> Success {
        match into {
            ReadInto::Timing => Success::Done,
            ReadInto::Check(pattern) => Success::of_check(self.contents.check(range, *pattern)),
            ReadInto::Bytes(buffer) => {
                self.contents.read(range, buffer);
                Success::Done
            }
        }
    }

    fn store(&mut self, range: ByteRange, payload: &Payload) -> Success {
        match payload {
            Payload::Pattern(pattern) => self.contents.write_pattern(range, *pattern),
            Payload::Bytes(buffer) => self.contents.write_bytes(range, buffer),
        }
        Success::Done
    }
}

impl Device for VirtualStick {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        if self.queue.len() >= QUEUE_DEPTH as usize {
            return Err(DeviceError::QueueFull { queue_depth: QUEUE_DEPTH });
        }
        self.queue.push_back((tag, self.now, op));
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        let Some((tag, submitted_at, mut op)) = self.queue.pop_front() else { return Ok(None) };
        let outcome = self.perform(&mut op);
        Ok(Some(Completion { tag, submitted_at, completed_at: self.now, outcome, buffer: op.into_buffer() }))
    }
}
