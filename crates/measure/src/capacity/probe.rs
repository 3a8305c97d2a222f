//! A short test for a false capacity, cheap enough to come before every check that writes.
//!
//! A few probes, a stamped run near the top and a scan for its image below. What is wrong here is found
//! exactly by the whole procedure; this test alone raises no alarm.

use std::time::Duration;

use flashscope_device::{ByteRange, Bytes, Capabilities, Device, DeviceError};
use flashscope_record::capacity::{CapacityCost, CapacityVerdict};

use super::stamped::{NAME, Place, RequestSizes, Stamped};
use super::verdict::Outcome;
use super::{ALIGNMENT, MARGIN_PART, OLDEST, Settings, alias, place, run_below, verify};
use crate::contract::{Estimate, Expected, Observer};
use crate::forecast::Stage;

/// The longest run. Policy: excludes caches up to 60 MiB, more than most controllers have memory.
const RUN_MAX: Bytes = Bytes::mib(64);
/// The shortest run. A shorter one would exclude no cache worth naming.
const RUN_MIN: Bytes = Bytes::mib(4);
/// A run is at most this part of the device, so that probes and images have room below it.
const RUN_PART: u64 = 4;
/// Places below the run are written two at a time, one in each half, until they took this long: a scattered
/// write may take more than a second.
const PAIRS_MAX: u64 = 16;
const PAIRS_TIME_MAX: Duration = Duration::from_secs(1);
/// Places of the run that are read back in random order, besides the oldest.
const SAMPLES: u64 = 48;
/// The share of the time that writing may take, in tenths. Reading for images takes the rest,
const WRITING_TENTHS: u32 = 6;
/// and always this much.
const SCAN_TIME_MIN: Duration = Duration::from_secs(2);
/// The usual time: writing takes its tenths, and few devices are so large that reading for images takes more
/// than a second. Fast devices take the time of writing the run twice. Median of the virtual sticks.
const USUAL_TIME: Duration = Duration::from_millis(6500);
/// The cache bound of the whole procedure, where the short test found something wrong.
const CACHE_BOUND: Bytes = Bytes::mib(64);

/// What the short test may cost. One flush, and the scattered writes of the first probes, may exceed the
/// time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes written.
    pub bytes_written: Bytes,
    /// Device time.
    pub device_time: Duration,
}

impl Default for Limits {
    /// Policy: 10 s are short beside a check, which takes minutes.
    fn default() -> Self {
        Self { bytes_written: Bytes::mib(96), device_time: Duration::from_secs(10) }
    }
}

