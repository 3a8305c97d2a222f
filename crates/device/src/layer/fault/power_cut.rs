//! A power cut: the device stays away, or returns without the contents of its volatile cache.
//!
//! Before the cut every request has its usual latency. To undo a lost write, the layer reads the old data
//! before each write and hides the time of that read from its clock; writes are then not in flight together.
//! Without a cache it reads nothing.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use super::failing::RandomSource;
use super::log::{FaultEvent, FaultLog, Loss};
use super::spec::{CutSpec, Trigger};
use super::volatile::{CachedWrite, Volatile};
use crate::buffer::Buffer;
use crate::contract::{Capabilities, Device, DeviceError};
use crate::layer::clock::ClockOffset;
use crate::request::{Completion, FailureCause, Op, OpKind, Payload, ReadInto, RequestError, Tag};
use crate::time::Instant;
use crate::units::{ByteRange, Bytes};

/// A device with one power cut.
#[derive(Debug)]
pub struct PowerCut<D> {
    device: D,
    spec: CutSpec,
    is_temporary: bool,
    log: FaultLog,
    random: RandomSource,
    state: State,
    volatile: Volatile,
    offset: ClockOffset,
    requests: u64,
    transferred: Bytes,
    pending: HashMap<Tag, Pending>,
    ready: VecDeque<Completion>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Before,
    Gone,
    Returned,
}

/// A request in flight.
#[derive(Debug)]
struct Pending {
    kind: OpKind,
    range: Option<ByteRange>,
    submitted_at: Instant,
    write: Option<CachedWrite>,
}

impl<D: Device> PowerCut<D> {
    /// `device` with the power cut of `spec`. The power returns if `is_temporary`. `log` receives the lost
    /// writes; `seed` decides which writes survive.
    pub fn new(device: D, spec: CutSpec, is_temporary: bool, log: FaultLog, seed: u64) -> Self {
        Self {
            device,
            spec,
            is_temporary,
            log,
            random: RandomSource::new(seed),
            state: State::Before,
            volatile: Volatile::new(spec.cache),
            offset: ClockOffset::default(),
            requests: 0,
            transferred: Bytes::ZERO,
            pending: HashMap::new(),
            ready: VecDeque::new(),
        }
    }

    fn is_due(&self) -> bool {
        self.state == State::Before
            && match self.spec.trigger {
                Trigger::Requests(limit) => self.requests > limit,
                Trigger::Transferred(limit) => self.transferred > limit,
                Trigger::At(time) => self.now() >= Instant::ZERO + time,
            }
    }

    /// The instant of the cut, if it is known in advance.
    fn known_cut(&self) -> Option<Instant> {
        match self.spec.trigger {
            Trigger::At(time) if self.state == State::Before => Some(Instant::ZERO + time),
            _ => None,
        }
    }

    fn check_present(&self, during: &str) -> Result<(), DeviceError> {
        match self.state {
            State::Gone => Err(DeviceError::Gone { during: during.to_owned() }),
            State::Before | State::Returned => Ok(()),
        }
    }

    /// Runs a request whose completion and time the host does not see. Nothing may be in flight.
    fn run_hidden(&mut self, op: Op) -> Result<Option<Completion>, DeviceError> {
        self.device.submit(Tag::default(), op)?;
        let completion = self.device.wait()?;
        self.offset.hide(completion.as_ref().map_or(Duration::ZERO, Completion::latency));
        Ok(completion)
    }

    /// Waits for all requests in flight and puts their completions into `ready`.
    fn drain(&mut self) -> Result<(), DeviceError> {
        while let Some(completion) = self.device.wait()? {
            self.complete(completion)?;
        }
        Ok(())
    }

    /// The part of a write that the cache may lose.
    fn range_at_risk(&self, op: &Op) -> Option<ByteRange> {
        let capabilities = self.device.capabilities();
        let range = op.range().filter(|_| op.kind() == OpKind::Write && self.state == State::Before)?;
        capabilities.admit(op).ok()?;
        self.volatile.tail(range, capabilities.logical_block)
    }

    /// The write with the data that it replaces, if the cache may lose it.
    fn cached_write(&mut self, op: &Op) -> Result<Option<CachedWrite>, DeviceError> {
        let Some(range) = self.range_at_risk(op) else { return Ok(None) };
        self.drain()?;
        let into = ReadInto::Bytes(Buffer::zeroed(range.length));
        let read = self.run_hidden(Op::Read { range, into })?;
        let before = read.filter(|read| read.outcome.is_ok()).and_then(|read| read.buffer);
        let payload = match op {
            Op::Write { payload: Payload::Pattern { pattern, sample }, .. } => {
                Some(Payload::Pattern { pattern: *pattern, sample: *sample })
            }
            Op::Write { payload: Payload::Bytes(buffer), .. } => {
                let skipped = buffer.length().saturating_sub(range.length).to_usize();
                Some(Payload::Bytes(Buffer::from(&buffer[skipped..])))
            }
            _ => None,
        };
        let both = before.zip(payload);
        Ok(both.map(|(before, payload)| CachedWrite { range, before, payload, is_acknowledged: false }))
    }

