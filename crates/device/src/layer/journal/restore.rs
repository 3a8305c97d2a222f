//! Writes the originals back.

use super::contents::JournalContents;
use super::error::JournalError;
use super::range_set::RangeSet;
use super::saved::UNIT;
use super::store::JournalStore;
use crate::contract::Device;
use crate::transfer::{self, MediumError};
use crate::units::{ByteRange, Bytes};

/// What was restored.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    /// The bytes that were saved. All were compared.
    pub bytes: Bytes,
    /// Those of them that were written back; the others held their old data.
    pub written: Bytes,
}

/// Writes data back. A request that fails is repeated in the smallest units, so that one bad block does not
/// keep its neighbours from coming back. What still fails is found when it is compared.
fn write_or_skip(device: &mut dyn Device, offset: Bytes, original: &[u8]) -> Result<(), JournalError> {
    match transfer::write(device, offset, original) {
        Err(MediumError::Request(_)) => {}
        written => return Ok(written?),
    }
    let unit = UNIT.round_up(device.capabilities().logical_block);
    for (index, bytes) in original.chunks(unit.to_usize()).enumerate() {
        match transfer::write(device, offset + unit * index as u64, bytes) {
            Ok(()) | Err(MediumError::Request(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Writes all originals back in ascending order, flushes, reads back, compares, and marks the journal done.
/// Nothing may be in flight.
///
/// It may be cut and run again: it only writes originals.
///
/// # Errors
/// [`JournalError`] if store or device fail, or data reads back differently. The journal then stays.
pub fn restore(
    contents: &JournalContents,
    store: &mut dyn JournalStore,
    device: &mut dyn Device,
) -> Result<Restored, JournalError> {
    let mut everything = RangeSet::default();
    everything.add(ByteRange::new(Bytes::ZERO, contents.header.start.medium.capacity));
    restore_changed(contents, store, device, &everything)
}

/// Like [`restore`], but writes only what lies in `changed`. Everything is compared. What differs all the
/// same is written as well, and everything is compared again. If that changed another place, all is written
/// in the reverse order of saving.
///
/// # Errors
/// As [`restore`].
pub(super) fn restore_changed(
    contents: &JournalContents,
    store: &mut dyn JournalStore,
    device: &mut dyn Device,
    changed: &RangeSet,
) -> Result<Restored, JournalError> {
    let mut written = write_back(contents, store, device, changed)?;
    let mut different = compare(contents, store, device)?;
    if !different.is_empty() {
        let mut again = RangeSet::default();
        different.iter().for_each(|range| again.add(*range));
        written += write_back(contents, store, device, &again)?;
        different = compare(contents, store, device)?;
        if different.iter().any(|range| again.span_in(*range).is_none()) {
            written += write_all_backward(contents, store, device)?;
            different = compare(contents, store, device)?;
        }
    }
    if let Some(first) = different.first() {
        let count = different.len();
        let ranges = if count == 1 { "1 range".to_owned() } else { format!("{count} ranges") };
        return Err(JournalError::NotRestored { ranges, first: first.to_string() });
    }
    // Behind an incomplete record nothing can be appended; the journal is removed all the same.
    if !contents.is_cut && !contents.is_done {
        store.append(&contents.done_record())?;
        store.make_durable()?;
    }
    Ok(Restored { bytes: contents.saved(), written })
}

/// Writes the originals of what lies in `changed`, ascending, and flushes. Returns the number of bytes.
fn write_back(
    contents: &JournalContents,
    store: &mut dyn JournalStore,
    device: &mut dyn Device,
    changed: &RangeSet,
) -> Result<Bytes, JournalError> {
    let unit = UNIT.round_up(device.capabilities().logical_block);
    let mut written = Bytes::ZERO;
    contents.originals(store, &mut |offset, original| {
        let whole = ByteRange::new(offset, Bytes::new(original.len() as u64));
        let Some(span) = changed.span_in(whole) else { return Ok(()) };
        let start = span.offset.round_down(unit).max(whole.offset);
        let end = span.end().round_up(unit).min(whole.end());
        written += end - start;
        let bytes = &original[(start - offset).to_usize()..(end - offset).to_usize()];
        write_or_skip(device, start, bytes)
    })?;
    transfer::flush(device)?;
    Ok(written)
}

/// Writes all originals, what was saved last first, and flushes. Returns the number of bytes.
///
/// Writing one place back changed another: they share a block. Its data is what was saved first.
fn write_all_backward(
    contents: &JournalContents,
    store: &mut dyn JournalStore,
    device: &mut dyn Device,
) -> Result<Bytes, JournalError> {
    contents.originals_backward(store, &mut |offset, original| write_or_skip(device, offset, original))?;
    transfer::flush(device)?;
    Ok(contents.saved())
}

/// The ranges that do not hold their originals, or cannot be read.
fn compare(
    contents: &JournalContents,
    store: &mut dyn JournalStore,
    device: &mut dyn Device,
) -> Result<Vec<ByteRange>, JournalError> {
    let mut different = Vec::new();
    contents.originals(store, &mut |offset, original| {
        let range = ByteRange::new(offset, Bytes::new(original.len() as u64));
        match transfer::read(device, range) {
            Ok(found) if found == original => {}
            Ok(_) | Err(MediumError::Request(_)) => different.push(range),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    })?;
    Ok(different)
}