/// A short test of the capacity. If something is wrong, the whole procedure follows and gives the verdict.
/// `None` if the device, the limits or a budget are too small for the short test. Writes to the device.
///
/// # Errors
/// [`DeviceError`] if the device failed, an interrupt ended the test, or a budget ended it after data was
/// lost.
pub fn probe(
    device: &mut dyn Device,
    seed: u64,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Option<CapacityVerdict>, DeviceError> {
    let capabilities = device.capabilities();
    let capacity = capabilities.capacity;
    let Some(length) = run_length(capacity, limits) else { return Ok(None) };
    let range = run_below(capacity, length);
    let estimate = probe_estimate(&capabilities, length);
    let mut io = Stamped::begin(device, seed, estimate, observer);
    let tested = short_test(&mut io, range, limits.device_time);
    let has_lost = io.lost > 0;
    io.end();
    let tested = match tested {
        Err(DeviceError::BudgetSpent { .. }) if !has_lost => return Ok(None),
        tested => tested?,
    };
    if tested.is_kept() {
        let excluded = (tested.run - tested.run / MARGIN_PART).round_down(ALIGNMENT);
        return Ok(Some(Outcome::new(tested.places).verdict(&io, seed, excluded)));
    }
    let before = io.cost();
    // A seed of its own: stamps of the short test must not pass for those of the procedure.
    let settings = Settings { cache_bound: CACHE_BOUND, seed: seed.wrapping_add(1) };
    let verdict = verify(device, settings, observer)?;
    Ok(Some(CapacityVerdict { cost: sum(before, verdict.cost), ..verdict }))
}

/// The stage of [`probe`] in a run; `None` if the device or the limits are too small.
#[must_use]
pub fn probe_stage(device: &dyn Device, limits: Limits) -> Option<Stage> {
    let capabilities = device.capabilities();
    let length = run_length(capabilities.capacity, limits)?;
    Some(Stage { name: NAME, estimate: probe_estimate(&capabilities, length) })
}

/// The length of the run; `None` if the device or the limits are too small.
fn run_length(capacity: Bytes, limits: Limits) -> Option<Bytes> {
    let length = limits.bytes_written.min(RUN_MAX).min(capacity / RUN_PART).round_down(ALIGNMENT);
    (length >= RUN_MIN).then_some(length)
}

fn probe_estimate(capabilities: &Capabilities, length: Bytes) -> Estimate {
    let sizes = RequestSizes::of(capabilities);
    // Two writes, a flush and two reads.
    let pairs = 5 * PAIRS_MAX;
    // Its start is aligned, so that it may be longer. Two flushes.
    let run = sizes.writes_max(length + ALIGNMENT) + 2;
    let scan = alias::reads_max(capabilities.capacity, length, sizes.unit);
    // The last place is written, flushed and read.
    let requests = pairs + run + 3 + OLDEST + SAMPLES + scan;
    let expected = Expected::time_or_writing(USUAL_TIME, length * 2);
    Estimate { requests, bytes_written: length, expected }
}

/// What the short test saw.
struct Tested {
    places: Vec<Place>,
    has_image: bool,
    run: Bytes,
}

impl Tested {
    fn is_kept(&self) -> bool {
        !self.has_image && self.places.iter().all(Place::is_kept)
    }
}

fn short_test(io: &mut Stamped<'_>, range: ByteRange, time: Duration) -> Result<Tested, DeviceError> {
    let mut probes = probes(io, range.offset)?;
    let first = io.write_run(ByteRange::new(range.offset, RUN_MIN))?;
    io.time_max = time * WRITING_TENTHS / 10;
    let rest = ByteRange::new(first.range.end(), range.end() - first.range.end());
    let second = io.write_run(rest)?;
    let run = ByteRange::new(range.offset, second.range.end() - range.offset);
    if run.end() < io.capacity {
        probes.extend(io.write_places(&[io.capacity - io.unit])?);
    }
    let old = ByteRange::new(run.offset, (run.length / MARGIN_PART).round_up(io.unit));
    let mut places = Vec::new();
    for (part, count) in [(old, OLDEST), (run, SAMPLES)] {
        let offsets = io.stratified(part, count);
        let of = |at: &Bytes| if *at < first.range.end() { &first } else { &second };
        let mut samples: Vec<Place> = offsets.iter().map(|at| place(*at, of(at), &[])).collect();
        io.read_places(&mut samples)?;
        places.extend(samples);
    }
    io.read_places(&mut probes)?;
    places.extend(probes);
    io.time_max = time.max(io.cost().device_time + SCAN_TIME_MIN);
    let scan = alias::scan(io, run, second.pass)?;
    Ok(Tested { places, has_image: scan.alias.is_some(), run: run.length })
}

/// Writes one unit in each half below `end`, several times if that is fast.
fn probes(io: &mut Stamped<'_>, end: Bytes) -> Result<Vec<Place>, DeviceError> {
    let mut places: Vec<Place> = Vec::new();
    for _ in 0..PAIRS_MAX {
        let mut offsets = io.stratified(ByteRange::new(Bytes::ZERO, end), 2);
        offsets.retain(|at| places.iter().all(|place| place.at != *at));
        places.extend(io.write_places(&offsets)?);
        if io.cost().device_time >= PAIRS_TIME_MAX {
            break;
        }
    }
    Ok(places)
}

fn sum(one: CapacityCost, other: CapacityCost) -> CapacityCost {
    CapacityCost {
        bytes_written: one.bytes_written + other.bytes_written,
        bytes_read: one.bytes_read + other.bytes_read,
        requests: one.requests + other.requests,
        device_time: one.device_time + other.device_time,
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::SECTOR;
    use flashscope_device::layer::{Budget, FaultSpec, Faulty, Meter};
    use flashscope_device::memory::MemoryDevice;
    use flashscope_record::capacity::CapacityKind;

    use crate::contract::Silent;

    use super::*;

    /// A quarter of the device, at most what may be written, at most 64 MiB, at least 4 MiB.
    #[test]
    fn sixteen_mebibytes_is_the_smallest_device_with_a_short_test() {
        let written = |capacity: Bytes, bytes_written: Bytes| {
            let limits = Limits { bytes_written, ..Limits::default() };
            probe_stage(&MemoryDevice::new(capacity), limits).map(|stage| stage.estimate.bytes_written)
        };
        let usual = Limits::default().bytes_written;
        assert_eq!(written(Bytes::mib(16) - SECTOR, usual), None);
        assert_eq!(written(Bytes::mib(16), usual), Some(Bytes::mib(4)));
        assert_eq!(written(Bytes::mib(43), usual), Some(Bytes::mib(10)));
        assert_eq!(written(Bytes::mib(512), usual), Some(Bytes::mib(64)));
        assert_eq!(written(Bytes::mib(512), Bytes::mib(4)), Some(Bytes::mib(4)));
        assert_eq!(written(Bytes::mib(512), Bytes::mib(4) - SECTOR), None);
    }

    /// Writing ends after six of ten seconds. With requests of 100 ms, places below the run take 1.2 s, and
    /// the first 4 MiB of it 0.5 s: 43 MiB more follow.
    #[test]
    fn a_slow_device_gets_a_shorter_run_which_excludes_smaller_caches() {
        let excluded = |milliseconds| {
            let latency = Duration::from_millis(milliseconds);
            let mut device = MemoryDevice::new(Bytes::mib(256)).with_latency(latency);
            probe(&mut device, 1, Limits::default(), &mut Silent).unwrap().unwrap().cache_excluded
        };
        // A sixteenth less than 64 MiB, and than 47 MiB.
        assert_eq!([10, 100].map(excluded), [60, 44].map(Bytes::mib));
    }

    /// A budget of this device time, for requests of 1 ms.
    fn probed(faults: &[FaultSpec], milliseconds: u64) -> Result<Option<CapacityKind>, DeviceError> {
        let device = MemoryDevice::new(Bytes::mib(64)).with_latency(Duration::from_millis(1));
        let device = Faulty::new(device, faults, 1).unwrap();
        let device_time = Some(Duration::from_millis(milliseconds));
        let mut device = Meter::new(device, Budget { device_time, ..Budget::UNLIMITED });
        let verdict = probe(&mut device, 1, Limits::default(), &mut Silent)?;
        Ok(verdict.map(|verdict| verdict.kind))
    }

    #[test]
    fn budget_that_ends_the_short_test_leaves_it_undecided_and_lost_data_does_not() {
        let states = |faults: &[&str]| {
            let faults: Vec<FaultSpec> = faults.iter().map(|fault| fault.parse().unwrap()).collect();
            let mut states: Vec<String> = (1..250).map(|turn| state(probed(&faults, turn * 10))).collect();
            states.dedup();
            states
        };
        assert_eq!(states(&[]), ["not tested", "sound"]);
        assert_eq!(states(&["wrap:real=8MiB"]), ["not tested", "in doubt", "bad"]);
        assert_eq!(states(&["limbo:real=8MiB"]), ["not tested", "in doubt", "bad"]);
    }

    fn state(probed: Result<Option<CapacityKind>, DeviceError>) -> String {
        let name = match probed {
            Ok(None) => "not tested",
            Ok(Some(kind)) if kind.is_bad() => "bad",
            Ok(Some(_)) => "sound",
            Err(DeviceError::BudgetSpent { .. }) => "in doubt",
            Err(error) => return error.to_string(),
        };
        name.to_owned()
    }
}