    /// Puts a completion into `ready`, unless the power was cut before it.
    fn complete(&mut self, completion: Completion) -> Result<(), DeviceError> {
        let completed_at = self.offset.of(completion.completed_at);
        let is_pause = self.pending.get(&completion.tag).is_some_and(|pending| pending.kind == OpKind::Pause);
        if !is_pause && self.known_cut().is_some_and(|cut| completed_at > cut) {
            return self.cut(Some(completion));
        }
        let Some(pending) = self.pending.remove(&completion.tag) else { return Ok(()) };
        match (pending.kind, pending.write) {
            _ if completion.outcome.is_err() => {}
            (OpKind::Flush, _) => self.volatile.flush(),
            (_, Some(write)) => self.volatile.push(CachedWrite { is_acknowledged: true, ..write }),
            _ => {}
        }
        let submitted_at = pending.submitted_at;
        self.ready.push_back(Completion { submitted_at, completed_at, ..completion });
        Ok(())
    }

    /// Cuts the power. `late` is a completion that came after the cut.
    fn cut(&mut self, late: Option<Completion>) -> Result<(), DeviceError> {
        let at = self.known_cut().unwrap_or_else(|| self.now());
        self.state = if self.is_temporary { State::Returned } else { State::Gone };
        let mut lost = Loss::default();
        let mut next = late;
        while let Some(completion) = next.take().map_or_else(|| self.device.wait(), |one| Ok(Some(one)))? {
            self.abort(completion, &mut lost);
        }
        self.discard_cache(&mut lost)?;
        self.log.note(FaultEvent { at, is_gone: !self.is_temporary, lost });
        Ok(())
    }

    /// Fails a request that was in flight. The host sees the failure only if the power returns.
    fn abort(&mut self, completion: Completion, lost: &mut Loss) {
        let Some(pending) = self.pending.remove(&completion.tag) else { return };
        if let Some(write) = pending.write.filter(|_| completion.outcome.is_ok()) {
            self.volatile.push(write);
        }
        let outcome = if pending.kind == OpKind::Pause {
            completion.outcome
        } else {
            lost.unanswered += 1;
            Err(RequestError::new(pending.kind, pending.range, FailureCause::Medium))
        };
        if self.is_temporary {
            let (submitted_at, completed_at) =
                (pending.submitted_at, self.offset.of(completion.completed_at));
            self.ready.push_back(Completion { submitted_at, completed_at, outcome, ..completion });
        }
    }

    /// Undoes all writes in the cache, then repeats those that survive.
    fn discard_cache(&mut self, lost: &mut Loss) -> Result<(), DeviceError> {
        let logical_block = self.device.capabilities().logical_block;
        let outcomes = self.volatile.cut(self.spec.survivors, logical_block, &mut self.random);
        for outcome in outcomes.iter().rev() {
            self.run_hidden(outcome.undo())?;
        }
        for outcome in &outcomes {
            if let Some(op) = outcome.redo() {
                self.run_hidden(op)?;
            }
            if let Some(range) = outcome.lost().filter(|_| outcome.write.is_acknowledged) {
                lost.count(range);
            }
        }
        Ok(())
    }
}

impl<D: Device> Device for PowerCut<D> {
    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn now(&self) -> Instant {
        self.offset.of(self.device.now())
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        let (kind, range, submitted_at) = (op.kind(), op.range(), self.now());
        self.requests += 1;
        self.transferred += match kind {
            OpKind::Read | OpKind::Write => range.map_or(Bytes::ZERO, |range| range.length),
            _ => Bytes::ZERO,
        };
        if self.is_due() {
            self.cut(None)?;
        }
        self.check_present(&kind.to_string())?;
        let write = self.cached_write(&op)?;
        self.check_present(&kind.to_string())?;
        self.device.submit(tag, op)?;
        self.pending.insert(tag, Pending { kind, range, submitted_at, write });
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        loop {
            if let Some(completion) = self.ready.pop_front() {
                return Ok(Some(completion));
            }
            self.check_present("wait")?;
            let Some(completion) = self.device.wait()? else { return Ok(None) };
            self.complete(completion)?;
        }
    }
}
