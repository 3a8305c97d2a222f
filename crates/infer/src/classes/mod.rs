//! The speed classes of the SD Association: which the device claims, and which it reaches.
//!
//! A requirement that is met counts wherever it was measured. One that is missed counts only if the card
//! itself is the reason: not the link, the page cache, a wider range, or a command queue that is not used.

mod requirement;
mod units;

use flashscope_device::Bytes;
use flashscope_record::attachment::{Link, LinkKind};
use flashscope_record::claims::{SpeedMark, Untestable};
use flashscope_record::observation::{Data, Direction, Observations, Order, SpeedCell, SpeedData};
use flashscope_record::run_file::RunFile;

pub use requirement::{A1, A2, RandomIops, Requirement, need_writes};
pub use units::{SUB_UNIT, UnitSpeeds};

use crate::streams::speed::speed_of;
use requirement::requirements;

/// The size of a random request in the application performance classes.
pub const RANDOM_REQUEST: Bytes = Bytes::kib(4);
/// The range of random requests. Guess: the SD Association publishes the IOPS of A1 and A2, but the range
/// only to its members; published tests of A1 cards use files of 100 to 512 MiB.
pub const RANDOM_RANGE: Bytes = Bytes::mib(256);
/// A random row over more than this may miss a class that the same card reaches over [`RANDOM_RANGE`].
const RANDOM_RANGE_MAX: Bytes = Bytes::mib(512);
/// The deepest command queue of an SD card (SD Physical Layer 6.00, A2).
const QUEUE_DEPTH_MAX: f64 = 32.0;
/// The transfers of one command over USB mass storage: command, data, status (bulk-only transport).
const TRANSFERS: f64 = 3.0;
/// The longest wait of each transfer: the microframe of high-speed USB, and the frame of full speed, seconds
/// (USB 2.0, chapter 5.3). Faster links do not wait for frames.
const FRAMES: [(f64, f64); 2] = [(12.0, 1e-3), (480.0, 125e-6)];

/// The classes of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Classes {
    /// The speeds of the allocation units; `None` if no sequential write was measured.
    pub units: Option<UnitSpeeds>,
    /// The claims, with their verdicts.
    pub claimed: Vec<ClassResult>,
    /// Every class of the standard, with its verdict.
    pub all: Vec<ClassResult>,
    /// Whether a USB reader hides what the card claims.
    pub registers_hidden: bool,
}

/// The verdict on one class.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassResult {
    /// The class.
    pub mark: SpeedMark,
    /// The verdict: that of its worst requirement.
    pub verdict: ClassVerdict,
    /// Its requirements.
    pub tests: Vec<ClassTest>,
}

/// One requirement, and what was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassTest {
    /// What the class requires.
    pub required: Requirement,
    /// The measured speed: the lowest of an allocation unit, or the mean of random requests.
    pub measured: Option<ClassSpeed>,
    /// The verdict.
    pub verdict: ClassVerdict,
}

/// A speed that is compared with a class, bytes per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassSpeed {
    /// The speed that decides.
    pub bytes_per_s: f64,
    /// The lower end: of the 95 % interval, or the lowest unit.
    pub low: f64,
    /// The upper end: of the 95 % interval, or the median unit.
    pub high: f64,
    /// Whether it is the page cache's.
    is_cached: bool,
    /// Whether it was measured over a wider range than the class needs.
    is_wide: bool,
}

/// A verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassVerdict {
    /// Reached.
    Pass,
    /// Missed.
    Fail,
    /// Not testable here.
    NotTestable(Untestable),
}

impl Classes {
    /// Whether a claim that could be tested is missed.
    #[must_use]
    pub fn has_failed_claim(&self) -> bool {
        self.claimed.iter().any(|claim| claim.verdict == ClassVerdict::Fail)
    }

    /// Whether a claim could be tested, or any class if nothing is claimed.
    #[must_use]
    pub fn is_testable(&self) -> bool {
        let all = if self.claimed.is_empty() { &self.all } else { &self.claimed };
        all.iter().any(|result| !matches!(result.verdict, ClassVerdict::NotTestable(_)))
    }
}

/// The classes of a run.
#[must_use]
pub fn classes_of(run: &RunFile) -> Classes {
    let measured = Measured::of(run);
    let claims = &run.attachment.claims;
    Classes {
        claimed: claims.marks.iter().map(|mark| measured.result(*mark)).collect(),
        all: SpeedMark::all().into_iter().map(|mark| measured.result(mark)).collect(),
        registers_hidden: claims.registers_hidden,
        units: measured.units,
    }
}

