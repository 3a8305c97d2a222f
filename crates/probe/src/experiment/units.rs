//! Which erase blocks the writing experiments use: fresh ones for every question, spread over the device.

use flashscope_device::{Bytes, Device};

/// Hands out erase blocks, each once, from 16 MiB on (behind partition table and FAT area, as flashbench does) where
/// the device is large enough for that.
#[derive(Debug)]
pub struct Units {
    erase_block: Bytes,
    next: u64,
    end: u64,
    stride: u64,
}

/// Left alone at the start of the device: the partition table and the area that some cards map finely for the FAT.
const START: Bytes = Bytes::mib(16);

impl Units {
    /// The units of `device`, of which about `wanted` will be taken.
    pub fn new(device: &dyn Device, erase_block: Bytes, wanted: u64) -> Self {
        let count = if erase_block.is_zero() { 0 } else { device.capabilities().capacity / erase_block };
        let start =
            (START.round_up(erase_block.max(Bytes::new(1))) / erase_block.max(Bytes::new(1))).min(count / 8);
        // Neighbours may share a superblock; an odd stride also visits all residues modulo the number of planes.
        let stride = ((count - start) / wanted.max(1)).clamp(1, 13) | 1;
        let stride = if (count - start) / stride >= wanted { stride } else { 1 };
        Self { erase_block, next: start, end: count, stride }
    }

    /// Their size.
    pub const fn erase_block(&self) -> Bytes {
        self.erase_block
    }

    /// How many are left.
    pub const fn left(&self) -> u64 {
        self.end.saturating_sub(self.next).div_ceil(self.stride)
    }

    /// The offsets of `count` fresh erase blocks; `None` if fewer are left.
    pub fn take(&mut self, count: u32) -> Option<Vec<Bytes>> {
        if u64::from(count) > self.left() {
            return None;
        }
        let first = self.next;
        self.next += u64::from(count) * self.stride;
        Some((0..u64::from(count)).map(|index| self.erase_block * (first + index * self.stride)).collect())
    }

    /// The offset of the first of `count` adjacent fresh erase blocks; `None` if fewer are left.
    pub fn take_adjacent(&mut self, count: u64) -> Option<Bytes> {
        let first = self.next;
        if first + count > self.end {
            return None;
        }
        self.next += count.next_multiple_of(self.stride);
        Some(self.erase_block * first)
    }
}
