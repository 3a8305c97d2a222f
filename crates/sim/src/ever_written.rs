//! Which erase blocks hold anything at all: never-written ones may read at another speed.

use flashscope_device::Bytes;

use crate::profile::Profile;

/// Which erase blocks were ever written: one bit each.
#[derive(Debug, Clone)]
pub(crate) struct EverWritten {
    block_bytes: u64,
    bits: Vec<u64>,
}

impl EverWritten {
    pub(crate) fn new(profile: &Profile) -> Self {
        let block_bytes = profile.ftl.erase_block.get();
        let blocks = Bytes::new(profile.capacity.get().div_ceil(block_bytes)).to_usize();
        Self { block_bytes, bits: vec![0; blocks.div_ceil(64)] }
    }

    pub(crate) fn contains(&self, offset: u64) -> bool {
        let block = Bytes::new(offset / self.block_bytes).to_usize();
        self.bits[block / 64] >> (block % 64) & 1 == 1
    }

    pub(crate) fn insert(&mut self, start: u64, end: u64) {
        let block = |offset| Bytes::new(offset / self.block_bytes).to_usize();
        for block in block(start)..=block(end - 1) {
            self.bits[block / 64] |= 1 << (block % 64);
        }
    }
}
