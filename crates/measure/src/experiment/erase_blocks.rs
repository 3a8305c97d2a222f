//! Allocates erase blocks to the writing experiments: each block once, spread over the device.

use flashscope_device::{Bytes, Device, SECTOR};

use flashscope_infer::open_blocks::first_blocks::FIRST_BLOCKS;

use flashscope_record::finding::{Quantity, WouldDecide};
use flashscope_record::observation::{Refusal, Room};

use crate::session::{Refused, to_write};

/// Allocates erase blocks, each once, from 16 MiB on if the device is large enough: after partition table and
/// FAT area, as flashbench does.
///
/// Any number of them lies about as far apart as that number can: at multiples of the golden section of the
/// device, modulo its length (S. Swierczkowski, Fundamenta Mathematicae 46, 1958). So they are different
/// erase blocks even if the assumed size is too small, and share no superblock.
#[derive(Debug)]
pub struct EraseBlocks {
    erase_block: Bytes,
    first: u64,
    count: u64,
    /// Blocks before the first one that are allocated last; zero unless asked for.
    reserve: u64,
    step: u64,
    taken: u64,
    /// Whether the last block is allocated first.
    is_backward: bool,
}

/// The start of the device is left alone if it is large enough: partition table and FAT area, which some
/// cards map page by page. The experiment *fat-area* tests those blocks.
pub(super) const START: Bytes = Bytes::mib(16);

/// The smallest erase block that the experiments accept: sixteen requests of 4 KiB.
const ERASE_BLOCK_MIN: Bytes = Bytes::kib(64);

/// The size of writes that look for merges: `suitable` if known, at most a sixteenth of the erase block.
pub fn request(erase_block: Bytes, suitable: Option<Bytes>) -> Bytes {
    suitable.unwrap_or(REQUEST).min(erase_block / 16).round_down(SECTOR).max(SECTOR)
}

/// The default size of writes that look for merges: one or two effective pages of most cards.
const REQUEST: Bytes = Bytes::kib(64);

impl EraseBlocks {
    /// The erase blocks of `device` for a writing experiment, or the reason why it cannot begin.
    pub fn to_write(device: &dyn Device, erase_block: Bytes) -> Result<Self, Refused> {
        let capabilities = to_write(device)?;
        if erase_block < ERASE_BLOCK_MIN {
            let reason = Refusal::EraseBlockTooSmall { erase_block, least: ERASE_BLOCK_MIN };
            return Err(Refused::new(reason, [WouldDecide::Larger(Quantity::EraseBlock)]));
        }
        let blocks = Self::new(device, erase_block);
        if blocks.left() < 2 {
            let room = Room::EraseBlocks(erase_block);
            let would_decide =
                [WouldDecide::Larger(Quantity::Device), WouldDecide::Smaller(Quantity::EraseBlock)];
            let reason = Refusal::TooSmall { capacity: capabilities.capacity, room };
            return Err(Refused::new(reason, would_decide));
        }
        Ok(blocks)
    }

    fn new(device: &dyn Device, erase_block: Bytes) -> Self {
        let erase_block = erase_block.max(Bytes::new(1));
        let count = device.capabilities().capacity / erase_block;
        let first = (START.round_up(erase_block) / erase_block).max(u64::from(FIRST_BLOCKS)).min(count / 5);
        let count = count - first;
        Self { erase_block, first, count, reserve: 0, step: golden_step(count), taken: 0, is_backward: false }
    }

    /// The same, last block first: blocks that another experiment has not just written, if the device has
    /// enough.
    pub const fn backward(self) -> Self {
        Self { is_backward: true, ..self }
    }

    /// The same, and in the end all others but an eighth of the device: a small device may keep nearly all of
    /// its blocks open.
    pub const fn with_reserve(self) -> Self {
        let left_out = (self.first + self.count) / 8;
        Self { reserve: self.first.saturating_sub(left_out), ..self }
    }

    /// The same without the first `first` blocks of the device, none of which must be allocated yet.
    pub fn after(self, first: u32) -> Self {
        let (first, end) = (u64::from(first).max(self.first), self.first + self.count);
        let count = end.saturating_sub(first);
        Self { first, count, reserve: 0, step: golden_step(count), ..self }
    }

    /// Allocates all of them once more, for tests that need no fresh blocks.
    pub const fn restart(&mut self) {
        self.taken = 0;
    }

    /// The number of blocks left.
    pub const fn left(&self) -> u64 {
        self.count + self.reserve - self.taken
    }

