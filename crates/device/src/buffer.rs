//! Memory for payloads, aligned for direct I/O.

use std::fmt;
use std::ops::{Deref, DerefMut};

use bytemuck::{Pod, Zeroable};

use crate::units::Bytes;

/// The largest alignment that direct I/O needs on Linux: one page, 4096 bytes.
pub const ALIGNMENT: usize = 4096;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(4096))]
struct Page([u8; ALIGNMENT]);

/// Bytes in memory, aligned to [`ALIGNMENT`]. A request carries the buffer, and its completion returns it.
#[derive(Clone, Default)]
pub struct Buffer {
    pages: Vec<Page>,
    length: usize,
}

impl Buffer {
    /// A buffer of `length` zero bytes.
    #[must_use]
    pub fn zeroed(length: Bytes) -> Self {
        let length = length.to_usize();
        Self { pages: vec![Page::zeroed(); length.div_ceil(ALIGNMENT)], length }
    }

    /// Its length in bytes.
    #[must_use]
    pub fn length(&self) -> Bytes {
        Bytes::new(self.length as u64)
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.pages)[..self.length]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.pages)[..self.length]
    }
}

impl From<&[u8]> for Buffer {
    fn from(bytes: &[u8]) -> Self {
        let mut buffer = Self::zeroed(Bytes::new(bytes.len() as u64));
        buffer.copy_from_slice(bytes);
        buffer
    }
}

impl PartialEq for Buffer {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl Eq for Buffer {}

impl fmt::Debug for Buffer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Buffer({})", self.length())
    }
}
