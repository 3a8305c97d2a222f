//! Writes that are acknowledged but still in memory that forgets, with what was there before them.

use std::collections::VecDeque;

use super::failing::Chance;
use super::spec::Survivors;
use crate::buffer::Buffer;
use crate::request::{Op, Payload};
use crate::units::{ByteRange, Bytes};

/// One write that a power cut can undo.
#[derive(Debug, Clone)]
pub struct CachedWrite {
    /// Where.
    pub range: ByteRange,
    /// What was there before.
    pub before: Buffer,
    /// What was written.
    pub payload: Payload,
    /// Whether the host was told that it succeeded.
    pub is_acknowledged: bool,
}

/// What a power cut does to one write.
#[derive(Debug, Clone)]
pub struct Fate {
    /// The write.
    pub write: CachedWrite,
    /// How much of it is on the flash afterwards, from its start.
    pub kept: Bytes,
}

/// A volatile write cache: the youngest writes, up to its size.
#[derive(Debug)]
pub struct Volatile {
    size: Bytes,
    held: Bytes,
    writes: VecDeque<CachedWrite>,
}

impl Volatile {
    pub const fn new(size: Bytes) -> Self {
        Self { size, held: Bytes::ZERO, writes: VecDeque::new() }
    }

    /// The part of a write that the cache can hold: its end, in whole blocks. The rest goes to the flash at once.
    pub fn tail(&self, range: ByteRange, logical_block: Bytes) -> Option<ByteRange> {
        let length = range.length.min(self.size).round_down(logical_block);
        let kept = ByteRange::new(range.end().saturating_sub(length), length);
        (!length.is_zero()).then_some(kept)
    }

    /// Takes a write; the oldest ones go to the flash to make room.
    pub fn push(&mut self, write: CachedWrite) {
        self.held += write.range.length;
        self.writes.push_back(write);
        while self.held > self.size
            && let Some(oldest) = self.writes.pop_front()
        {
            self.held = self.held.saturating_sub(oldest.range.length);
        }
    }

    /// Everything is on the flash.
    pub fn flush(&mut self) {
        self.held = Bytes::ZERO;
        self.writes.clear();
    }

    /// Empties the cache as a power cut does, oldest write first.
    pub fn cut(&mut self, survivors: Survivors, logical_block: Bytes, chance: &mut Chance) -> Vec<Fate> {
        self.held = Bytes::ZERO;
        let kept = |range: ByteRange, chance: &mut Chance| match (survivors, chance.below(3)) {
            (Survivors::None, _) | (Survivors::Some, 0) => Bytes::ZERO,
            (Survivors::Some, 1) => range.length,
            (Survivors::Some, _) => logical_block * chance.below(range.length / logical_block),
        };
        self.writes.drain(..).map(|write| Fate { kept: kept(write.range, chance), write }).collect()
    }
}

impl Fate {
    /// What is lost of the write.
    pub fn lost(&self) -> Option<ByteRange> {
        let range = self.write.range;
        let lost = ByteRange::new(range.offset + self.kept, range.length.saturating_sub(self.kept));
        (!lost.length.is_zero()).then_some(lost)
    }

    /// The request that puts back what was there before.
    pub fn undo(&self) -> Op {
        Op::Write { range: self.write.range, payload: Payload::Bytes(self.write.before.clone()) }
    }

    /// The request that writes what is kept.
    pub fn redo(&self) -> Option<Op> {
        let range = ByteRange::new(self.write.range.offset, self.kept);
        let payload = match &self.write.payload {
            Payload::Pattern(pattern) => Payload::Pattern(*pattern),
            Payload::Bytes(buffer) => Payload::Bytes(Buffer::from(&buffer[..self.kept.to_usize()])),
        };
        (!range.length.is_zero()).then_some(Op::Write { range, payload })
    }
}
