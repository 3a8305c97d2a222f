//! Sectors of one word each, pages of sectors, and chunks of pages.

use std::ops::Range;

pub(super) const PAGE_SECTORS: usize = 8;
pub(super) const CHUNK_PAGES: usize = 16;
pub(super) const CHUNK_SECTORS: usize = PAGE_SECTORS * CHUNK_PAGES;

/// The contents of one sector in 64 bits: 0 is blank; the top two bits mark a pattern (1x) or literal bytes
/// (01). The word of a page may also mark that its sectors differ (the third bit), with the index of the
/// split page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sector(u64);

const PATTERN_BIT: u64 = 1 << 63;
const BYTES_BIT: u64 = 1 << 62;
const SPLIT_BIT: u64 = 1 << 61;

impl Sector {
    pub(super) const BLANK: Self = Self(0);

    pub(super) const fn of_pattern(seed_index: u32, generation: u32) -> Self {
        Self(PATTERN_BIT | (seed_index as u64) << 32 | generation as u64)
    }

    pub(super) const fn of_bytes(index: usize) -> Self {
        Self(BYTES_BIT | index as u64)
    }

    pub(super) const fn of_split(index: usize) -> Self {
        Self(SPLIT_BIT | index as u64)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the two fields are extracted on purpose")]
    pub(super) const fn seed_index_and_generation(self) -> Option<(usize, u32)> {
        if self.0 & PATTERN_BIT == 0 {
            return None;
        }
        Some((((self.0 & !PATTERN_BIT) >> 32) as usize, self.0 as u32))
    }

    #[expect(clippy::cast_possible_truncation, reason = "the value was an index before it was packed")]
    pub(super) const fn index(self) -> Option<usize> {
        if self.0 & (PATTERN_BIT | BYTES_BIT) == BYTES_BIT {
            Some((self.0 & !BYTES_BIT) as usize)
        } else {
            None
        }
    }

    /// The index of a split page.
    #[expect(clippy::cast_possible_truncation, reason = "the value was an index before it was packed")]
    pub(super) const fn split(self) -> Option<usize> {
        if self.0 & (PATTERN_BIT | BYTES_BIT | SPLIT_BIT) == SPLIT_BIT {
            Some((self.0 & !SPLIT_BIT) as usize)
        } else {
            None
        }
    }
}

/// 64 KiB: one word, or one word for each page of 4 KiB if the pages differ.
#[derive(Debug, Clone)]
pub(super) struct Chunk {
    whole: Sector,
    mixed: Option<Box<[Sector; CHUNK_PAGES]>>,
}

/// A range of sectors inside one page of a chunk.
#[derive(Debug, Clone)]
pub(super) struct PagePart {
    pub(super) page: usize,
    pub(super) sectors: Range<usize>,
}

/// The parts of a range of sectors, page by page.
pub(super) fn page_parts(sectors: Range<usize>) -> impl Iterator<Item = PagePart> {
    let (mut next, end) = (sectors.start, sectors.end);
    std::iter::from_fn(move || {
        let (page, from) = (next / PAGE_SECTORS, next % PAGE_SECTORS);
        let to = PAGE_SECTORS.min(from + end.saturating_sub(next));
        next = page * PAGE_SECTORS + to;
        (from < to).then_some(PagePart { page, sectors: from..to })
    })
}

impl Chunk {
    pub(super) const BLANK: Self = Self::of(Sector::BLANK);

    pub(super) const fn of(whole: Sector) -> Self {
        Self { whole, mixed: None }
    }

    /// The word of a page.
    pub(super) fn page(&self, page: usize) -> Sector {
        self.mixed.as_ref().map_or(self.whole, |pages| pages[page])
    }

    /// The words of the pages, if they may differ.
    pub(super) fn mixed_pages(&self) -> Option<&[Sector; CHUNK_PAGES]> {
        self.mixed.as_deref()
    }

    pub(super) fn pages_mut(&mut self) -> &mut [Sector; CHUNK_PAGES] {
        let whole = self.whole;
        self.mixed.get_or_insert_with(|| Box::new([whole; CHUNK_PAGES]))
    }

    pub(super) fn is_all(&self, sector: Sector) -> bool {
        self.mixed.is_none() && self.whole == sector
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sector_ranges_are_split_into_pages() {
        let parts = |sectors| page_parts(sectors).map(|part| (part.page, part.sectors)).collect::<Vec<_>>();
        assert_eq!(parts(6..17), [(0, 6..8), (1, 0..8), (2, 0..1)]);
        assert_eq!(parts(9..10), [(1, 1..2)]);
        assert_eq!(parts(5..5), []);
    }

    #[test]
    fn sector_word_has_exactly_one_kind() {
        let words = [Sector::BLANK, Sector::of_pattern(3, 7), Sector::of_bytes(5), Sector::of_split(9)];
        let kinds = words.map(|word| (word.seed_index_and_generation(), word.index(), word.split()));
        assert_eq!(
            kinds,
            [(None, None, None), (Some((3, 7)), None, None), (None, Some(5), None), (None, None, Some(9))]
        );
    }
}