/// What a run measured of the classes.
struct Measured<'a> {
    run: &'a RunFile,
    units: Option<UnitSpeeds>,
    read: Option<ClassSpeed>,
    random: [Option<ClassSpeed>; 2],
    has_writes: bool,
    /// Whether the filesystem refused direct I/O, so that requests went through the page cache.
    is_buffered: bool,
}

impl<'a> Measured<'a> {
    fn of(run: &'a RunFile) -> Self {
        let is_write = |seen: &Observations| match &seen.data {
            Data::Speed(data) => data.cells.iter().any(|cell| cell.case.direction == Direction::Write),
            Data::Sustained(data) => !data.pieces.is_empty(),
            _ => false,
        };
        let is_buffered = |seen: &Observations| matches!(&seen.data, Data::Speed(data) if data.is_buffered);
        Self {
            units: units::unit_speeds(run),
            read: row(run, Direction::Read, Order::Linear),
            random: [Direction::Read, Direction::Write].map(|direction| row(run, direction, Order::Random)),
            has_writes: run.observations.iter().any(is_write),
            is_buffered: run.observations.iter().any(is_buffered),
            run,
        }
    }

    fn speed(&self, required: Requirement) -> Option<ClassSpeed> {
        match (required.order, required.direction) {
            (Order::Linear, Direction::Read) => self.read,
            (Order::Linear, Direction::Write) => {
                self.units.as_ref().filter(|units| units.are_enough(required.bytes_per_s)).map(|units| {
                    ClassSpeed {
                        bytes_per_s: units.lowest(),
                        low: units.lowest(),
                        high: units.median(),
                        is_cached: false,
                        is_wide: false,
                    }
                })
            }
            (Order::Random, Direction::Read) => self.random[0],
            (Order::Random, Direction::Write) => self.random[1],
        }
    }

    fn result(&self, mark: SpeedMark) -> ClassResult {
        let test = |required| ClassTest {
            required,
            measured: self.speed(required),
            verdict: self.verdict(mark, required),
        };
        let tests: Vec<ClassTest> = requirements(mark).into_iter().map(test).collect();
        let rank = |test: &&ClassTest| match test.verdict {
            ClassVerdict::Pass => 0,
            ClassVerdict::NotTestable(_) => 1,
            ClassVerdict::Fail => 2,
        };
        // Of several reasons, the first requirement's.
        let worst = tests.iter().rev().max_by_key(rank).map(|test| test.verdict);
        let verdict = worst.unwrap_or(ClassVerdict::NotTestable(Untestable::NotMeasured));
        ClassResult { mark, verdict, tests }
    }

    fn verdict(&self, mark: SpeedMark, required: Requirement) -> ClassVerdict {
        let Some(speed) = self.speed(required) else {
            let is_read_only = required.direction == Direction::Write && !self.has_writes;
            return ClassVerdict::NotTestable(match (is_read_only, self.is_buffered) {
                (true, _) => Untestable::ReadOnly,
                (false, true) => Untestable::NoDirectIo,
                (false, false) => Untestable::NotMeasured,
            });
        };
        if speed.is_cached {
            let why = if self.is_buffered { Untestable::NoDirectIo } else { Untestable::PageCache };
            return ClassVerdict::NotTestable(why);
        }
        // "Up to" is met if it lies within the interval.
        let reached = if matches!(mark, SpeedMark::UpTo(_)) { speed.high } else { speed.bytes_per_s };
        if reached >= required.bytes_per_s {
            return ClassVerdict::Pass;
        }
        self.excuse(mark, required, speed).map_or(ClassVerdict::Fail, ClassVerdict::NotTestable)
    }

    /// Why a missed requirement may not be the card's fault.
    fn excuse(&self, mark: SpeedMark, required: Requirement, speed: ClassSpeed) -> Option<Untestable> {
        let needed = required.bytes_per_s;
        let link = self.run.attachment.link.as_ref();
        if link.is_some_and(|link| limits(link, needed, speed.bytes_per_s)) {
            return Some(Untestable::Link);
        }
        if required.order == Order::Linear {
            return None;
        }
        if speed.is_wide {
            return Some(Untestable::WideRange);
        }
        let request = RANDOM_REQUEST.as_f64();
        let own = request / speed.bytes_per_s - link.map_or(0.0, command_seconds);
        if own <= request / needed {
            return Some(Untestable::LinkLatency);
        }
        let is_queued =
            mark == SpeedMark::ApplicationClass(2) && !self.run.attachment.claims.has_command_queue;
        // A queue of reads serves at most its depth at a time. The cache of writes has no such bound.
        let is_out_of_reach =
            required.direction == Direction::Read && speed.bytes_per_s * QUEUE_DEPTH_MAX < needed;
        (is_queued && !is_out_of_reach).then_some(Untestable::CommandQueue)
    }
}

