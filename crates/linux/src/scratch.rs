//! Memory for requests without a buffer of their own.

use std::ops::{Deref, DerefMut};

use flashscope_device::{Buffer, Bytes, Op, Payload, ReadInto, Success};

use crate::large_memory::LargeMemory;

/// Requests of at least this size use a huge page; at most half of the page stays unused.
const LARGE: Bytes = Bytes::mib(1);

/// Aligned memory for reads and for writes of a pattern. It grows with the largest request.
#[derive(Debug, Default)]
pub struct Scratch {
    memory: Memory,
}

#[derive(Debug)]
enum Memory {
    Ordinary(Buffer),
    Large(LargeMemory),
}

impl Memory {
    fn of(length: Bytes) -> Self {
        let large = Some(length).filter(|length| *length >= LARGE).and_then(LargeMemory::of);
        large.map_or_else(|| Self::Ordinary(Buffer::zeroed(length)), Self::Large)
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::Ordinary(Buffer::default())
    }
}

impl Deref for Memory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Ordinary(buffer) => buffer,
            Self::Large(memory) => memory,
        }
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Ordinary(buffer) => buffer,
            Self::Large(memory) => memory,
        }
    }
}

impl Scratch {
    /// Memory for requests of up to `length`.
    pub fn of(length: Bytes) -> Self {
        Self { memory: Memory::of(length) }
    }

    /// All of it.
    pub fn whole(&mut self) -> &mut [u8] {
        &mut self.memory
    }

    /// Prepares the memory for `op`, so that only the transfer lies between the two time stamps.
    pub fn prepare(&mut self, op: &Op) {
        let Some(range) = op.range().filter(|_| uses_scratch(op)) else { return };
        if range.length.to_usize() > self.memory.len() {
            self.memory = Memory::of(range.length);
        }
        if let Op::Write { payload: Payload::Pattern { pattern, .. }, .. } = op {
            pattern.fill(range.offset.sectors(), &mut self.memory[..range.length.to_usize()]);
        }
    }

    /// The bytes that `op` transfers: its own buffer, or the memory prepared here.
    pub fn payload<'a>(&'a mut self, op: &'a mut Op) -> &'a mut [u8] {
        match op {
            Op::Read { into: ReadInto::Bytes(buffer), .. }
            | Op::Write { payload: Payload::Bytes(buffer), .. } => buffer,
            Op::Read { range, .. } | Op::Write { range, .. } => &mut self.memory[..range.length.to_usize()],
            Op::Flush | Op::Discard { .. } | Op::Pause { .. } => &mut [],
        }
    }

    /// The success of `op`, whose transfer is complete. A checked read is compared with its pattern.
    pub fn verdict(&self, op: &Op) -> Success {
        match op {
            Op::Read { range, into: ReadInto::Check(pattern) } => {
                let read = &self.memory[..range.length.to_usize()];
                Success::of_check(pattern.check(range.offset.sectors(), read))
            }
            _ => Success::Done,
        }
    }
}

/// Whether `op` transfers bytes and brings no buffer for them.
pub const fn uses_scratch(op: &Op) -> bool {
    matches!(
        op,
        Op::Read { into: ReadInto::Timing | ReadInto::Check(_), .. }
            | Op::Write { payload: Payload::Pattern { .. }, .. }
    )
}