    /// The offset of a fresh erase block. `None` if none is left.
    pub fn take(&mut self) -> Option<Bytes> {
        if self.left() == 0 {
            return None;
        }
        if self.taken >= self.count {
            self.taken += 1;
            return Some(self.erase_block * (self.first + self.count - self.taken));
        }
        // The one at the start comes last: the FAT area may be larger than what is left out.
        let index = if self.is_backward { self.count - 1 - self.taken } else { self.taken + 1 };
        let block = u128::from(index) * u128::from(self.step) % u128::from(self.count);
        self.taken += 1;
        Some(self.erase_block * (self.first + u64::try_from(block).ok()?))
    }

    /// The offset of the first of `count` adjacent erase blocks. `None` if there are fewer.
    pub fn adjacent(&self, count: u64) -> Option<Bytes> {
        (count <= self.count).then_some(self.erase_block * self.first)
    }
}

/// The number next to the golden section of `count` that shares no factor with it, so that its multiples meet
/// every number.
pub fn golden_step(count: u64) -> u64 {
    let golden = u64::try_from(u128::from(count) * 618_034 / 1_000_000).unwrap_or(1).max(1);
    (golden..=count).find(|step| greatest_common_divisor(*step, count) == 1).unwrap_or(1)
}

const fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use flashscope_device::memory::MemoryDevice;

    use super::*;

    #[test]
    fn blocks_are_allocated_once_and_far_apart() {
        let device = MemoryDevice::new(Bytes::mib(100));
        let mut blocks = EraseBlocks::to_write(&device, Bytes::kib(256)).unwrap();
        let left = blocks.left();
        let taken: Vec<u64> =
            std::iter::from_fn(|| blocks.take()).map(|offset| offset / Bytes::kib(256)).collect();
        assert_eq!(taken.iter().collect::<BTreeSet<_>>().len() as u64, left);
        let apart = |a: usize, b: usize| taken[a].abs_diff(taken[b]);
        assert!((0..8).all(|a| (0..a).all(|b| apart(a, b) > left / 24)), "{:?}", &taken[..8]);
    }

    #[test]
    fn the_block_at_the_start_is_allocated_last() {
        let device = MemoryDevice::new(Bytes::mib(100));
        for is_backward in [false, true] {
            let mut blocks = EraseBlocks::to_write(&device, Bytes::kib(256)).unwrap();
            blocks.is_backward = is_backward;
            let taken: Vec<Bytes> = std::iter::from_fn(|| blocks.take()).collect();
            assert_eq!(taken.iter().min(), taken.last());
            assert!(taken[..2].iter().all(|offset| *offset >= Bytes::mib(30)), "{:?}", &taken[..2]);
        }
    }

    #[test]
    fn an_erase_block_of_64_kib_is_the_smallest_that_is_accepted() {
        let device = MemoryDevice::new(Bytes::mib(100));
        let is_accepted = |erase_block: Bytes| EraseBlocks::to_write(&device, erase_block).is_ok();
        assert!(is_accepted(Bytes::kib(64)) && !is_accepted(Bytes::kib(64) - SECTOR));
    }

    #[test]
    fn reserve_before_the_first_block_is_allocated_last() {
        let of = |mib: u64| {
            let blocks = EraseBlocks::to_write(&MemoryDevice::new(Bytes::mib(mib)), Bytes::mib(1)).unwrap();
            let mut blocks = blocks.with_reserve();
            std::iter::from_fn(|| blocks.take()).map(|offset| offset / Bytes::mib(1)).collect::<Vec<u64>>()
        };
        let small = of(40);
        assert_eq!(
            small[32..],
            [7, 6, 5],
            "8 of 40 lie before the first block, 5 of which are never allocated"
        );
        assert_eq!(small.iter().collect::<BTreeSet<_>>().len(), 35);
        assert_eq!(of(1000).iter().min(), Some(&16), "a larger device needs no reserve");
    }

    #[test]
    fn blocks_after_the_first_nine_are_all_allocated() {
        let device = MemoryDevice::new(Bytes::mib(10));
        let mut blocks = EraseBlocks::to_write(&device, Bytes::kib(512)).unwrap().backward().after(9);
        let taken: BTreeSet<u64> =
            std::iter::from_fn(|| blocks.take()).map(|offset| offset / Bytes::kib(512)).collect();
        assert_eq!(taken, (9..20).collect());
    }
}
