//! A drive that claims more than it holds: addresses that start over, writes that are dropped, and a cache that hides it.
//!
//! What is dropped takes the time of a read of the same length: the data crosses the link, nothing is programmed. Pattern
//! data goes to the device below as a reference; where the device would then hold another address's blocks, the layer
//! remembers whose they are, so that a check sees what a real counterfeit would show.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use super::drive::{Drive, Piece, bytes_of, capabilities, stand_in};
use super::error::FaultError;
use super::extents::{Data, Extents, Held, index};
use super::gather::Gather;
use super::spec::CounterfeitSpec;
use crate::buffer::Buffer;
use crate::contract::{Capabilities, Device, DeviceError};
use crate::layer::refusals::Refusals;
use crate::pattern::BLOCK;
use crate::request::{Completion, Op, Payload, ReadInto, Success, Tag};
use crate::time::Instant;
use crate::units::ByteRange;

/// A device that is not what it claims.
#[derive(Debug)]
pub struct Counterfeit<D> {
    device: D,
    drive: Drive,
    capabilities: Capabilities,
    /// Pattern data in the flash that was written to another address than the flash's own.
    strangers: Extents,
    cache: Extents,
    wholes: HashMap<u64, Gather>,
    parts: HashMap<Tag, Part>,
    waiting: VecDeque<(Tag, Op)>,
    next_tag: u64,
    refusals: Refusals,
}

/// A part of a request under way.
#[derive(Debug)]
struct Part {
    whole: u64,
    brings: Brings,
}

/// What a part brings home.
#[derive(Debug)]
enum Brings {
    /// Nothing but time.
    Nothing,
    /// The device's own verdict on a check.
    Verdict(Piece),
    /// Bytes: from the flash or, if the piece is dropped, made up; then what the layer knows better.
    Bytes(Piece, Vec<(Range<u64>, Held)>),
}

impl<D: Device> Counterfeit<D> {
    /// `device`, claiming and holding what `spec` says; `seed` makes the garbage.
    ///
    /// # Errors
    /// [`FaultError::Misfit`] if the device is too small for it or its blocks are too large.
    pub fn new(device: D, spec: &CounterfeitSpec, seed: u64) -> Result<Self, FaultError> {
        Ok(Self {
            capabilities: capabilities(spec, device.capabilities())?,
            drive: Drive::new(spec, seed),
            device,
            strangers: Extents::default(),
            cache: Extents::default(),
            wholes: HashMap::new(),
            parts: HashMap::new(),
            waiting: VecDeque::new(),
            next_tag: 0,
            refusals: Refusals::default(),
        })
    }

    /// What is asked of the device below for one piece of a request, and what it brings.
    fn part(&mut self, op: &Op, piece: Piece) -> (Op, Brings) {
        match op {
            Op::Read { into, .. } => self.read(into, piece),
            Op::Write { range, payload } => (self.write(*range, payload, &piece), Brings::Nothing),
            _ => (self.discard(&piece), Brings::Nothing),
        }
    }

    fn read(&self, into: &ReadInto, piece: Piece) -> (Op, Brings) {
        let Some(flash) = piece.flash_sectors() else {
            let op = self.stand_in(&piece);
            let wants_bytes = !matches!(into, ReadInto::Timing);
            let cached = self.drive.cached(&self.cache, &piece.claimed);
            return (op, if wants_bytes { Brings::Bytes(piece, cached) } else { Brings::Nothing });
        };
        let range = bytes_of(&flash);
        let is_at_home = flash == piece.claimed && !self.strangers.touches(flash.clone());
        match into {
            ReadInto::Timing => (Op::read(range), Brings::Nothing),
            ReadInto::Check(_) if is_at_home => {
                (Op::Read { range, into: into.clone() }, Brings::Verdict(piece))
            }
            ReadInto::Check(_) | ReadInto::Bytes(_) => {
                let start = piece.claimed.start;
                let known = self.strangers.within(flash.clone()).map(|(at, held)| {
                    let from = start + (at.start - flash.start);
                    (from..from + (at.end - at.start), held)
                });
                let known = known.collect();
                (
                    Op::Read { range, into: ReadInto::Bytes(Buffer::zeroed(range.length)) },
                    Brings::Bytes(piece, known),
                )
            }
        }
    }

