//! *discard*: does discard (TRIM) work, how long does it take, and what does it change?
//!
//! Areas of 4 MiB are filled, overwritten, discarded, read, and written again. The order of overwrite and
//! discard alternates, so that a drift of the device cancels out. See docs/methods/discard.md.

use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device, Op};

use flashscope_record::observation::{Data, DiscardData, DiscardedArea, DiscardedContent, Observations};

use crate::contract::{Estimate, Expected, Experiment, Observer};
use crate::experiment::erase_blocks::EraseBlocks;
use crate::experiment::registration::{Access, Registration};
use crate::limits::{LARGE_REQUEST, SMALL_REQUEST};
use crate::session::{Session, Stop, fill, not_started, range};

/// The size of an area: most erase blocks since 2010, or several smaller ones.
const AREA: Bytes = Bytes::mib(4);
/// The most areas. Guess: enough for a median of write times.
const AREAS_MAX: u64 = 8;
/// The experiment ends if this many discards failed and none succeeded.
const FAILED_MAX: u32 = 2;
/// Reads of each area: its start, its middle and its end.
const READS: u64 = 3;
/// Times that each area is written: filled, overwritten, filled again, and written after the discard.
const WRITES: u64 = 4;

/// The entry in the table of all experiments.
pub(super) const REGISTRATION: Registration = Registration {
    name: "discard",
    question: "Whether discard (TRIM) works, and what it changes",
    access: Access::Writes,
    options: &[],
    findings: &[],
    new: |request| Box::new(Discard { seed: request.seed }),
};

/// The experiment *discard*.
#[derive(Debug, Clone, Copy)]
pub struct Discard {
    /// The random seed of the data.
    pub seed: u64,
}

impl Experiment for Discard {
    fn name(&self) -> &'static str {
        REGISTRATION.name
    }

    fn estimate(&self, _device: &dyn Device) -> Estimate {
        let bytes_written = AREA * (AREAS_MAX * WRITES);
        // A flush follows each write.
        let requests = bytes_written / LARGE_REQUEST * 2 + AREAS_MAX * (1 + READS);
        let expected = Expected::transfer(bytes_written, Bytes::ZERO);
        Estimate { requests, bytes_written, expected }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let mut data = DiscardData { area: AREA, request: LARGE_REQUEST, ..DiscardData::default() };
        let blocks = match EraseBlocks::to_write(device, AREA) {
            Ok(blocks) => blocks,
            Err(refusal) => return not_started(device, self.seed, Data::Discard(data), refusal),
        };
        let (estimate, is_accepted) = (self.estimate(device), device.capabilities().discard);
        let whole = device.capabilities().whole();
        let mut session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        session.reads_back(whole);
        let result = if is_accepted {
            run(&mut session, blocks, &mut data)
        } else {
            data.failed = 1;
            Ok(())
        };
        session.end(result, Data::Discard(data))
    }
}

fn run(session: &mut Session<'_>, mut blocks: EraseBlocks, data: &mut DiscardData) -> Result<(), Stop> {
    for index in 0..AREAS_MAX.min(blocks.left()) {
        let Some(offset) = blocks.take() else { break };
        match area(session, offset, index % 2 == 0)? {
            Some(area) => data.areas.push(area),
            None => data.failed += 1,
        }
        if data.areas.is_empty() && data.failed >= FAILED_MAX {
            break;
        }
    }
    Ok(())
}

/// One area. `None` if a request failed.
fn area(
    session: &mut Session<'_>,
    offset: Bytes,
    overwritten_first: bool,
) -> Result<Option<DiscardedArea>, Stop> {
    let mut overwrite = None;
    if overwritten_first {
        overwrite = time_overwrite(session, offset)?;
    }
    fill(session, range(offset, AREA))?;
    let Some(discard) = session.run(Op::Discard { range: range(offset, AREA) })? else { return Ok(None) };
    let content = content(session, offset)?;
    let write = time_write(session, offset)?;
    if !overwritten_first {
        overwrite = time_overwrite(session, offset)?;
    }
    let times = overwrite.zip(content).zip(write);
    Ok(times.map(|((overwrite, content), write)| DiscardedArea {
        offset,
        overwritten_first,
        overwrite,
        discard,
        content,
        write,
    }))
}

/// Fills an area, and times writing it once more.
fn time_overwrite(session: &mut Session<'_>, offset: Bytes) -> Result<Option<Duration>, Stop> {
    fill(session, range(offset, AREA))?;
    time_write(session, offset)
}

/// The time to write an area, with a flush after each request. `None` if a write failed.
fn time_write(session: &mut Session<'_>, offset: Bytes) -> Result<Option<Duration>, Stop> {
    let mut total = Some(Duration::ZERO);
    for index in 0..AREA / LARGE_REQUEST {
        let latency = session.write_through(range(offset + LARGE_REQUEST * index, LARGE_REQUEST))?;
        total = total.zip(latency).map(|(total, latency)| total + latency);
    }
    Ok(total)
}

/// What start, middle and end of a discarded area hold. `None` if a read failed.
fn content(session: &mut Session<'_>, offset: Bytes) -> Result<Option<DiscardedContent>, Stop> {
    let mut contents = Vec::new();
    for start in [Bytes::ZERO, AREA / 2, AREA - SMALL_REQUEST] {
        let read = range(offset + start, SMALL_REQUEST);
        let content = match session.blank_byte(read)? {
            None => return Ok(None),
            Some(Some(0x00)) => DiscardedContent::Zeros,
            Some(Some(_)) => DiscardedContent::Ones,
            Some(None) if session.is_kept(read)? == Some(true) => DiscardedContent::OldData,
            Some(None) => DiscardedContent::Other,
        };
        contents.push(content);
    }
    let is_same = contents.windows(2).all(|pair| pair[0] == pair[1]);
    Ok(contents.first().map(|first| if is_same { *first } else { DiscardedContent::Other }))
}

