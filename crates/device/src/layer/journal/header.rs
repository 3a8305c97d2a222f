//! The header of a journal: which medium it belongs to, and how to recognise it.

use std::fmt;

use super::error::JournalError;
use super::format::{Fields, MAGIC, fill_of, put_number, put_string};
use super::saved::UNIT;
use super::store::JournalStore;
use crate::checksum::Checksum;
use crate::contract::Device;
use crate::transfer::{self, MediumError};
use crate::units::{ByteRange, Bytes};

/// A body is far smaller; a longer one is none.
const BODY_MAX: u64 = 1 << 20;
/// How many places are remembered, to recognise the medium. Policy.
const PLACES: u64 = 64;

/// What tells a medium from another one.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct JournalMedium {
    /// Vendor and model, one line; empty if unknown.
    pub model: String,
    /// The serial number, if the medium has one.
    pub serial: Option<String>,
    /// The size in bytes.
    pub capacity: Bytes,
    /// The logical block.
    pub logical_block: Bytes,
}

impl fmt::Display for JournalMedium {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = if self.model.is_empty() { "a medium" } else { &self.model };
        write!(formatter, "{model} of {}", self.capacity)?;
        match &self.serial {
            Some(serial) => write!(formatter, ", serial number {serial}"),
            None => Ok(()),
        }
    }
}

/// What a new journal says about its measurement.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct JournalStart {
    /// The version of flashscope.
    pub flashscope: String,
    /// The target as it was given.
    pub target: String,
    /// When the measurement started.
    pub started_at: String,
    /// The medium.
    pub medium: JournalMedium,
}

/// A place of the medium at the start, to recognise it later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Where it is.
    pub range: ByteRange,
    /// The checksum of its bytes.
    pub checksum: u64,
    /// Whether its bytes were all equal.
    pub is_blank: bool,
}

/// The header of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalHeader {
    /// The measurement and its medium.
    pub start: JournalStart,
    /// Places over the whole medium.
    pub places: Vec<Place>,
}

impl JournalHeader {
    /// The header for the medium in `device`, which is read at [`PLACES`] places. A place that cannot be read
    /// is left out.
    pub(super) fn of(start: JournalStart, device: &mut dyn Device) -> Result<Self, JournalError> {
        let capabilities = device.capabilities();
        let length = UNIT.round_up(capabilities.logical_block);
        let mut places = Vec::new();
        for index in 0..PLACES {
            let share = capabilities.capacity.get() / PLACES;
            let offset = Bytes::new(share * index + share / 2).round_down(length);
            let range = ByteRange::new(offset, length);
            let is_new = places.last().is_none_or(|last: &Place| last.range.end() <= offset);
            if !is_new || !capabilities.whole().contains(range) {
                continue;
            }
            match transfer::read(device, range) {
                Ok(bytes) => places.push(Place {
                    range,
                    checksum: Checksum::of(&bytes),
                    is_blank: fill_of(&bytes).is_some(),
                }),
                Err(MediumError::Request(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Self { start, places })
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let JournalStart { flashscope, target, started_at, medium } = &self.start;
        let mut body = Vec::new();
        for text in [flashscope, target, started_at, &medium.model] {
            put_string(&mut body, text);
        }
        put_number(&mut body, u64::from(medium.serial.is_some()));
        put_string(&mut body, medium.serial.as_deref().unwrap_or_default());
        put_number(&mut body, medium.capacity.get());
        put_number(&mut body, medium.logical_block.get());
        put_number(&mut body, self.places.len() as u64);
        for place in &self.places {
            put_number(&mut body, place.range.offset.get());
            put_number(&mut body, place.range.length.get());
            put_number(&mut body, place.checksum);
            put_number(&mut body, u64::from(place.is_blank));
        }
        let mut bytes = MAGIC.to_vec();
        put_number(&mut bytes, body.len() as u64);
        bytes.extend_from_slice(&body);
        put_number(&mut bytes, Checksum::of(&body));
        bytes
    }

    /// Reads the header, and returns the position behind it.
    pub(super) fn read(store: &mut dyn JournalStore) -> Result<(Self, u64), JournalError> {
        let mut start = [0; 16];
        store.read_at(0, &mut start).map_err(|error| ended(error, JournalError::NotJournal))?;
        let (words, _) = start.as_chunks::<8>();
        if words[0] != MAGIC {
            return Err(JournalError::NotJournal);
        }
        let length = u64::from_le_bytes(words[1]);
        if length > BODY_MAX {
            return Err(JournalError::damaged("its header"));
        }
        let mut bytes = vec![0; Bytes::new(length + 8).to_usize()];
        store.read_at(16, &mut bytes).map_err(|error| ended(error, JournalError::damaged("its header")))?;
        let (body, sum) = bytes.split_at(bytes.len() - 8);
        if sum != Checksum::of(body).to_le_bytes() {
            return Err(JournalError::damaged("its header"));
        }
        Ok((decode(body)?, 24 + length))
    }
}

/// `at_end` for an error at the end of the store.
fn ended(error: std::io::Error, at_end: JournalError) -> JournalError {
    if error.kind() == std::io::ErrorKind::UnexpectedEof { at_end } else { error.into() }
}

fn decode(body: &[u8]) -> Result<JournalHeader, JournalError> {
    let mut fields = Fields(body);
    let [flashscope, target, started_at, model] =
        [fields.string()?, fields.string()?, fields.string()?, fields.string()?];
    let has_serial = fields.number()? != 0;
    let serial = Some(fields.string()?).filter(|_| has_serial);
    let (capacity, logical_block) = (Bytes::new(fields.number()?), Bytes::new(fields.number()?));
    let count = fields.number()?;
    let mut places = Vec::new();
    for _ in 0..count {
        let [offset, length, checksum, is_blank] =
            [fields.number()?, fields.number()?, fields.number()?, fields.number()?];
        let range = ByteRange::new(Bytes::new(offset), Bytes::new(length));
        if length > AT_MOST || !ByteRange::new(Bytes::ZERO, capacity).contains(range) {
            return Err(JournalError::damaged("its places"));
        }
        places.push(Place { range, checksum, is_blank: is_blank != 0 });
    }
    let medium = JournalMedium { model, serial, capacity, logical_block };
    Ok(JournalHeader { start: JournalStart { flashscope, target, started_at, medium }, places })
}

/// No place is longer: a logical block has at most 64 KiB.
const AT_MOST: u64 = 64 << 10;
