//! The tests of the SD Association's classes: rows of *speed* over the ranges that the classes use.

use std::time::Duration;

use flashscope_device::layer::{Budget, Window};
use flashscope_device::{ByteRange, Bytes, Device, DeviceExt};
use flashscope_infer::classes::{RANDOM_RANGE, RANDOM_REQUEST};
use flashscope_record::observation::{Direction, LinkLimit, Observations, Order, SpeedCase};

use crate::contract::{Experiment, Extent, Observer};
use crate::experiment::Speed;
use crate::limits::{LARGE_REQUEST, SPEED_START};

/// A multiple of every allocation unit of the standard, 16 KiB to 64 MiB, 12 and 24 MiB among them (table
/// 4-46): the tests begin there if the unit is not known.
const UNITS_MULTIPLE: Bytes = Bytes::mib(192);
/// The rest between sequential and random writes. Guess: a controller that still folds an exhausted SLC cache
/// is slow at random writes, which is not what the class is about.
const REST: Duration = Duration::from_secs(60);

/// The tests of all classes.
#[derive(Debug, Clone)]
pub struct ClassTests {
    /// Whether the write tests run too.
    pub writes: bool,
    /// The card's allocation unit, if it reports one: sequential writes start with a whole one.
    pub allocation_unit: Option<Bytes>,
    /// The limit of the link to the device, for the inference.
    pub link: Option<LinkLimit>,
    /// Whether requests go through the page cache, for the inference.
    pub is_buffered: bool,
    /// The random seed.
    pub seed: u64,
}

/// The most that the tests cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassCost {
    /// Bytes written.
    pub bytes_written: Bytes,
    /// The time of a slow device.
    pub time: Duration,
}

impl ClassTests {
    /// Runs the tests, the sequential writes first: they fill the range of the random requests with data, and
    /// the random writes leave it full of scattered data. The sequential writes leave the random ones their
    /// part of `bytes_written_max`.
    pub fn measure(
        &self,
        device: &mut dyn Device,
        bytes_written_max: Option<Bytes>,
        observer: &mut dyn Observer,
    ) -> Vec<Observations> {
        let capacity = device.capabilities().capacity;
        let ranges = [self.sequential_range(capacity), self.random_range(capacity)];
        let random_bytes = self.random(Direction::Write).bytes_written_max(ranges[1].length);
        let sequential = Budget {
            bytes_written: bytes_written_max.map(|most| most.saturating_sub(random_bytes)),
            ..Budget::UNLIMITED
        };
        let mut seen = Vec::new();
        for (direction, budget) in [(Direction::Write, &sequential), (Direction::Read, &Budget::UNLIMITED)] {
            if self.runs(direction) {
                let window = &mut Window::new(&mut *device, ranges[0]);
                seen.push(self.sequential(direction).measure(window, budget, observer));
            }
        }
        if self.writes {
            // A device that fails fails the tests below as well.
            // In parts, so that an interrupt ends it.
            let _rested = (0..REST.as_secs()).try_for_each(|_| device.pause(Duration::from_secs(1)));
        }
        for direction in [Direction::Read, Direction::Write] {
            if self.runs(direction) {
                let window = &mut Window::new(&mut *device, ranges[1]);
                seen.push(self.random(direction).measure(window, &Budget::UNLIMITED, observer));
            }
        }
        seen
    }

    /// The most that they cost on a device of this capacity.
    #[must_use]
    pub fn cost(&self, capacity: Bytes) -> ClassCost {
        let ranges = [self.sequential_range(capacity), self.random_range(capacity)].map(|range| range.length);
        let rest = if self.writes { REST } else { Duration::ZERO };
        let mut cost = ClassCost { bytes_written: Bytes::ZERO, time: rest };
        for direction in [Direction::Read, Direction::Write] {
            for (test, range) in [self.sequential(direction), self.random(direction)].iter().zip(ranges) {
                if self.runs(direction) {
                    cost.bytes_written += test.bytes_written_max(range);
                    cost.time += test.time_max();
                }
            }
        }
        cost
    }

    fn runs(&self, direction: Direction) -> bool {
        self.writes || direction == Direction::Read
    }

    /// The part that is written sequentially: behind the start that *speed* leaves alone, its first byte is
    /// that of an allocation unit.
    fn sequential_range(&self, capacity: Bytes) -> ByteRange {
        let unit = self.allocation_unit.filter(|unit| !unit.is_zero()).unwrap_or(UNITS_MULTIPLE);
        let offset = SPEED_START.round_up(unit).saturating_sub(SPEED_START);
        let offset = if offset < capacity / 2 { offset } else { Bytes::ZERO };
        ByteRange::new(offset, capacity.saturating_sub(offset))
    }

    /// The first [`RANDOM_RANGE`] of the same part.
    fn random_range(&self, capacity: Bytes) -> ByteRange {
        let whole = self.sequential_range(capacity);
        ByteRange::new(whole.offset, (SPEED_START + RANDOM_RANGE).min(whole.length))
    }

    fn sequential(&self, direction: Direction) -> Speed {
        self.speed(SpeedCase { direction, order: Order::Linear, request: LARGE_REQUEST, queue_depth: 1 })
    }

    fn random(&self, direction: Direction) -> Speed {
        self.speed(SpeedCase { direction, order: Order::Random, request: RANDOM_REQUEST, queue_depth: 1 })
    }

    fn speed(&self, case: SpeedCase) -> Speed {
        Speed {
            cases: vec![case],
            link: self.link.clone(),
            is_buffered: self.is_buffered,
            extent: Extent::Usual,
            seed: self.seed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tests(allocation_unit: Option<Bytes>) -> ClassTests {
        ClassTests { writes: true, allocation_unit, link: None, is_buffered: false, seed: 1 }
    }

    #[test]
    fn sequential_writes_start_with_an_allocation_unit() {
        for (unit, offset) in [(None, 160), (Some(4), 0), (Some(24), 16), (Some(64), 32)] {
            let range = tests(unit.map(Bytes::mib)).sequential_range(Bytes::gib(64));
            assert_eq!((range.offset, range.end()), (Bytes::mib(offset), Bytes::gib(64)), "{unit:?}");
        }
        assert_eq!(tests(Some(Bytes::mib(64))).sequential_range(Bytes::mib(60)).offset, Bytes::ZERO);
    }

    #[test]
    fn reads_alone_cost_no_writes() {
        let reads = ClassTests { writes: false, ..tests(None) };
        let (all, reads) = (tests(None).cost(Bytes::gib(8)), reads.cost(Bytes::gib(8)));
        assert_eq!(reads.bytes_written, Bytes::ZERO);
        assert!(all.bytes_written > Bytes::gib(4) && all.time > reads.time);
    }
}
