//! Sectors in one word each, and chunks of them.

use std::ops::Range;

pub(super) const CHUNK_SECTORS: usize = 128;

/// What one sector holds, in 64 bits: 0 is blank; the top two bits tell pattern (1x) from bytes (01).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sector(u64);

const PATTERN_BIT: u64 = 1 << 63;
const BYTES_BIT: u64 = 1 << 62;

impl Sector {
    pub(super) const BLANK: Self = Self(0);

    pub(super) const fn of_pattern(seed_index: u32, generation: u32) -> Self {
        Self(PATTERN_BIT | (seed_index as u64) << 32 | generation as u64)
    }

    pub(super) const fn of_bytes(place: usize) -> Self {
        Self(BYTES_BIT | place as u64)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the two fields are cut out on purpose")]
    pub(super) const fn seed_index_and_generation(self) -> Option<(usize, u32)> {
        if self.0 & PATTERN_BIT == 0 {
            return None;
        }
        Some((((self.0 & !PATTERN_BIT) >> 32) as usize, self.0 as u32))
    }

    #[expect(clippy::cast_possible_truncation, reason = "a place was an index before it was packed")]
    pub(super) const fn place(self) -> Option<usize> {
        if self.0 & (PATTERN_BIT | BYTES_BIT) == BYTES_BIT {
            Some((self.0 & !BYTES_BIT) as usize)
        } else {
            None
        }
    }
}

/// 64 KiB: one word for all, unless its sectors differ.
#[derive(Debug, Clone)]
pub(super) struct Chunk {
    whole: Sector,
    mixed: Option<Box<[Sector; CHUNK_SECTORS]>>,
}

impl Chunk {
    pub(super) const BLANK: Self = Self::of(Sector::BLANK);

    pub(super) const fn of(whole: Sector) -> Self {
        Self { whole, mixed: None }
    }

    pub(super) fn sectors(&self, which: Range<usize>) -> impl Iterator<Item = Sector> {
        which.map(|index| self.mixed.as_ref().map_or(self.whole, |sectors| sectors[index]))
    }

    /// False if it surely holds no literal bytes: those make a chunk mixed.
    pub(super) const fn may_hold_bytes(&self) -> bool {
        self.mixed.is_some()
    }

    pub(super) fn sectors_mut(&mut self) -> &mut [Sector; CHUNK_SECTORS] {
        let whole = self.whole;
        self.mixed.get_or_insert_with(|| Box::new([whole; CHUNK_SECTORS]))
    }

    pub(super) fn is_all(&self, sector: Sector) -> bool {
        self.mixed.is_none() && self.whole == sector
    }
}
