//! Recognises the medium that a journal belongs to.

use super::contents::JournalContents;
use super::error::JournalError;
use super::header::{JournalHeader, JournalMedium};
use crate::checksum::Checksum;
use crate::contract::Device;
use crate::transfer::{self, MediumError};
use crate::units::ByteRange;

/// How a medium compares with the one that was saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recognition {
    /// Whether model, serial number and size are equal.
    pub is_identical: bool,
    /// Whether there is a serial number, and it is equal.
    pub has_serial: bool,
    /// Places that were not overwritten by the measurement and hold something else now.
    pub changed: Vec<ByteRange>,
    /// The number of places that were compared.
    pub compared: usize,
}

impl Recognition {
    /// Whether this is the medium that was saved, and nobody has written to it since: identity and places are
    /// equal, and at least one of them shows it.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.is_identical && self.changed.is_empty() && (self.has_serial || self.compared > 0)
    }
}

/// Whether the medium in `device` may be the one of this header: only data that was not blank and is still
/// there shows it.
#[must_use]
pub fn resembles(header: &JournalHeader, device: &mut dyn Device) -> bool {
    let whole = device.capabilities().whole();
    header.places.iter().filter(|place| !place.is_blank && whole.contains(place.range)).any(|place| {
        transfer::read(device, place.range).is_ok_and(|bytes| Checksum::of(&bytes) == place.checksum)
    })
}

/// Compares the medium in `device` with the journal. Nothing is written.
///
/// # Errors
/// [`JournalError::OtherMedium`] for another size, which no originals fit; or the device fails.
pub fn recognise(
    contents: &JournalContents,
    found: &JournalMedium,
    device: &mut dyn Device,
) -> Result<Recognition, JournalError> {
    let expected = &contents.header.start.medium;
    if found.capacity != expected.capacity {
        return Err(JournalError::OtherMedium { expected: expected.to_string(), found: found.to_string() });
    }
    let mut changed = Vec::new();
    let mut compared = 0;
    for place in contents.header.places.iter().filter(|place| !contents.has_saved(place.range)) {
        compared += 1;
        match transfer::read(device, place.range) {
            Ok(bytes) if Checksum::of(&bytes) == place.checksum => {}
            Ok(_) | Err(MediumError::Request(_)) => changed.push(place.range),
            Err(error) => return Err(error.into()),
        }
    }
    let has_serial = expected.serial.is_some() && expected.serial == found.serial;
    let is_identical = (&found.model, &found.serial) == (&expected.model, &expected.serial);
    Ok(Recognition { is_identical, has_serial, changed, compared })
}
