//! The binary form of a journal: numbers little endian, strings with their length in front.
//!
//! The header: [`MAGIC`], the length of its body, the body, the body's checksum. Then the records, each a
//! head of fixed size with its own checksum, the data, and the data's checksum. Data of one byte value is
//! stored in the head alone.

use super::error::JournalError;
use crate::checksum::Checksum;
use crate::units::{ByteRange, Bytes};

/// The first bytes of a journal. The digit counts up when an old reader could not read it.
pub const MAGIC: [u8; 8] = *b"FSJOUR1\n";
const RECORD_MAGIC: [u8; 8] = *b"FSRECORD";

/// The size of a record's head.
pub(super) const HEAD: usize = 48;

/// The largest record. Guess: one append for a large write, and little memory.
pub(super) const RECORD_MAX: Bytes = Bytes::mib(8);

/// The value of all bytes, if they are equal.
pub(super) fn fill_of(bytes: &[u8]) -> Option<u8> {
    let first = *bytes.first()?;
    bytes.iter().all(|byte| *byte == first).then_some(first)
}

/// What a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The original data follows.
    Data,
    /// The original data was this byte throughout.
    Fill(u8),
    /// Everything is restored.
    Done,
}

/// The head of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub kind: Kind,
    pub range: ByteRange,
}

impl Head {
    /// The bytes of the head.
    pub fn encode(self, sequence: u64) -> [u8; HEAD] {
        let kind: u64 = match self.kind {
            Kind::Data => 0,
            Kind::Fill(byte) => 0x100 | u64::from(byte),
            Kind::Done => 0x200,
        };
        let mut bytes = [0; HEAD];
        bytes[..8].copy_from_slice(&RECORD_MAGIC);
        let fields = [sequence, self.range.offset.get(), self.range.length.get(), kind];
        for (index, field) in fields.into_iter().enumerate() {
            bytes[8 * (index + 1)..8 * (index + 2)].copy_from_slice(&field.to_le_bytes());
        }
        let sum = Checksum::of(&bytes[..HEAD - 8]);
        bytes[HEAD - 8..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// The head of record `sequence`; `None` if these bytes are none.
    pub fn decode(bytes: &[u8; HEAD], sequence: u64) -> Option<Self> {
        let (words, _) = bytes.as_chunks::<8>();
        let number = |index: usize| u64::from_le_bytes(words[index]);
        let is_sound = words[0] == RECORD_MAGIC
            && number(1) == sequence
            && number(5) == Checksum::of(&bytes[..HEAD - 8]);
        let kind = match number(4) {
            0 => Kind::Data,
            0x200 => Kind::Done,
            fill @ 0x100..0x200 => Kind::Fill(fill.to_le_bytes()[0]),
            _ => return None,
        };
        let range = ByteRange::new(Bytes::new(number(2)), Bytes::new(number(3)));
        is_sound.then_some(Self { kind, range })
    }

    /// The length of data and checksum behind the head.
    pub const fn tail(self) -> u64 {
        match self.kind {
            Kind::Data => self.range.length.get().saturating_add(8),
            Kind::Fill(_) | Kind::Done => 0,
        }
    }
}

/// The record of original data at an offset.
pub(super) fn record(offset: Bytes, data: &[u8], sequence: u64) -> Vec<u8> {
    let range = ByteRange::new(offset, Bytes::new(data.len() as u64));
    if let Some(byte) = fill_of(data) {
        return Head { kind: Kind::Fill(byte), range }.encode(sequence).to_vec();
    }
    let mut bytes = Head { kind: Kind::Data, range }.encode(sequence).to_vec();
    bytes.extend_from_slice(data);
    bytes.extend_from_slice(&Checksum::of(data).to_le_bytes());
    bytes
}

/// Reads numbers and strings from a header's body.
pub(super) struct Fields<'a>(pub &'a [u8]);

impl Fields<'_> {
    fn take(&mut self, length: usize) -> Result<&[u8], JournalError> {
        let (taken, rest) =
            self.0.split_at_checked(length).ok_or_else(|| JournalError::damaged("its header"))?;
        self.0 = rest;
        Ok(taken)
    }

    /// The next number.
    pub fn number(&mut self) -> Result<u64, JournalError> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(bytes))
    }

    /// The next string.
    pub fn string(&mut self) -> Result<String, JournalError> {
        let length = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        let bytes = self.take(length)?.to_vec();
        String::from_utf8(bytes).map_err(|_| JournalError::damaged("its header"))
    }
}

/// Appends a number.
pub(super) fn put_number(bytes: &mut Vec<u8>, number: u64) {
    bytes.extend_from_slice(&number.to_le_bytes());
}

/// Appends a string.
pub(super) fn put_string(bytes: &mut Vec<u8>, text: &str) {
    put_number(bytes, text.len() as u64);
    bytes.extend_from_slice(text.as_bytes());
}
