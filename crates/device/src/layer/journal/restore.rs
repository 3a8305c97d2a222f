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
/// Nothing may be in flight. Places that share a block hold what was saved first; the others are an error.
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
    restore_changed(contents, store, device, &everything, &mut |_, _, _| Ok(false))
}

/// Whether a range differs because it shares its block with another place, whose original is there.
pub(super) type IsShared<'a> =
    dyn FnMut(&mut dyn JournalStore, &mut dyn Device, ByteRange) -> Result<bool, JournalError> + 'a;

/// Like [`restore`], but writes only what lies in `changed`. Everything is compared. What differs all the
/// same is written as well, what was saved last first, and everything is compared again.
///
/// If that changed another place, both share a block, as on a counterfeit. Then all is written, what was
/// saved last first: what was saved first is what the block held.
///
/// # Errors
/// As [`restore`]; ranges of which `is_shared` is true are none.
pub(super) fn restore_changed(
    contents: &JournalContents,
    store: &mut dyn JournalStore,
    device: &mut dyn Device,
    changed: &RangeSet,
    is_shared: &mut IsShared<'_>,
) -> Result<Restored, JournalError> {
    let mut written = write_back(contents, store, device, changed, Sequence::Ascending)?;
    let mut different = compare(contents, store, device)?;
    if !different.is_empty() {
        let mut again = RangeSet::default();
        different.iter().for_each(|(range, _)| again.add(*range));
        written += write_back(contents, store, device, &again, Sequence::LastSavedFirst)?;
        different = compare(contents, store, device)?;
        let is_new =
            |(range, found): &(ByteRange, Found)| *found == Found::Other && again.span_in(*range).is_none();
        if different.iter().any(is_new) {
            again.add(ByteRange::new(Bytes::ZERO, contents.header.start.medium.capacity));
            written += write_back(contents, store, device, &again, Sequence::LastSavedFirst)?;
            different = compare(contents, store, device)?;
        }
    }
    let mut left = Vec::new();
    for (range, found) in different {
        if found == Found::Nothing || !is_shared(store, device, range)? {
            left.push(range);
        }
    }
    if let Some(first) = left.first() {
        let count = left.len();
        let ranges = if count == 1 { "1 range".to_owned() } else { format!("{count} ranges") };
        return Err(JournalError::NotRestored { ranges, first: first.to_string() });
    }
    // Behind an incomplete record nothing can be appended; the journal is removed all the same.
    if !contents.is_cut && !contents.is_done {
        store.append(&contents.done_record())?;
        store.make_durable()?;
    }
    Ok(Restored { bytes: contents.saved(), written: written.min(contents.saved()) })
}

/// The sequence in which originals are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sequence {
    Ascending,
    LastSavedFirst,
}

/// Writes the originals of what lies in `changed`, and flushes. Returns the number of bytes.
fn write_back(
    contents: &JournalContents,
    store: &mut dyn JournalStore,
    device: &mut dyn Device,
    changed: &RangeSet,
    sequence: Sequence,
) -> Result<Bytes, JournalError> {
    let unit = UNIT.round_up(device.capabilities().logical_block);
    let mut written = Bytes::ZERO;
    let mut write = |offset: Bytes, original: &[u8]| {
        let whole = ByteRange::new(offset, Bytes::new(original.len() as u64));
        let Some(span) = changed.span_in(whole) else { return Ok(()) };
        let start = span.offset.round_down(unit).max(whole.offset);
        let end = span.end().round_up(unit).min(whole.end());
        written += end - start;
        let bytes = &original[(start - offset).to_usize()..(end - offset).to_usize()];
        write_or_skip(device, start, bytes)
    };
    match sequence {
        Sequence::Ascending => contents.originals(store, &mut write)?,
        Sequence::LastSavedFirst => contents.originals_backward(store, &mut write)?,
    }
    transfer::flush(device)?;
    Ok(written)
}

/// What a range holds instead of its original.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Other,
    /// It cannot be read.
    Nothing,
}

/// The ranges that do not hold their originals, or cannot be read.
fn compare(
    contents: &JournalContents,
    store: &mut dyn JournalStore,
    device: &mut dyn Device,
) -> Result<Vec<(ByteRange, Found)>, JournalError> {
    let mut different = Vec::new();
    contents.originals(store, &mut |offset, original| {
        let range = ByteRange::new(offset, Bytes::new(original.len() as u64));
        match transfer::read(device, range) {
            Ok(found) if found == original => {}
            Ok(_) => different.push((range, Found::Other)),
            Err(MediumError::Request(_)) => different.push((range, Found::Nothing)),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    })?;
    Ok(different)
}
