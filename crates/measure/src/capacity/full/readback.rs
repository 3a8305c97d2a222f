//! The two phases: writing a segment, and reading it back sector by sector.

use flashscope_device::{
    BlockState, Buffer, ByteRange, Bytes, CheckReport, DeviceError, Lba, Op, Pattern, ReadInto, SECTOR,
    Success,
};
use flashscope_record::capacity::{BadPlaces, PlaceState};
use flashscope_record::full_capacity::{BadExtent, FullProgress, Transfer};

use super::pass::{Io, SegmentDone};

/// Stored bad extents. Guess: far more than a fake has, and a state file stays below 1 MiB.
const EXTENTS_MAX: usize = 4096;

/// Writes a segment.
pub fn write_segment(
    io: &mut Io<'_>,
    progress: &mut FullProgress,
    segment: ByteRange,
) -> Result<(), DeviceError> {
    let pattern = io.pattern;
    let done = io.segment(segment, &|range| Op::write(range, pattern))?;
    progress.trouble.longest_write = progress.trouble.longest_write.max(done.longest);
    progress.trouble.repeated_requests += done.repeated;
    if let Some(region) = progress.regions.get_mut(region_of(progress.region, segment)) {
        add_transfer(&mut region.write, &done);
    }
    for failed in done.requests.iter().filter(|request| request.outcome.is_err()) {
        progress.trouble.failed_requests += 1;
        match progress.write_errors.last_mut().filter(|last| last.end() == failed.range.offset) {
            Some(last) => last.length += failed.range.length,
            None => progress.write_errors.push(failed.range),
        }
    }
    Ok(())
}

/// Reads a segment back. What could not be written is not read.
pub fn read_segment(
    io: &mut Io<'_>,
    progress: &mut FullProgress,
    segment: ByteRange,
) -> Result<(), DeviceError> {
    let mut at = segment.offset;
    while at < segment.end() {
        let not_written = progress.write_errors.iter().find(|range| range.end() > at).copied();
        let start = not_written.map_or(segment.end(), |range| range.offset.clamp(at, segment.end()));
        if start > at {
            read_written(io, progress, ByteRange::new(at, start - at))?;
        }
        let end = not_written.map_or(start, |range| range.end().min(segment.end())).max(start);
        if end > start {
            note_bad(progress, ByteRange::new(start, end - start), PlaceState::WriteError);
        }
        at = end;
    }
    Ok(())
}

fn read_written(io: &mut Io<'_>, progress: &mut FullProgress, segment: ByteRange) -> Result<(), DeviceError> {
    let pattern = io.pattern;
    let done = io.segment(segment, &|range| Op::Read { range, into: ReadInto::Check(pattern) })?;
    progress.trouble.longest_read = progress.trouble.longest_read.max(done.longest);
    progress.trouble.slow_reads += done.slow;
    progress.trouble.repeated_requests += done.repeated;
    if let Some(region) = progress.regions.get_mut(region_of(progress.region, segment)) {
        add_transfer(&mut region.read, &done);
    }
    for request in done.requests {
        match request.outcome {
            Ok(Success::Wrong(report)) => note_wrong(io, progress, request.range, &report)?,
            Ok(_) => progress.kept_end = progress.kept_end.max(request.range.end()),
            Err(_) => {
                progress.trouble.failed_requests += 1;
                note_bad(progress, request.range, PlaceState::ReadError);
            }
        }
    }
    Ok(())
}

fn add_transfer(transfer: &mut Transfer, done: &SegmentDone) {
    transfer.bytes += done.bytes;
    transfer.time += done.time;
}

fn region_of(region: Bytes, segment: ByteRange) -> usize {
    usize::try_from(segment.offset / region).unwrap_or(usize::MAX)
}