    fn write(&mut self, whole: ByteRange, payload: &Payload, piece: &Piece) -> Op {
        let part = piece.range();
        let skipped = part.offset.saturating_sub(whole.offset).to_usize();
        let bytes = |buffer: &Buffer| Buffer::from(&buffer[skipped..skipped + part.length.to_usize()]);
        let Some(flash) = piece.flash_sectors() else {
            let data = match payload {
                Payload::Pattern(pattern) => Data::Pattern(*pattern),
                Payload::Bytes(buffer) => Data::Bytes(Arc::from(&bytes(buffer)[..]), 0),
            };
            self.keep_in_cache(piece, &data);
            return self.stand_in(piece);
        };
        let range = bytes_of(&flash);
        match payload {
            Payload::Pattern(pattern) if flash != piece.claimed => {
                let held = Held { home: piece.claimed.start, data: Data::Pattern(*pattern) };
                self.strangers.insert(flash, held);
                Op::write(range, *pattern)
            }
            Payload::Pattern(pattern) => {
                self.strangers.remove(flash);
                Op::write(range, *pattern)
            }
            Payload::Bytes(buffer) => {
                self.strangers.remove(flash);
                Op::Write { range, payload: Payload::Bytes(bytes(buffer)) }
            }
        }
    }

    fn keep_in_cache(&mut self, piece: &Piece, data: &Data) {
        for (places, address) in self.drive.cache_places(&piece.claimed) {
            let whole = Held { home: piece.claimed.start, data: data.clone() };
            self.cache.insert(places, whole.skip(address - piece.claimed.start));
        }
    }

    fn discard(&mut self, piece: &Piece) -> Op {
        let Some(flash) = piece.flash_sectors() else {
            for (places, _) in self.drive.cache_places(&piece.claimed) {
                self.cache.remove(places);
            }
            return self.stand_in(piece);
        };
        let range = bytes_of(&flash);
        self.strangers.remove(flash);
        Op::Discard { range }
    }

    fn stand_in(&self, piece: &Piece) -> Op {
        Op::read(stand_in(piece.range(), &self.device.capabilities()))
    }

    fn enqueue(&mut self, whole: u64, op: Op, brings: Brings) {
        let tag = Tag(self.next_tag);
        self.next_tag += 1;
        self.parts.insert(tag, Part { whole, brings });
        self.waiting.push_back((tag, op));
    }

    /// Hands as many parts to the device as it takes.
    fn pump(&mut self) -> Result<(), DeviceError> {
        let room = self.device.capabilities().queue_depth as usize;
        while self.parts.len() - self.waiting.len() < room
            && let Some((tag, op)) = self.waiting.pop_front()
        {
            self.device.submit(tag, op)?;
        }
        Ok(())
    }

    /// Takes a part home; the request's completion, if it was the last.
    fn settle(&mut self, completion: Completion) -> Option<Completion> {
        let part = self.parts.remove(&completion.tag)?;
        let whole = self.wholes.get_mut(&part.whole)?;
        match (completion.outcome, part.brings) {
            (Err(error), _) => whole.fail(error.cause),
            (Ok(_), Brings::Nothing) => {}
            (Ok(Success::Wrong(report)), Brings::Verdict(_)) => whole.judge(&report),
            (Ok(_), Brings::Verdict(piece)) => whole.all_right(piece.claimed.end - piece.claimed.start),
            (Ok(_), Brings::Bytes(piece, known)) => {
                let range = piece.range();
                let mut bytes = completion.buffer.unwrap_or_else(|| Buffer::zeroed(range.length));
                if piece.flash.is_none() {
                    self.drive.fill(&piece.claimed, &mut bytes);
                }
                for (at, held) in known {
                    let [from, to] = [at.start, at.end].map(|at| index(at - piece.claimed.start) * BLOCK);
                    held.fill(&mut bytes[from..to]);
                }
                whole.take(range, &bytes);
            }
        }
        if !whole.count_part() {
            return None;
        }
        self.wholes.remove(&part.whole).map(|whole| whole.complete(completion.completed_at))
    }
}

impl<D: Device> Device for Counterfeit<D> {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn now(&self) -> Instant {
        self.device.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        let queue_depth = self.capabilities.queue_depth;
        if self.wholes.len() >= queue_depth as usize {
            return Err(DeviceError::QueueFull { queue_depth });
        }
        if let Err(error) = self.capabilities.admit(&op) {
            self.refusals.refuse(&self.device, tag, op, error.cause);
            return Ok(());
        }
        let whole = self.next_tag;
        let parts = match op.range() {
            None => vec![(op.clone(), Brings::Nothing)],
            Some(range) => self.drive.pieces(range).into_iter().map(|piece| self.part(&op, piece)).collect(),
        };
        self.wholes.insert(whole, Gather::new(tag, op, self.device.now(), parts.len()));
        for (op, brings) in parts {
            self.enqueue(whole, op, brings);
        }
        self.pump()
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        if let Some(refusal) = self.refusals.next() {
            return Ok(Some(refusal));
        }
        loop {
            self.pump()?;
            let Some(completion) = self.device.wait()? else { return Ok(None) };
            if let Some(completion) = self.settle(completion) {
                return Ok(Some(completion));
            }
        }
    }
}
