//! Where to write on a device whose erase block is not known: places so far from each other that no two share one.

use flashscope_device::{Bytes, Device};

use crate::experiment::units::golden_step;

/// Left alone at the start of the device: the partition table, and what some cards map finely for the FAT.
const START: Bytes = Bytes::mib(64);
/// The device has so many places at least.
const PLACES: u64 = 128;
/// So many times the multiple at which places begin, while there are such: so the first begin with large erase blocks too.
const COARSER: [u64; 4] = [8, 4, 2, 1];
/// So many places are looked at before a device counts as full.
const TRIES_MAX: u64 = 4096;

/// Hands out stretches of a device, each once.
#[derive(Debug)]
pub struct Places {
    start: Bytes,
    end: Bytes,
    /// Places begin at multiples of this, 3 x 2^n: most erase blocks begin there too.
    grid: Bytes,
    taken: Vec<(Bytes, Bytes)>,
}

impl Places {
    /// All of `device` but its start.
    pub fn new(device: &dyn Device) -> Self {
        let capacity = device.capabilities().capacity;
        let grids = (14..40).map(|shift| Bytes::new(3 << shift));
        let grid = grids.rev().find(|grid| capacity / *grid >= PLACES).unwrap_or(Bytes::kib(48));
        Self { start: START.min(capacity / 8), end: capacity, grid, taken: Vec::new() }
    }

    /// Where the device ends.
    pub const fn end(&self) -> Bytes {
        self.end
    }

    /// A place for a few writes into one erase block, far from all others; `None` if there is none left. The first lie at
    /// multiples of more than the last.
    pub fn take_alone(&mut self, length: Bytes) -> Option<Bytes> {
        let offset = COARSER.iter().find_map(|times| self.find(length, self.grid * *times))?;
        self.give(offset, offset + length);
        Some(offset)
    }

    /// A multiple of `grid` that is far from all that was taken.
    fn find(&self, length: Bytes, grid: Bytes) -> Option<Bytes> {
        let first = self.start.round_up(grid);
        let room = self.end.saturating_sub(first + length);
        let count = room / grid + u64::from(first + length <= self.end);
        let step = u128::from(golden_step(count));
        let place = |index: u64| {
            let place = u128::from(index) * step % u128::from(count.max(1));
            first + grid * u64::try_from(place).unwrap_or(0)
        };
        let is_far = |offset: &Bytes| {
            let (end, apart) = (*offset + length, self.grid / 2);
            self.taken.iter().all(|(from, to)| end + apart <= *from || *to + apart <= *offset)
        };
        (0..count.min(TRIES_MAX)).map(place).find(is_far)
    }

    /// Whether nothing was written so far before and behind an offset, and all of that is on the device.
    pub fn is_free(&self, offset: Bytes, (before, behind): (Bytes, Bytes)) -> bool {
        let end = offset + behind;
        let is_inside = offset >= self.start + before && end <= self.end;
        is_inside && self.taken.iter().all(|(from, to)| end <= *from || *to <= offset - before)
    }

    /// How far what was written lies from an offset.
    pub fn distance(&self, offset: Bytes) -> Bytes {
        let to = |(from, to): &(Bytes, Bytes)| from.saturating_sub(offset).max(offset.saturating_sub(*to));
        self.taken.iter().map(to).min().unwrap_or(self.end)
    }

    /// Notes a stretch as written.
    pub fn give(&mut self, from: Bytes, to: Bytes) {
        self.taken.push((from, to));
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::memory::MemoryDevice;

    use super::*;

    #[test]
    fn places_lie_apart_and_begin_where_they_should() {
        let mut places = Places::new(&MemoryDevice::new(Bytes::gib(8)));
        let mut taken: Vec<Bytes> = (0..40).map(|_| places.take_alone(Bytes::kib(64)).unwrap()).collect();
        assert!(taken.iter().all(|offset| offset.is_multiple_of(Bytes::mib(48)) && *offset >= START));
        taken.sort();
        assert!(taken.windows(2).all(|pair| pair[1] - pair[0] >= Bytes::mib(48)));
    }

    #[test]
    fn an_offset_is_as_far_as_the_nearest_write() {
        let mut places = Places::new(&MemoryDevice::new(Bytes::gib(8)));
        places.give(Bytes::mib(100), Bytes::mib(101));
        places.give(Bytes::mib(400), Bytes::mib(401));
        assert_eq!(places.distance(Bytes::mib(150)), Bytes::mib(49));
        assert_eq!(places.distance(Bytes::mib(390)), Bytes::mib(10));
        let around = (Bytes::kib(64), Bytes::kib(64));
        assert!(places.is_free(Bytes::mib(150), around) && !places.is_free(Bytes::mib(101), around));
        assert!(!places.is_free(Bytes::gib(8), around), "beyond the end");
    }

    #[test]
    fn a_device_that_is_full_says_so() {
        let mut places = Places::new(&MemoryDevice::new(Bytes::mib(8)));
        let taken = std::iter::from_fn(|| places.take_alone(Bytes::kib(64))).count();
        assert!((20..200).contains(&taken), "{taken}");
    }
}
