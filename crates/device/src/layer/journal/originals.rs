//! Where a journal holds the original data of each saved range.

use std::collections::BTreeMap;

use super::error::JournalError;
use super::store::JournalStore;
use crate::units::{ByteRange, Bytes};

/// The original data of a range.
#[derive(Debug, Clone, Copy)]
pub(super) enum Original {
    /// In the journal, at this byte.
    At(u64),
    /// This byte throughout.
    Fill(u8),
}

/// A range whose original data is saved.
#[derive(Debug, Clone, Copy)]
pub(super) struct SavedRange {
    pub range: ByteRange,
    pub original: Original,
}

impl SavedRange {
    /// Reads the original of `part`, which lies in the range.
    pub fn read(
        self,
        store: &mut dyn JournalStore,
        part: ByteRange,
        bytes: &mut [u8],
    ) -> Result<(), JournalError> {
        match self.original {
            Original::Fill(byte) => bytes.fill(byte),
            Original::At(position) => {
                store.read_at(position + (part.offset - self.range.offset).get(), bytes)?;
            }
        }
        Ok(())
    }
}

/// The saved ranges by their offset. None overlaps another.
#[derive(Debug, Default)]
pub(super) struct Originals {
    ranges: BTreeMap<Bytes, SavedRange>,
}

impl Originals {
    /// Adds a range.
    pub fn add(&mut self, saved: SavedRange) {
        self.ranges.insert(saved.range.offset, saved);
    }

    /// Reads the original of `range` into `bytes`, which are as long. False if a part of it is not saved.
    pub fn read(
        &self,
        store: &mut dyn JournalStore,
        range: ByteRange,
        bytes: &mut [u8],
    ) -> Result<bool, JournalError> {
        let mut at = range.offset;
        while at < range.end() {
            let before = self.ranges.range(..=at).next_back();
            let Some((_, saved)) = before.filter(|(_, saved)| saved.range.end() > at) else {
                return Ok(false);
            };
            let part = ByteRange::new(at, saved.range.end().min(range.end()) - at);
            let (from, to) = (part.offset - range.offset, part.end() - range.offset);
            saved.read(store, part, &mut bytes[from.to_usize()..to.to_usize()])?;
            at = part.end();
        }
        Ok(true)
    }
}