/// Whether a link, not the device, may be why a speed is below `needed`.
fn limits(link: &Link, needed: f64, measured: f64) -> bool {
    let (low, high) = link.bytes_per_s;
    high < needed || low < needed && measured >= low
}

/// The longest that the commands of a link take of each request, seconds.
fn command_seconds(link: &Link) -> f64 {
    let LinkKind::Usb { mbit_per_s } = link.kind else { return 0.0 };
    let frame = FRAMES.into_iter().find(|(slowest, _)| mbit_per_s <= *slowest);
    frame.map_or(0.0, |(_, seconds)| seconds * TRANSFERS)
}

/// The speed of the last row of this kind at queue depth 1: sequential requests of at least 1 MiB, random
/// ones of 4 KiB.
fn row(run: &RunFile, direction: Direction, order: Order) -> Option<ClassSpeed> {
    let is_meant = |cell: &SpeedCell| {
        let is_size = match order {
            Order::Linear => cell.case.request >= Bytes::mib(1),
            Order::Random => cell.case.request == RANDOM_REQUEST,
        };
        is_size && (cell.case.direction, cell.case.order, cell.case.queue_depth) == (direction, order, 1)
    };
    let found = run.observations.iter().rev().find_map(|seen| {
        let Data::Speed(data) = &seen.data else { return None };
        let cell = data.cells.iter().find(|cell| is_meant(cell))?;
        let region = seen.conditions.region.map(|region| region.length).or(seen.conditions.capacity);
        Some((data, cell, region.is_none_or(|region| region > RANDOM_RANGE_MAX)))
    });
    let (data, cell, is_wide): (&SpeedData, &SpeedCell, bool) = found?;
    let speed = speed_of(data, cell)?;
    Some(ClassSpeed {
        bytes_per_s: speed.bytes_per_s,
        low: speed.bytes_per_s_low.min(speed.bytes_per_s),
        high: speed.bytes_per_s_high.max(speed.bytes_per_s),
        is_cached: data.is_buffered || speed.cached.is_some(),
        is_wide: is_wide && order == Order::Random,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_record::observation::{Conditions, Ended, Source, SpeedCase};

    use super::*;

    #[test]
    fn slow_link_excuses_only_speeds_that_it_limits() {
        let usb2 = Link::usb(480.0, None).unwrap();
        assert!(limits(&usb2, 90e6, 5e6), "it carries at most 42 MB/s");
        assert!(limits(&usb2, 35e6, 31e6) && !limits(&usb2, 35e6, 20e6));
        assert!(!limits(&usb2, 10e6, 9e6));
        let usb3 = Link::usb(5000.0, None).unwrap();
        assert_eq!((command_seconds(&usb2), command_seconds(&usb3)), (375e-6, 0.0));
    }

    #[test]
    fn speed_through_the_page_cache_is_no_class_and_says_so() {
        let mut run =
            RunFile::parse(r#"{"format": 2, "flashscope": "0", "target": "t", "observations": []}"#).unwrap();
        let mut data = SpeedData { is_buffered: true, ..SpeedData::default() };
        for (order, request) in [(Order::Linear, Bytes::mib(4)), (Order::Random, RANDOM_REQUEST)] {
            for direction in [Direction::Write, Direction::Read] {
                let mut cell = SpeedCell::new(SpeedCase { direction, order, request, queue_depth: 1 });
                let took = Duration::from_micros(300);
                (1..=300).for_each(|index| cell.keep(took, took * index));
                data.cells.push(cell);
            }
        }
        let conditions =
            Conditions { source: Source::Measured, capacity: None, region: None, is_in_file: true, seed: 1 };
        run.observations.push(Observations { data: Data::Speed(data), conditions, ended: Ended::Complete });
        let why = ClassVerdict::NotTestable(Untestable::NoDirectIo);
        let classes = classes_of(&run);
        assert!(classes.all.iter().all(|result| result.verdict == why), "{:?}", classes.all);
    }

    #[test]
    fn run_without_measurements_is_testable_in_nothing() {
        let empty = r#"{"format": 2, "flashscope": "0", "target": "t", "observations": []}"#;
        let classes = classes_of(&RunFile::parse(empty).unwrap());
        assert_eq!(
            (classes.is_testable(), classes.has_failed_claim(), classes.all.len()),
            (false, false, 13)
        );
        let read_only = ClassVerdict::NotTestable(Untestable::ReadOnly);
        assert!(classes.all.iter().all(|result| result.verdict == read_only), "{:?}", classes.all);
    }
}
