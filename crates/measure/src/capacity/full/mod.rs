//! The full test: the whole device is written with stamps and read back, every sector.
//!
//! The progress is data of its own. It is complete after every segment, can be stored, and continued on the
//! same device later. `docs/methods/capacity.md` describes the procedure.

mod judge;
mod look;
mod pass;
mod readback;
mod regions;

use std::time::Duration;

use flashscope_device::{BlockState, ByteRange, Bytes, Device, DeviceError, DeviceExt, Pattern, SECTOR};
use flashscope_record::full_capacity::{FullPhase, FullProgress, FullVerdict};

use crate::contract::{Estimate, Event, Expected, Observer};

use pass::Io;

/// Regions of the map and the throughput curve. Policy: enough for a chart, small enough for a document.
const REGIONS_MAX: u64 = 512;
/// The largest segment: the requests between two states that can be stored.
const SEGMENT_MAX: Bytes = Bytes::mib(256);
/// The progress is stored when this much device time has passed. Guess: little to lose, and the flush and
/// the pause of the device before it cost below 1 %.
const STORED_EVERY: Duration = Duration::from_secs(10);
/// A continued test writes this much again. A stick that ignores flushes may have lost it. Guess: more than
/// the write buffer of a controller.
const WRITTEN_AGAIN: Bytes = Bytes::mib(64);

/// A new test of the whole device. Each test needs its own seed, so that old stamps are not taken for new.
#[must_use]
pub fn begin(device: &dyn Device, seed: u64) -> FullProgress {
    let capabilities = device.capabilities();
    let capacity = capabilities.capacity.round_down(capabilities.logical_block.max(SECTOR));
    let request = pass::request(&capabilities);
    let region = Bytes::new(capacity.get().div_ceil(REGIONS_MAX)).round_up(request).max(request);
    FullProgress::new(seed, capacity, region)
}

/// What the test will cost.
#[must_use]
pub fn estimate_full(device: &dyn Device) -> Estimate {
    let capabilities = device.capabilities();
    let requests = capabilities.capacity.get().div_ceil(pass::request(&capabilities).get());
    let expected = Expected::transfer(capabilities.capacity, capabilities.capacity);
    Estimate { requests: requests * 2, bytes_written: capabilities.capacity, expected }
}

/// Whether the device still holds the stamps of this test at its start. Whoever used it since then has
/// overwritten its first sector.
///
/// # Errors
/// [`DeviceError`] if the device failed.
pub fn holds_stamps(device: &mut dyn Device, progress: &FullProgress) -> Result<bool, DeviceError> {
    if progress.phase == FullPhase::Write && progress.position.is_zero() {
        return Ok(true);
    }
    let unit = device.capabilities().logical_block.max(SECTOR);
    let Ok(buffer) = device.read_bytes(ByteRange::new(Bytes::ZERO, unit))? else { return Ok(false) };
    let first = buffer.as_chunks().0.first();
    let state = first.map(|block| Pattern::new(progress.seed).identify(Bytes::ZERO.sectors(), block));
    Ok(matches!(state, Some(BlockState::Right | BlockState::Misplaced { .. })))
}

/// Prepares stored progress to be continued: what was written last is written again.
pub fn continue_from(progress: &mut FullProgress) {
    progress.continued += 1;
    if progress.phase == FullPhase::Write {
        progress.position = progress.position.saturating_sub(WRITTEN_AGAIN).round_down(SEGMENT_MAX / 64);
        let position = progress.position;
        progress.write_errors.retain(|range| range.end() <= position);
    }
}

/// Writes the whole device, reads it back and judges it; continues where `progress` stands. `store` receives
/// the progress whenever everything in it is durable on the device.
///
/// # Errors
/// [`DeviceError`] if the device failed or an interrupt ended the test. `progress` then still says what is
/// done.
pub fn fill_and_verify(
    device: &mut dyn Device,
    progress: &mut FullProgress,
    store: &mut dyn FnMut(&FullProgress),
    observer: &mut dyn Observer,
) -> Result<FullVerdict, DeviceError> {
    observer.event(Event::Begin { name: "verify --full", estimate: estimate_full(device) });
    let mut io = Io::begin(device, progress, observer);
    let result = run(&mut io, progress, store);
    io.end();
    result
}

fn run(
    io: &mut Io<'_>,
    progress: &mut FullProgress,
    store: &mut dyn FnMut(&FullProgress),
) -> Result<FullVerdict, DeviceError> {
    if progress.phase == FullPhase::Write {
        each_segment(io, progress, store, readback::write_segment)?;
        next_phase(io, progress, store, FullPhase::Read)?;
    }
    if progress.phase == FullPhase::Read {
        each_segment(io, progress, store, readback::read_segment)?;
        next_phase(io, progress, store, FullPhase::SecondLook)?;
    }
    let judged = look::second_look(io, progress)?;
    progress.cost = io.cost();
    Ok(regions::verdict(progress, judged))
}

type Segment = fn(&mut Io<'_>, &mut FullProgress, ByteRange) -> Result<(), DeviceError>;

/// Runs the phase from the position to the end of the device.
fn each_segment(
    io: &mut Io<'_>,
    progress: &mut FullProgress,
    store: &mut dyn FnMut(&FullProgress),
    segment: Segment,
) -> Result<(), DeviceError> {
    let mut stored_at = io.now();
    while progress.position < progress.capacity {
        let start = progress.position;
        let region_end = (start / progress.region + 1) * progress.region.get();
        let end = (start + SEGMENT_MAX).min(Bytes::new(region_end)).min(progress.capacity);
        // A segment counts as a whole or not at all.
        let mut done = progress.clone();
        segment(io, &mut done, ByteRange::new(start, end - start))?;
        (done.position, done.cost) = (end, io.cost());
        *progress = done;
        if io.now().since(stored_at) >= STORED_EVERY {
            if progress.phase == FullPhase::Write {
                io.flush()?;
            }
            store(progress);
            stored_at = io.now();
        }
    }
    Ok(())
}

fn next_phase(
    io: &mut Io<'_>,
    progress: &mut FullProgress,
    store: &mut dyn FnMut(&FullProgress),
    phase: FullPhase,
) -> Result<(), DeviceError> {
    io.flush()?;
    (progress.phase, progress.position) = (phase, Bytes::ZERO);
    progress.cost = io.cost();
    store(progress);
    Ok(())
}