/// A request returned wrong sectors. If not all are wrong in the same way, it is read once more as bytes.
fn note_wrong(
    io: &mut Io<'_>,
    progress: &mut FullProgress,
    range: ByteRange,
    report: &CheckReport,
) -> Result<(), DeviceError> {
    let sectors = range.length / SECTOR;
    let is_uniform = [report.stale, report.misplaced, report.blank, report.corrupt].contains(&sectors);
    if let Some((first, state)) = report.first_wrong.filter(|_| is_uniform) {
        note_shift(progress, first, state);
        note_bad(progress, range, place_state(state));
        return Ok(());
    }
    if progress.is_cut_off {
        note_counts(progress, range, report);
        return Ok(());
    }
    match io.read_bytes(range)? {
        Some(buffer) => note_sectors(progress, range, &buffer, io.pattern),
        None => note_bad(progress, range, PlaceState::ReadError),
    }
    Ok(())
}

fn note_sectors(progress: &mut FullProgress, range: ByteRange, buffer: &Buffer, pattern: Pattern) {
    let (sectors, _) = buffer.as_chunks();
    for (sector, index) in sectors.iter().zip(0_u64..) {
        let at = range.offset + SECTOR * index;
        let state = pattern.identify(at.sectors(), sector);
        if state == BlockState::Right {
            progress.kept_end = progress.kept_end.max(at + SECTOR);
        } else {
            note_shift(progress, at.sectors(), state);
            note_bad(progress, ByteRange::new(at, SECTOR), place_state(state));
        }
    }
}

/// The counts alone, where no more extents are stored.
fn note_counts(progress: &mut FullProgress, range: ByteRange, report: &CheckReport) {
    if report.right > 0 {
        progress.kept_end = progress.kept_end.max(range.end());
    }
    let blank = match report.first_wrong {
        Some((_, state @ BlockState::Blank { .. })) => place_state(state),
        _ => PlaceState::Zeros,
    };
    let counts = [
        (PlaceState::Previous, report.stale),
        (PlaceState::OtherAddress, report.misplaced),
        (blank, report.blank),
        (PlaceState::Garbage, report.corrupt),
    ];
    for (state, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        add_bad(progress, range.offset, state, count);
    }
}

/// Counts bad sectors, and stores their extent.
fn note_bad(progress: &mut FullProgress, range: ByteRange, state: PlaceState) {
    add_bad(progress, range.offset, state, range.length / SECTOR);
    let is_full = progress.extents.len() >= EXTENTS_MAX;
    let last = progress.extents.last_mut();
    match last.filter(|last| last.state == state && last.range.end() == range.offset) {
        Some(last) => last.range.length += range.length,
        None if is_full => progress.is_cut_off = true,
        None => progress.extents.push(BadExtent { range, state }),
    }
}

fn add_bad(progress: &mut FullProgress, at: Bytes, state: PlaceState, count: u64) {
    let index = region_of(progress.region, ByteRange::new(at, SECTOR));
    let Some(region) = progress.regions.get_mut(index) else { return };
    match region.bad.iter_mut().find(|bad| bad.state == state) {
        Some(bad) => bad.count += count,
        None => region.bad.push(BadPlaces { state, count }),
    }
}

/// Where addresses wrap around, later writes replace earlier ones: a sector returns a higher address, and
/// the distance is a multiple of the period.
fn note_shift(progress: &mut FullProgress, at: Lba, state: BlockState) {
    let BlockState::Misplaced { home, .. } = state else { return };
    if let Some(distance) = home.offset().get().checked_sub(at.offset().get()).filter(|it| *it > 0) {
        let shift = progress.shift.map_or(distance, |shift| gcd(shift.get(), distance));
        progress.shift = Some(Bytes::new(shift));
    }
}

const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

const fn place_state(state: BlockState) -> PlaceState {
    match state {
        BlockState::Right => PlaceState::Kept,
        BlockState::Stale { .. } => PlaceState::Previous,
        BlockState::Misplaced { .. } => PlaceState::OtherAddress,
        BlockState::Blank { byte: 0 } => PlaceState::Zeros,
        BlockState::Blank { byte: 0xff } => PlaceState::Ones,
        BlockState::Blank { .. } | BlockState::Corrupt => PlaceState::Garbage,
    }
}
