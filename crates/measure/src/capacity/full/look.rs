//! The second look at bad places. A fake loses the same places again; a bad contact or a dying device loses
//! others.

use flashscope_device::{ByteRange, Bytes, DeviceError, Op, Pattern};
use flashscope_record::capacity::{CapacityKind, PlaceState};
use flashscope_record::full_capacity::FullProgress;

use super::judge::{self, Judged};
use super::pass::Io;
use crate::capacity::MARGIN_PART;

/// Bad places that are tried again. Guess: a share of 25 % is then known within 11 percentage points.
const PLACES_MAX: usize = 64;
/// Data that is written between a second write and reading it, at most. As the quick test's default bound.
const OVERWRITTEN_MAX: Bytes = Bytes::mib(256);
/// The most of a device that is overwritten for this purpose.
const OVERWRITTEN_PART: u64 = 4;

/// Tries bad places again, and judges the device.
pub fn second_look(io: &mut Io<'_>, progress: &mut FullProgress) -> Result<Judged, DeviceError> {
    progress.trouble.looked_at = 0;
    progress.trouble.right_when_read_again = 0;
    progress.trouble.right_after_second_write = 0;
    let judged = judge::judge(progress);
    match judged.kind {
        CapacityKind::NoSign | CapacityKind::Undecided => Ok(judged),
        CapacityKind::Wrap | CapacityKind::Chain | CapacityKind::Dropped => {
            read_again(io, progress)?;
            Ok(judged)
        }
        CapacityKind::Errors => {
            let judged = exact_end(io, progress, judged)?;
            read_again(io, progress)?;
            Ok(judged)
        }
        CapacityKind::Scattered | CapacityKind::Mixed => {
            if let Some(cached) = cached_end(io, progress)? {
                return Ok(cached);
            }
            let bad = read_again(io, progress)?;
            let bad_again = write_again(io, progress, &bad)?;
            let is_transient = judged.kind == CapacityKind::Scattered && bad_again == 0;
            let kept = Judged::new(CapacityKind::NoSign, Some(progress.capacity));
            Ok(if is_transient { kept } else { judged })
        }
    }
}

/// Reads bad places again; returns those that are bad again.
fn read_again(io: &mut Io<'_>, progress: &mut FullProgress) -> Result<Vec<ByteRange>, DeviceError> {
    let pattern = io.pattern;
    let step = progress.extents.len().div_ceil(PLACES_MAX).max(1);
    let mut bad = Vec::new();
    for extent in progress.extents.iter().step_by(step) {
        // A failed request is tried as it was: only some of its sectors may be bad.
        let start = extent.range.offset.round_down(io.unit);
        let length = (io.request - start % io.request).min(extent.range.end().round_up(io.unit) - start);
        let range = ByteRange::new(start, length);
        progress.trouble.looked_at += 1;
        let was_written = extent.state != PlaceState::WriteError;
        if was_written && io.check(range, pattern)? {
            progress.trouble.right_when_read_again += 1;
        } else {
            bad.push(range);
        }
    }
    Ok(bad)
}

/// Writes bad places a second time, overwrites a cache, and reads them. Returns how many are bad again.
fn write_again(io: &mut Io<'_>, progress: &mut FullProgress, bad: &[ByteRange]) -> Result<u64, DeviceError> {
    let pattern = io.pattern.next_generation();
    let mut written = Vec::new();
    let mut bad_again = 0;
    for range in bad {
        if io.is_right(Op::write(*range, pattern))? {
            written.push(*range);
        } else {
            bad_again += 1;
        }
    }
    let length = OVERWRITTEN_MAX.min(progress.capacity / OVERWRITTEN_PART).round_down(io.unit);
    overwrite(io, ByteRange::new(Bytes::ZERO, length), pattern)?;
    for range in written {
        if io.check(range, pattern)? {
            progress.trouble.right_after_second_write += 1;
        } else {
            bad_again += 1;
        }
    }
    Ok(bad_again)
}

fn overwrite(io: &mut Io<'_>, range: ByteRange, pattern: Pattern) -> Result<(), DeviceError> {
    io.flush()?;
    io.segment(range, &|range| Op::write(range, pattern))?;
    io.flush()
}

/// Whether the end of the device was only in a cache: overwrites as much of the lost part below, and reads
/// the end again.
fn cached_end(io: &mut Io<'_>, progress: &FullProgress) -> Result<Option<Judged>, DeviceError> {
    let Some((lost, suffix)) = judge::cached_end(progress) else { return Ok(None) };
    let pattern = io.pattern;
    let length = (suffix.length + suffix.length / MARGIN_PART).round_up(io.request).min(lost.range.length);
    let start = (lost.range.end() - length).round_up(io.unit);
    overwrite(io, ByteRange::new(start, suffix.offset - start), pattern.next_generation())?;
    let ranges = io.split(ByteRange::new(suffix.offset, suffix.length));
    let step = ranges.len().div_ceil(PLACES_MAX).max(1);
    let (mut count, mut lost_now) = (0_usize, 0_usize);
    for range in ranges.into_iter().step_by(step) {
        count += 1;
        lost_now += usize::from(!io.check(range, pattern)?);
    }
    if lost_now * 4 < count * 3 {
        return Ok(None);
    }
    let below = progress.extents.iter().take_while(|extent| extent.range.offset < lost.range.offset);
    let first_bad = below.map(|extent| extent.range.length).sum::<Bytes>();
    let is_mixed = first_bad.as_f64() > 0.001 * lost.range.offset.as_f64();
    let kind = if is_mixed { CapacityKind::Mixed } else { CapacityKind::Dropped };
    let judged = Judged::new(kind, Some(lost.range.offset));
    Ok(Some(Judged { cache_seen: Some(suffix.length), ..judged }))
}

/// The exact end of what is stored, inside the first request that failed: by bisection with second writes.
fn exact_end(io: &mut Io<'_>, progress: &FullProgress, judged: Judged) -> Result<Judged, DeviceError> {
    let mut low = judged.true_size.unwrap_or_default().round_down(io.unit);
    let first = progress.extents.iter().find(|extent| extent.range.offset >= low);
    let Some(first) = first.filter(|extent| judge::is_error(extent.state)) else { return Ok(judged) };
    let mut high = (low + io.request).min(first.range.end());
    let pattern = io.pattern.next_generation();
    while high > low {
        let middle = low + ((high - low) / 2).round_down(io.unit);
        let unit = ByteRange::new(middle, io.unit);
        let is_kept = io.is_right(Op::write(unit, pattern))? && io.check(unit, pattern)?;
        if is_kept {
            low = middle + io.unit;
        } else {
            high = middle;
        }
    }
    Ok(Judged { true_size: Some(low), ..judged })
}
