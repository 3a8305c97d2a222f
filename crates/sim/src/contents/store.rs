//! What sectors refer to: literal bytes, and the seeds of patterns.

use std::collections::HashMap;
use std::ops::Range;

use flashscope_device::Pattern;

use super::sector::{Chunk, Sector};

pub(super) const SECTOR_BYTES: usize = 512;

/// Literal sectors, with the places that are free again.
#[derive(Debug, Default, Clone)]
pub(super) struct Store {
    sectors: Vec<[u8; SECTOR_BYTES]>,
    free: Vec<usize>,
}

impl Store {
    pub(super) fn put(&mut self, bytes: &[u8; SECTOR_BYTES]) -> Sector {
        let place = self.free.pop().unwrap_or_else(|| {
            self.sectors.push([0; SECTOR_BYTES]);
            self.sectors.len() - 1
        });
        self.sectors[place] = *bytes;
        Sector::of_bytes(place)
    }

    pub(super) fn get(&self, place: usize) -> &[u8; SECTOR_BYTES] {
        &self.sectors[place]
    }

    /// Frees the bytes that these sectors of a chunk hold.
    pub(super) fn release(&mut self, chunk: &Chunk, sectors: Range<usize>) {
        if chunk.may_hold_bytes() && !self.sectors.is_empty() {
            self.free.extend(chunk.sectors(sectors).filter_map(Sector::place));
        }
    }
}

/// The seeds of the patterns seen, so that a sector names one in 31 bits.
#[derive(Debug, Default, Clone)]
pub(super) struct Seeds {
    seeds: Vec<u64>,
    index_of: HashMap<u64, u32>,
    last: u32,
}

impl Seeds {
    pub(super) fn sector(&mut self, pattern: Pattern) -> Sector {
        if self.seeds.get(self.last as usize) != Some(&pattern.seed) {
            let next = u32::try_from(self.seeds.len()).unwrap_or(u32::MAX >> 1);
            self.last = *self.index_of.entry(pattern.seed).or_insert(next);
            if self.last == next {
                self.seeds.push(pattern.seed);
            }
        }
        Sector::of_pattern(self.last, pattern.generation)
    }

    pub(super) fn pattern(&self, sector: Sector) -> Option<Pattern> {
        let (index, generation) = sector.seed_index_and_generation()?;
        Some(Pattern { seed: self.seeds[index], generation })
    }
}