#[cfg(test)]
mod tests {
    use flashscope_device::layer::ReadOnly;
    use flashscope_device::memory::MemoryDevice;
    use flashscope_device::{Capabilities, Completion, DeviceError, Instant, Tag};
    use flashscope_record::observation::{Ended, ExperimentData};
    use flashscope_sim::target::Target;
    use flashscope_sim::{Profile, VirtualStick};

    use super::*;
    use crate::contract::Silent;
    use flashscope_record::observation::Refusal;

    fn measured(device: &mut dyn Device) -> DiscardData {
        let seen = Discard { seed: 1 }.measure(device, &Budget::UNLIMITED, &mut Silent);
        assert_eq!(seen.ended, Ended::Complete);
        let Data::Discard(data) = seen.data else { panic!("not data of discard") };
        data
    }

    /// A stick whose flash takes `factor` times as long to write discarded areas. The link hides a part of
    /// it.
    fn stick(factor: f64) -> VirtualStick {
        let states =
            format!("[states]\nbasis = \"assumed\"\nunit = \"64KiB\"\nwrite_empty_factor = {factor:.2}");
        let text = format!("{}\n{states}", Profile::text("patriot-xt-16g").unwrap());
        VirtualStick::new(&Profile::parse(&text).unwrap(), 3)
    }

    /// What a device does with a discard.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Discards {
        Refused,
        Ignored,
    }

    struct Without(VirtualStick, Discards);

    impl Device for Without {
        fn capabilities(&self) -> Capabilities {
            Capabilities { discard: self.1 == Discards::Ignored, ..self.0.capabilities() }
        }

        fn now(&self) -> Instant {
            self.0.now()
        }

        fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
            let op = if matches!(op, Op::Discard { .. }) { Op::Flush } else { op };
            self.0.submit(tag, op)
        }

        fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
            self.0.wait()
        }
    }

    #[test]
    fn virtual_stick_discards_to_zeros() {
        for (factor, low, high) in [(1.0, 0.98, 1.02), (0.25, 0.7, 0.85), (2.0, 1.3, 1.5)] {
            let data = measured(&mut stick(factor));
            assert_eq!((data.areas.len(), data.failed), (8, 0));
            assert_eq!(data.content(), Some(DiscardedContent::Zeros));
            assert!(data.latency_s().is_some_and(|seconds| (1e-5..1e-2).contains(&seconds)), "{data:?}");
            let ratio = data.write_time_ratio().unwrap();
            assert!((low..high).contains(&ratio), "factor {factor}: {ratio}");
        }
    }

    #[test]
    fn stick_without_discard_is_reported_and_not_written() {
        let mut device = Without(stick(1.0), Discards::Refused);
        let before = device.now();
        let data = measured(&mut device);
        assert!(data.areas.is_empty() && data.results().len() == 1, "{data:?}");
        assert_eq!(device.now(), before);
    }

    /// A device on which this number of discards fail before the others succeed.
    struct Failing(MemoryDevice, u32);

    impl Device for Failing {
        fn capabilities(&self) -> Capabilities {
            self.0.capabilities()
        }

        fn now(&self) -> Instant {
            self.0.now()
        }

        fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
            let fails = self.1 > 0 && matches!(op, Op::Discard { .. });
            self.1 -= u32::from(fails);
            let beyond = range(self.capabilities().capacity, AREA);
            self.0.submit(tag, if fails { Op::Discard { range: beyond } } else { op })
        }

        fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
            self.0.wait()
        }
    }

    #[test]
    fn one_failed_discard_is_counted_and_two_before_any_other_are_enough() {
        for (failing, areas, failed) in [(1, 7, 1), (8, 0, 2)] {
            let data = measured(&mut Failing(MemoryDevice::new(Bytes::mib(64)), failing));
            assert_eq!((data.areas.len(), data.failed), (areas, failed), "{failing} fail");
        }
    }

    #[test]
    fn ignored_discard_leaves_old_data() {
        let data = measured(&mut Without(stick(0.25), Discards::Ignored));
        assert_eq!(data.content(), Some(DiscardedContent::OldData));
        assert!(data.write_time_ratio().is_some_and(|ratio| (0.95..1.05).contains(&ratio)), "{data:?}");
    }

    #[test]
    fn read_only_device_is_refused() {
        let target = Target::parse("generic-2g").unwrap();
        let mut device = ReadOnly::new(VirtualStick::new(&target.profile, 1));
        let seen = Discard { seed: 1 }.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        assert!(matches!(seen.ended, Ended::NotStarted { reason: Refusal::ReadOnly, .. }));
    }

    #[test]
    fn estimate_bounds_the_bytes_written_and_the_requests() {
        let mut device = flashscope_device::layer::Meter::new(stick(1.0), Budget::UNLIMITED);
        let estimate = Discard { seed: 1 }.estimate(&device);
        let areas = measured(&mut device).areas.len() as u64;
        let cost = device.cost();
        assert!(cost.bytes_written <= estimate.bytes_written, "{cost:?}");
        // A flush follows each write, and each area is discarded once.
        assert!(cost.writes * 2 + cost.reads + areas <= estimate.requests, "{areas} areas, {cost:?}");
    }
}
