//! Free offsets on a device with an unknown erase block: so far apart that no two lie in the same erase
//! block.

use flashscope_device::{Bytes, Device};

use crate::experiment::erase_blocks::golden_step;

/// The start of the device is left alone: partition table and FAT area.
const START: Bytes = Bytes::mib(64);
/// The device has at least 128 offsets.
const OFFSETS_MIN: u64 = 128;
/// Multiples of the grid that are tried first: so the first offsets are multiples of large erase blocks, too.
const COARSER: [u64; 4] = [8, 4, 2, 1];
/// A device counts as full after this many offsets were tried.
const TRIES_MAX: u64 = 4096;

/// Finds free offsets on a device, and records what was written.
#[derive(Debug)]
pub struct FreeOffsets {
    start: Bytes,
    end: Bytes,
    /// Offsets are multiples of this, 3 x 2^n: most erase blocks begin there, too.
    grid: Bytes,
    /// Start and end of each range written.
    written: Vec<(Bytes, Bytes)>,
}

impl FreeOffsets {
    /// The whole of `device` but its start.
    pub fn new(device: &dyn Device) -> Self {
        let capacity = device.capabilities().capacity;
        let grids = (14..40).map(|shift| Bytes::new(3 << shift));
        let grid = grids.rev().find(|grid| capacity / *grid >= OFFSETS_MIN).unwrap_or(Bytes::kib(48));
        Self { start: START.min(capacity / 8), end: capacity, grid, written: Vec::new() }
    }

    /// The end of the device.
    pub const fn end(&self) -> Bytes {
        self.end
    }

    /// An offset for a few writes into one erase block, far from all others. `None` if none is left. The
    /// first offsets are multiples of coarser grids than the last ones.
    pub fn allocate(&mut self, length: Bytes) -> Option<Bytes> {
        let offset = COARSER.iter().find_map(|times| self.find(length, self.grid * *times))?;
        self.record(offset, offset + length);
        Some(offset)
    }

    /// A multiple of `grid` that is far from all ranges written.
    fn find(&self, length: Bytes, grid: Bytes) -> Option<Bytes> {
        let first = self.start.round_up(grid);
        let room = self.end.saturating_sub(first + length);
        let count = room / grid + u64::from(first + length <= self.end);
        let step = u128::from(golden_step(count));
        let offset = |index: u64| {
            let multiple = u128::from(index) * step % u128::from(count.max(1));
            first + grid * u64::try_from(multiple).unwrap_or(0)
        };
        let is_far = |offset: &Bytes| {
            let (end, apart) = (*offset + length, self.grid / 2);
            self.written.iter().all(|(from, to)| end + apart <= *from || *to + apart <= *offset)
        };
        (0..count.min(TRIES_MAX)).map(offset).find(is_far)
    }

    /// Whether nothing was written within `before` and `after` of an offset, and both are on the device.
    pub fn is_free(&self, offset: Bytes, (before, after): (Bytes, Bytes)) -> bool {
        let end = offset + after;
        let is_inside = offset >= self.start + before && end <= self.end;
        is_inside && self.written.iter().all(|(from, to)| end <= *from || *to <= offset - before)
    }

    /// The distance from an offset to the nearest range written.
    pub fn distance(&self, offset: Bytes) -> Bytes {
        let to = |(from, to): &(Bytes, Bytes)| from.saturating_sub(offset).max(offset.saturating_sub(*to));
        self.written.iter().map(to).min().unwrap_or(self.end)
    }

    /// Records a range as written.
    pub fn record(&mut self, from: Bytes, to: Bytes) {
        self.written.push((from, to));
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::memory::MemoryDevice;

    use super::*;

    #[test]
    fn offsets_are_far_apart_and_aligned() {
        let mut offsets = FreeOffsets::new(&MemoryDevice::new(Bytes::gib(8)));
        let mut taken: Vec<Bytes> = (0..40).map(|_| offsets.allocate(Bytes::kib(64)).unwrap()).collect();
        assert!(taken.iter().all(|offset| offset.is_multiple_of(Bytes::mib(48)) && *offset >= START));
        taken.sort();
        assert!(taken.windows(2).all(|pair| pair[1] - pair[0] >= Bytes::mib(48)));
    }

    #[test]
    fn distance_is_measured_to_the_nearest_write() {
        let mut offsets = FreeOffsets::new(&MemoryDevice::new(Bytes::gib(8)));
        offsets.record(Bytes::mib(100), Bytes::mib(101));
        offsets.record(Bytes::mib(400), Bytes::mib(401));
        assert_eq!(offsets.distance(Bytes::mib(150)), Bytes::mib(49));
        assert_eq!(offsets.distance(Bytes::mib(390)), Bytes::mib(10));
        let around = (Bytes::kib(64), Bytes::kib(64));
        assert!(offsets.is_free(Bytes::mib(150), around) && !offsets.is_free(Bytes::mib(101), around));
        assert!(!offsets.is_free(Bytes::gib(8), around), "past the end");
    }

    #[test]
    fn full_device_has_no_free_offset() {
        let mut offsets = FreeOffsets::new(&MemoryDevice::new(Bytes::mib(8)));
        let taken = std::iter::from_fn(|| offsets.allocate(Bytes::kib(64))).count();
        assert!((20..200).contains(&taken), "{taken}");
    }

    /// A grid of 48 KiB behind the first MiB.
    #[test]
    fn every_free_offset_of_the_grid_is_found_up_to_the_end_of_the_device() {
        let mut offsets = FreeOffsets::new(&MemoryDevice::new(Bytes::mib(8)));
        let mut taken: Vec<Bytes> = std::iter::from_fn(|| offsets.allocate(Bytes::kib(4))).collect();
        taken.sort();
        let grid: Vec<Bytes> = (22..=170).map(|index| Bytes::kib(48) * index).collect();
        assert_eq!(taken, grid);
    }
}
