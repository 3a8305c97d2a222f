//! Where to write on a device whose erase block is not known: places so far from each other that no two share one.

use flashscope_device::{Bytes, Device};

use super::units::golden_step;
use crate::sizes::odd_factor;

/// Left alone at the start of the device: the partition table, and what some cards map finely for the FAT.
const START: Bytes = Bytes::mib(64);
/// The device has so many single places at least.
const ALONE: u64 = 128;
/// One place in so many begins a stretch instead.
const STRETCHES: u64 = 4;
/// So many places are looked at before a device counts as full.
const TRIES_MAX: u64 = 4096;

/// Hands out stretches of a device, each once.
#[derive(Debug)]
pub struct Places {
    start: Bytes,
    end: Bytes,
    /// Single places and stretches begin at multiples of these, 3 x 2^n: most erase blocks begin there too.
    alone: Bytes,
    stretches: Bytes,
    taken: Vec<(Bytes, Bytes)>,
}

impl Places {
    /// All of `device` but its start.
    pub fn new(device: &dyn Device) -> Self {
        let capacity = device.capabilities().capacity;
        let grids = (14..40).map(|shift| Bytes::new(3 << shift));
        let alone = grids.rev().find(|grid| capacity / *grid >= ALONE).unwrap_or(Bytes::kib(48));
        Self {
            start: START.min(capacity / 8),
            end: capacity,
            alone,
            stretches: alone * STRETCHES,
            taken: Vec::new(),
        }
    }

    /// A place for a few writes into one erase block.
    pub fn take_alone(&mut self, length: Bytes) -> Option<Bytes> {
        let stretches = self.stretches;
        self.take(length, self.alone, |offset| !offset.is_multiple_of(stretches))
    }

    /// A place for a stretch of writes that begins with an erase block, if that has no odd factor that the length has not; and
    /// with one of 3 x 2^n behind a length of 2^n.
    pub fn take_stretch(&mut self, length: Bytes) -> Option<Bytes> {
        let odd = odd_factor(length);
        let multiple = if odd <= 3 { self.stretches } else { self.stretches / 3 * odd };
        self.take(length, multiple.round_up(length), |_| true)
    }

    /// A stretch of `length` that begins at a multiple of `multiple`, far from all others; `None` if there is none left.
    fn take(&mut self, length: Bytes, multiple: Bytes, is_usable: impl Fn(Bytes) -> bool) -> Option<Bytes> {
        let first = self.start.round_up(multiple);
        let room = self.end.saturating_sub(first + length);
        let count = room / multiple + u64::from(first + length <= self.end);
        let step = u128::from(golden_step(count));
        let place = |index: u64| {
            let place = u128::from(index) * step % u128::from(count.max(1));
            first + multiple * u64::try_from(place).unwrap_or(0)
        };
        let is_fit = |offset: &Bytes| is_usable(*offset) && self.is_far(*offset, length);
        let offset = (0..count.min(TRIES_MAX)).map(place).find(is_fit)?;
        self.taken.push((offset, offset + length));
        Some(offset)
    }

    fn is_far(&self, offset: Bytes, length: Bytes) -> bool {
        let (end, apart) = (offset + length, self.alone / 2);
        self.taken.iter().all(|(from, to)| end + apart <= *from || *to + apart <= offset)
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::memory::MemoryDevice;

    use super::*;

    #[test]
    fn places_share_no_stretch_and_begin_where_they_should() {
        let mut places = Places::new(&MemoryDevice::new(Bytes::gib(8)));
        let mut taken = Vec::new();
        for index in 0..10 {
            let length = Bytes::mib(1 + index % 5);
            let offset = places.take_stretch(length).unwrap();
            assert!(offset.is_multiple_of(length));
            let alone = places.take_alone(Bytes::kib(64)).unwrap();
            assert!(alone.is_multiple_of(Bytes::mib(48)), "{alone}");
            taken.extend([(offset, offset + length), (alone, alone + Bytes::kib(64))]);
        }
        taken.sort();
        assert!(taken.windows(2).all(|pair| pair[1].0 - pair[0].1 >= Bytes::mib(16)));
    }

    #[test]
    fn a_device_that_is_full_says_so() {
        let mut places = Places::new(&MemoryDevice::new(Bytes::mib(8)));
        assert_eq!(places.take_stretch(Bytes::mib(16)), None);
        let taken = std::iter::from_fn(|| places.take_alone(Bytes::kib(64))).count();
        assert!((20..200).contains(&taken), "{taken}");
    }
}
