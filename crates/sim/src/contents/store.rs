//! The store behind sector words: literal bytes, and the seeds of patterns.

use std::collections::HashMap;
use std::ops::Range;

use flashscope_device::Pattern;

use super::sector::{Chunk, PAGE_SECTORS, Sector};

pub(super) const SECTOR_BYTES: usize = 512;

/// Literal sectors and split pages, with the free indices of both.
#[derive(Debug, Default, Clone)]
pub(super) struct Store {
    sectors: Vec<[u8; SECTOR_BYTES]>,
    free_sectors: Vec<usize>,
    splits: Vec<[Sector; PAGE_SECTORS]>,
    free_splits: Vec<usize>,
}

impl Store {
    pub(super) fn put(&mut self, bytes: &[u8; SECTOR_BYTES]) -> Sector {
        let index = self.free_sectors.pop().unwrap_or_else(|| {
            self.sectors.push([0; SECTOR_BYTES]);
            self.sectors.len() - 1
        });
        self.sectors[index] = *bytes;
        Sector::of_bytes(index)
    }

    pub(super) fn get(&self, index: usize) -> &[u8; SECTOR_BYTES] {
        &self.sectors[index]
    }

    /// The word of a sector in a page with the word `page`.
    pub(super) fn sector(&self, page: Sector, sector: usize) -> Sector {
        page.split().map_or(page, |index| self.splits[index][sector])
    }

    /// Replaces a range of sectors of a page by the words from `next`, and frees the old ones.
    pub(super) fn replace(
        &mut self,
        page: &mut Sector,
        sectors: Range<usize>,
        mut next: impl FnMut(&mut Self) -> Sector,
    ) {
        let index = self.split(page);
        for sector in sectors {
            self.free(self.splits[index][sector]);
            self.splits[index][sector] = next(self);
        }
    }

    /// Frees the contents of a page.
    pub(super) fn release(&mut self, page: Sector) {
        if let Some(index) = page.split() {
            for sector in self.splits[index] {
                self.free(sector);
            }
            self.free_splits.push(index);
        }
    }

    /// Frees the contents of a chunk.
    pub(super) fn release_chunk(&mut self, chunk: &Chunk) {
        if !self.splits.is_empty() {
            chunk.mixed_pages().into_iter().flatten().for_each(|page| self.release(*page));
        }
    }

    fn free(&mut self, sector: Sector) {
        self.free_sectors.extend(sector.index());
    }

    /// The index of a split page. Splits a uniform page.
    fn split(&mut self, page: &mut Sector) -> usize {
        page.split().unwrap_or_else(|| {
            let index = self.free_splits.pop().unwrap_or_else(|| {
                self.splits.push([Sector::BLANK; PAGE_SECTORS]);
                self.splits.len() - 1
            });
            self.splits[index] = [*page; PAGE_SECTORS];
            *page = Sector::of_split(index);
            index
        })
    }
}

/// The seeds of all patterns, so that a sector word refers to one in 31 bits.
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
