//! Power that goes: the device stays away, or comes back without what its volatile cache held.
//!
//! Until then every request takes the time it takes without this layer. To be able to lose a write, the layer reads what
//! was there before it, and hides the time of that read from its clock; writes are then not in flight together. Without a
//! cache it reads nothing.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use super::clock::Shift;
use super::failing::Chance;
use super::log::{FaultEvent, FaultLog, Loss};
use super::spec::{CutSpec, Trigger};
use super::volatile::{CachedWrite, Volatile};
use crate::buffer::Buffer;
use crate::contract::{Capabilities, Device, DeviceError};
use crate::request::{Completion, FailureCause, Op, OpKind, Payload, ReadInto, RequestError, Tag};
use crate::time::Instant;
use crate::units::{ByteRange, Bytes};

/// A device whose power goes once.
#[derive(Debug)]
pub struct PowerCut<D> {
    device: D,
    spec: CutSpec,
    comes_back: bool,
    log: FaultLog,
    chance: Chance,
    state: State,
    volatile: Volatile,
    shift: Shift,
    requests: u64,
    moved: Bytes,
    pending: HashMap<Tag, Pending>,
    ready: VecDeque<Completion>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Before,
    Gone,
    Back,
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
    /// `device`, whose power goes as `spec` says, and comes back or does not. `log` is told what that cost; `seed`
    /// decides what survives.
    pub fn new(device: D, spec: CutSpec, comes_back: bool, log: FaultLog, seed: u64) -> Self {
        Self {
            device,
            spec,
            comes_back,
            log,
            chance: Chance::new(seed),
            state: State::Before,
            volatile: Volatile::new(spec.cache),
            shift: Shift::default(),
            requests: 0,
            moved: Bytes::ZERO,
            pending: HashMap::new(),
            ready: VecDeque::new(),
        }
    }

    fn is_due(&self) -> bool {
        self.state == State::Before
            && match self.spec.trigger {
                Trigger::Requests(most) => self.requests > most,
                Trigger::Moved(most) => self.moved > most,
                Trigger::At(time) => self.now() >= Instant::ZERO + time,
            }
    }

    /// The instant of the cut, if it is known beforehand.
    fn known_cut(&self) -> Option<Instant> {
        match self.spec.trigger {
            Trigger::At(time) if self.state == State::Before => Some(Instant::ZERO + time),
            _ => None,
        }
    }

    fn check_present(&self, during: &str) -> Result<(), DeviceError> {
        match self.state {
            State::Gone => Err(DeviceError::Gone { during: during.to_owned() }),
            State::Before | State::Back => Ok(()),
        }
    }

    /// Has the device do something of which the host sees neither completion nor time. Nothing may be in flight.
    fn quietly(&mut self, op: Op) -> Result<Option<Completion>, DeviceError> {
        self.device.submit(Tag::default(), op)?;
        let completion = self.device.wait()?;
        self.shift.hide(completion.as_ref().map_or(Duration::ZERO, Completion::latency));
        Ok(completion)
    }

    /// Collects everything that is in flight; the host gets it from `ready`.
    fn drain(&mut self) -> Result<(), DeviceError> {
        while let Some(completion) = self.device.wait()? {
            self.settle(completion)?;
        }
        Ok(())
    }

    /// The part of a write that the cache could lose.
    fn at_risk(&self, op: &Op) -> Option<ByteRange> {
        let capabilities = self.device.capabilities();
        let range = op.range().filter(|_| op.kind() == OpKind::Write && self.state == State::Before)?;
        capabilities.admit(op).ok()?;
        self.volatile.tail(range, capabilities.logical_block)
    }

    /// What a write replaces, if the cache could lose it.
    fn before(&mut self, op: &Op) -> Result<Option<CachedWrite>, DeviceError> {
        let Some(range) = self.at_risk(op) else { return Ok(None) };
        self.drain()?;
        let into = ReadInto::Bytes(Buffer::zeroed(range.length));
        let read = self.quietly(Op::Read { range, into })?;
        let before = read.filter(|read| read.outcome.is_ok()).and_then(|read| read.buffer);
        let payload = match op {
            Op::Write { payload: Payload::Pattern(pattern), .. } => Some(Payload::Pattern(*pattern)),
            Op::Write { payload: Payload::Bytes(buffer), .. } => {
                let skipped = buffer.length().saturating_sub(range.length).to_usize();
                Some(Payload::Bytes(Buffer::from(&buffer[skipped..])))
            }
            _ => None,
        };
        let both = before.zip(payload);
        Ok(both.map(|(before, payload)| CachedWrite { range, before, payload, is_acknowledged: false }))
    }

    /// Takes a completion from below: the host gets it, unless the power went before it came.
    fn settle(&mut self, completion: Completion) -> Result<(), DeviceError> {
        let completed_at = self.shift.of(completion.completed_at);
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

    /// The power goes; `struck` came back from below, but too late.
    fn cut(&mut self, struck: Option<Completion>) -> Result<(), DeviceError> {
        let at = self.known_cut().unwrap_or_else(|| self.now());
        self.state = if self.comes_back { State::Back } else { State::Gone };
        let mut lost = Loss::default();
        let mut next = struck;
        while let Some(completion) = next.take().map_or_else(|| self.device.wait(), |one| Ok(Some(one)))? {
            self.abort(completion, &mut lost);
        }
        self.forget(&mut lost)?;
        self.log.note(FaultEvent { at, is_gone: !self.comes_back, lost });
        Ok(())
    }

    /// A request that was in flight: if the device comes back, it fails.
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
        if self.comes_back {
            let (submitted_at, completed_at) = (pending.submitted_at, self.shift.of(completion.completed_at));
            self.ready.push_back(Completion { submitted_at, completed_at, outcome, ..completion });
        }
    }

    /// Undoes what the cache held, and does again what survives.
    fn forget(&mut self, lost: &mut Loss) -> Result<(), DeviceError> {
        let logical_block = self.device.capabilities().logical_block;
        let fates = self.volatile.cut(self.spec.survivors, logical_block, &mut self.chance);
        for fate in fates.iter().rev() {
            self.quietly(fate.undo())?;
        }
        for fate in &fates {
            if let Some(op) = fate.redo() {
                self.quietly(op)?;
            }
            if let Some(range) = fate.lost().filter(|_| fate.write.is_acknowledged) {
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
        self.shift.of(self.device.now())
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        let (kind, range, submitted_at) = (op.kind(), op.range(), self.now());
        self.requests += 1;
        self.moved += match kind {
            OpKind::Read | OpKind::Write => range.map_or(Bytes::ZERO, |range| range.length),
            _ => Bytes::ZERO,
        };
        if self.is_due() {
            self.cut(None)?;
        }
        self.check_present(&kind.to_string())?;
        let write = self.before(&op)?;
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
            self.settle(completion)?;
        }
    }
}
