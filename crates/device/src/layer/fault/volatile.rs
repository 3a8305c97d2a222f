//! A volatile write cache: acknowledged writes that a power cut may lose, with the data that they replace.

use std::collections::VecDeque;

use super::failing::RandomSource;
use super::spec::Survivors;
use crate::buffer::Buffer;
use crate::request::{Op, Payload};
use crate::units::{ByteRange, Bytes};

/// One cached write.
#[derive(Debug, Clone)]
pub struct CachedWrite {
    /// Its range.
    pub range: ByteRange,
    /// The data that it replaces.
    pub before: Buffer,
    /// The written data.
    pub payload: Payload,
    /// Whether the host received its completion.
    pub is_acknowledged: bool,
}

/// The effect of a power cut on one write.
#[derive(Debug, Clone)]
pub struct CutOutcome {
    /// The write.
    pub write: CachedWrite,
    /// The bytes from its start that are in the flash afterwards.
    pub kept: Bytes,
}

/// The newest writes, up to the size of the cache.
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

    /// The part of a write that fits into the cache: its end, in whole blocks. The rest is programmed at
    /// once.
    pub fn tail(&self, range: ByteRange, logical_block: Bytes) -> Option<ByteRange> {
        let length = range.length.min(self.size).round_down(logical_block);
        let kept = ByteRange::new(range.end().saturating_sub(length), length);
        (!length.is_zero()).then_some(kept)
    }

    /// Adds a write. The oldest writes leave the cache and are durable.
    pub fn push(&mut self, write: CachedWrite) {
        self.held += write.range.length;
        self.writes.push_back(write);
        while self.held > self.size
            && let Some(oldest) = self.writes.pop_front()
        {
            self.held = self.held.saturating_sub(oldest.range.length);
        }
    }

    /// Makes all writes durable.
    pub fn flush(&mut self) {
        self.held = Bytes::ZERO;
        self.writes.clear();
    }

    /// Empties the cache as a power cut does, and returns the effect on each write, oldest first.
    pub fn cut(
        &mut self,
        survivors: Survivors,
        logical_block: Bytes,
        random: &mut RandomSource,
    ) -> Vec<CutOutcome> {
        self.held = Bytes::ZERO;
        let kept = |range: ByteRange, random: &mut RandomSource| match (survivors, random.below(3)) {
            (Survivors::None, _) | (Survivors::Some, 0) => Bytes::ZERO,
            (Survivors::Some, 1) => range.length,
            (Survivors::Some, _) => logical_block * random.below(range.length / logical_block),
        };
        self.writes.drain(..).map(|write| CutOutcome { kept: kept(write.range, random), write }).collect()
    }
}

impl CutOutcome {
    /// The lost part of the write; `None` if all of it survives.
    pub fn lost(&self) -> Option<ByteRange> {
        let range = self.write.range;
        let lost = ByteRange::new(range.offset + self.kept, range.length.saturating_sub(self.kept));
        (!lost.length.is_zero()).then_some(lost)
    }

    /// The request that restores the old data.
    pub fn undo(&self) -> Op {
        Op::Write { range: self.write.range, payload: Payload::Bytes(self.write.before.clone()) }
    }

    /// The request that writes the surviving part; `None` if nothing survives.
    pub fn redo(&self) -> Option<Op> {
        let range = ByteRange::new(self.write.range.offset, self.kept);
        let payload = match &self.write.payload {
            Payload::Pattern { pattern, sample } => Payload::Pattern { pattern: *pattern, sample: *sample },
            Payload::Bytes(buffer) => Payload::Bytes(Buffer::from(&buffer[..self.kept.to_usize()])),
        };
        (!range.length.is_zero()).then_some(Op::Write { range, payload })
    }
}
