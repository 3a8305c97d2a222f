//! Writes the originals back.

use super::contents::JournalContents;
use super::error::JournalError;
use super::saved::UNIT;
use super::store::JournalStore;
use crate::contract::Device;
use crate::transfer::{self, MediumError};
use crate::units::{ByteRange, Bytes};

/// What was restored.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    /// The bytes that were written back and compared.
    pub bytes: Bytes,
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
    let mut bytes = Bytes::ZERO;
    contents.originals(store, &mut |offset, original| {
        bytes += Bytes::new(original.len() as u64);
        write_or_skip(device, offset, original)
    })?;
    transfer::flush(device)?;
    let mut wrong: Vec<ByteRange> = Vec::new();
    contents.originals(store, &mut |offset, original| {
        let range = ByteRange::new(offset, Bytes::new(original.len() as u64));
        match transfer::read(device, range) {
            Ok(found) if found == original => {}
            Ok(_) | Err(MediumError::Request(_)) => wrong.push(range),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    })?;
    if let Some(first) = wrong.first() {
        let ranges = if wrong.len() == 1 { "1 range".to_owned() } else { format!("{} ranges", wrong.len()) };
        return Err(JournalError::NotRestored { ranges, first: first.to_string() });
    }
    // Behind an incomplete record nothing can be appended; the journal is removed all the same.
    if !contents.is_cut && !contents.is_done {
        store.append(&contents.done_record())?;
        store.make_durable()?;
    }
    Ok(Restored { bytes })
}
