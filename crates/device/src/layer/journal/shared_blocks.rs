//! Places of a counterfeit that share a block: whether a place differs because the other one is restored.

use std::collections::BTreeSet;

use super::error::JournalError;
use super::originals::Originals;
use super::store::JournalStore;
use crate::contract::Device;
use crate::pattern::{BLOCK, BlockState, Pattern};
use crate::transfer::{self, MediumError};
use crate::units::{ByteRange, Bytes, Lba, SECTOR};

/// What is read of the other places at once.
const PIECE: Bytes = Bytes::kib(64);

/// The most places that share a block in a row of test data. Guess: a counterfeit of 2 TB holds 8 GB or more.
const PLACES_MAX: usize = 256;

/// Explains why places differ from what was saved.
pub(super) struct SharedBlocks<'a> {
    pub originals: &'a Originals,
    /// The seeds of the test data that was written.
    pub seeds: &'a BTreeSet<u64>,
}

impl SharedBlocks<'_> {
    /// Whether each sector of `range` that differs held test data of another place when it was saved, and
    /// both hold the original of that place now. Then the place has no data of its own. The other place may
    /// have held test data of a third one, and so on.
    pub fn explain(
        &self,
        store: &mut dyn JournalStore,
        device: &mut dyn Device,
        range: ByteRange,
    ) -> Result<bool, JournalError> {
        let mut saved = vec![0; range.length.to_usize()];
        let (Some(found), true) = (read(device, range)?, self.originals.read(store, range, &mut saved)?)
        else {
            return Ok(false);
        };
        let (found, _) = found.as_chunks::<BLOCK>();
        let (saved, _) = saved.as_chunks::<BLOCK>();
        let mut piece = Piece::default();
        for ((lba, found), saved) in (range.offset.sectors().0..).zip(found).zip(saved) {
            if found == saved {
                continue;
            }
            let home = self.home_of(store, Lba(lba), saved, found)?;
            let is_there = match home {
                Some(home) => piece.sector(device, home)? == Some(*found),
                None => false,
            };
            if !is_there {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The place whose original is `found`, along the places that `saved` is test data of.
    fn home_of(
        &self,
        store: &mut dyn JournalStore,
        mut place: Lba,
        saved: &[u8; BLOCK],
        found: &[u8; BLOCK],
    ) -> Result<Option<ByteRange>, JournalError> {
        let mut held = *saved;
        for _ in 0..PLACES_MAX {
            let Some(home) = self.written_to(place, &held) else { return Ok(None) };
            if !self.originals.read(store, home, &mut held)? {
                return Ok(None);
            }
            if held == *found {
                return Ok(Some(home));
            }
            place = home.offset.sectors();
        }
        Ok(None)
    }

    /// The place that this test data was written to, if not to `lba`.
    fn written_to(&self, lba: Lba, block: &[u8; BLOCK]) -> Option<ByteRange> {
        let home = self.seeds.iter().find_map(|seed| match Pattern::new(*seed).identify(lba, block) {
            BlockState::Misplaced { home, .. } => Some(home),
            _ => None,
        })?;
        Some(ByteRange::new(Bytes::new(home.0.checked_mul(SECTOR.get())?), SECTOR))
    }
}

/// The last piece that was read.
#[derive(Default)]
struct Piece {
    range: Option<ByteRange>,
    bytes: Vec<u8>,
}

impl Piece {
    /// A sector; `None` if it cannot be read.
    fn sector(
        &mut self,
        device: &mut dyn Device,
        sector: ByteRange,
    ) -> Result<Option<[u8; BLOCK]>, JournalError> {
        if !self.range.is_some_and(|range| range.contains(sector)) {
            let capacity = device.capabilities().capacity;
            if sector.offset >= capacity {
                return Ok(None);
            }
            let start = sector.offset.round_down(PIECE);
            let range = ByteRange::new(start, PIECE.min(capacity - start));
            let Some(bytes) = read(device, range)? else { return Ok(None) };
            (self.range, self.bytes) = (Some(range), bytes);
        }
        let at = self.range.map_or(Bytes::ZERO, |range| sector.offset - range.offset).to_usize();
        Ok(self.bytes.get(at..at + BLOCK).and_then(|bytes| bytes.try_into().ok()))
    }
}

/// The bytes of a range; `None` if they cannot be read.
fn read(device: &mut dyn Device, range: ByteRange) -> Result<Option<Vec<u8>>, JournalError> {
    match transfer::read(device, range) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(MediumError::Request(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
