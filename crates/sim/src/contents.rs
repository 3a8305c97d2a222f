//! The true contents: what was written is what is read.
//!
//! Each sector is one word: blank, a reference to the data pattern, or a place in the store of literal bytes. A chunk of
//! 64 KiB that is uniform takes one word; regions that were never written take none. So a stick filled with the pattern costs
//! a few bytes per chunk, and no byte of the pattern exists until somebody reads it.

use std::collections::HashMap;

use flashscope_device::{BlockState, ByteRange, Bytes, CheckReport, Lba, Pattern, SECTOR};

const SECTOR_BYTES: usize = 512;
const CHUNK_SECTORS: u64 = 128;
const REGION_CHUNKS: u64 = 256;

/// What one sector holds, in 64 bits: 0 is blank; the top two bits tell pattern (1x) from bytes (01).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sector(u64);

const PATTERN_BIT: u64 = 1 << 63;
const BYTES_BIT: u64 = 1 << 62;

impl Sector {
    const BLANK: Self = Self(0);

    const fn of_pattern(seed_index: u32, generation: u32) -> Self {
        Self(PATTERN_BIT | (seed_index as u64) << 32 | generation as u64)
    }

    const fn of_bytes(place: usize) -> Self {
        Self(BYTES_BIT | place as u64)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the two fields are cut out on purpose")]
    const fn seed_index_and_generation(self) -> Option<(usize, u32)> {
        if self.0 & PATTERN_BIT == 0 {
            return None;
        }
        Some((((self.0 & !PATTERN_BIT) >> 32) as usize, self.0 as u32))
    }

    #[expect(clippy::cast_possible_truncation, reason = "a place was an index before it was packed")]
    const fn place(self) -> Option<usize> {
        if self.0 & (PATTERN_BIT | BYTES_BIT) == BYTES_BIT {
            Some((self.0 & !BYTES_BIT) as usize)
        } else {
            None
        }
    }
}

/// 64 KiB: one word for all, unless its sectors differ.
#[derive(Debug, Clone)]
struct Chunk {
    whole: Sector,
    mixed: Option<Box<[Sector; CHUNK_SECTORS as usize]>>,
}

impl Chunk {
    const BLANK: Self = Self::of(Sector::BLANK);

    const fn of(whole: Sector) -> Self {
        Self { whole, mixed: None }
    }

    fn sectors(&self, from: usize, to: usize) -> impl Iterator<Item = Sector> {
        (from..to).map(move |index| self.mixed.as_ref().map_or(self.whole, |sectors| sectors[index]))
    }

    fn sectors_mut(&mut self) -> &mut [Sector; CHUNK_SECTORS as usize] {
        let whole = self.whole;
        self.mixed.get_or_insert_with(|| Box::new([whole; CHUNK_SECTORS as usize]))
    }

    fn is_all(&self, sector: Sector) -> bool {
        self.mixed.is_none() && self.whole == sector
    }
}

/// Literal sectors, with the places that are free again.
#[derive(Debug, Default, Clone)]
struct Store {
    sectors: Vec<[u8; SECTOR_BYTES]>,
    free: Vec<usize>,
}

impl Store {
    fn put(&mut self, bytes: &[u8; SECTOR_BYTES]) -> Sector {
        let place = self.free.pop().unwrap_or_else(|| {
            self.sectors.push([0; SECTOR_BYTES]);
            self.sectors.len() - 1
        });
        self.sectors[place] = *bytes;
        Sector::of_bytes(place)
    }

    fn release(&mut self, sectors: impl Iterator<Item = Sector>) {
        self.free.extend(sectors.filter_map(Sector::place));
    }
}

/// The seeds of the patterns seen, so that a sector names one in 31 bits.
#[derive(Debug, Default, Clone)]
struct Seeds {
    seeds: Vec<u64>,
    index_of: HashMap<u64, u32>,
    last: u32,
}

impl Seeds {
    fn sector(&mut self, pattern: Pattern) -> Sector {
        if self.seeds.get(self.last as usize) != Some(&pattern.seed) {
            let next = u32::try_from(self.seeds.len()).unwrap_or(u32::MAX >> 1);
            self.last = *self.index_of.entry(pattern.seed).or_insert(next);
            if self.last == next {
                self.seeds.push(pattern.seed);
            }
        }
        Sector::of_pattern(self.last, pattern.generation)
    }

    fn pattern(&self, sector: Sector) -> Option<Pattern> {
        let (index, generation) = sector.seed_index_and_generation()?;
        Some(Pattern { seed: self.seeds[index], generation })
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Contents {
    regions: Vec<Option<Box<[Chunk]>>>,
    store: Store,
    seeds: Seeds,
}

/// A run of sectors inside one chunk.
#[derive(Debug, Clone, Copy)]
struct Piece {
    chunk: u64,
    from: usize,
    to: usize,
}

/// The pieces of a range, chunk by chunk.
fn pieces(range: ByteRange) -> impl Iterator<Item = Piece> {
    let (mut next, end) = (range.offset.sectors().0, range.end().sectors().0);
    std::iter::from_fn(move || {
        let (chunk, from) = (next / CHUNK_SECTORS, next % CHUNK_SECTORS);
        let to = (from + end.saturating_sub(next)).min(CHUNK_SECTORS);
        next = chunk * CHUNK_SECTORS + to;
        (from < to).then_some(Piece { chunk, from: index(from), to: index(to) })
    })
}

fn index(value: u64) -> usize {
    Bytes::new(value).to_usize()
}

impl Contents {
    pub(crate) fn new(capacity: Bytes) -> Self {
        let regions = capacity.get().div_ceil(REGION_CHUNKS * CHUNK_SECTORS * SECTOR.get());
        Self { regions: vec![None; index(regions)], store: Store::default(), seeds: Seeds::default() }
    }

    pub(crate) fn write_pattern(&mut self, range: ByteRange, pattern: Pattern) {
        let sector = self.seeds.sector(pattern);
        self.set(range, sector);
    }

    pub(crate) fn discard(&mut self, range: ByteRange) {
        self.set(range, Sector::BLANK);
    }

    /// Writes whole sectors; `bytes` is as long as the range.
    pub(crate) fn write_bytes(&mut self, range: ByteRange, bytes: &[u8]) {
        let (mut blocks, _) = bytes.as_chunks::<SECTOR_BYTES>();
        for piece in pieces(range) {
            let (now, later) = blocks.split_at(piece.to - piece.from);
            blocks = later;
            let chunk = chunk_mut(&mut self.regions, piece.chunk);
            self.store.release(chunk.sectors(piece.from, piece.to));
            for (sector, block) in chunk.sectors_mut()[piece.from..piece.to].iter_mut().zip(now) {
                *sector = self.store.put(block);
            }
        }
    }

    fn set(&mut self, range: ByteRange, sector: Sector) {
        for piece in pieces(range) {
            let chunk = chunk_mut(&mut self.regions, piece.chunk);
            self.store.release_chunk(chunk, piece);
            if piece.to - piece.from == index(CHUNK_SECTORS) {
                *chunk = Chunk::of(sector);
            } else if !chunk.is_all(sector) {
                chunk.sectors_mut()[piece.from..piece.to].fill(sector);
            }
        }
    }

    /// Holds a range against the pattern.
    pub(crate) fn check(&self, range: ByteRange, pattern: Pattern) -> CheckReport {
        let mut report = CheckReport::default();
        self.each(range, |lba, sector| {
            let state = self.state(lba, sector, pattern);
            report.count(lba, state);
        });
        report
    }

    /// Reads whole sectors; `bytes` is as long as the range.
    pub(crate) fn read(&self, range: ByteRange, bytes: &mut [u8]) {
        let (blocks, _) = bytes.as_chunks_mut::<SECTOR_BYTES>();
        let mut blocks = blocks.iter_mut();
        self.each(range, |lba, sector| {
            let Some(block) = blocks.next() else { return };
            match (self.seeds.pattern(sector), sector.place()) {
                (Some(pattern), _) => pattern.fill(lba, block),
                (None, Some(place)) => *block = self.store.sectors[place],
                (None, None) => block.fill(0),
            }
        });
    }

    fn state(&self, lba: Lba, sector: Sector, asked: Pattern) -> BlockState {
        match (self.seeds.pattern(sector), sector.place()) {
            (Some(held), _) if held == asked => BlockState::Right,
            (Some(held), _) if held.seed == asked.seed => BlockState::Stale { generation: held.generation },
            (Some(_), _) => BlockState::Corrupt,
            (None, Some(place)) => asked.identify(lba, &self.store.sectors[place]),
            (None, None) => BlockState::Blank { byte: 0 },
        }
    }

    fn each(&self, range: ByteRange, mut visit: impl FnMut(Lba, Sector)) {
        let never = Chunk::BLANK;
        for piece in pieces(range) {
            let (region, inside) = (index(piece.chunk / REGION_CHUNKS), index(piece.chunk % REGION_CHUNKS));
            let chunk = self.regions[region].as_ref().map_or(&never, |chunks| &chunks[inside]);
            let first = piece.chunk * CHUNK_SECTORS + piece.from as u64;
            for (lba, sector) in (first..).zip(chunk.sectors(piece.from, piece.to)) {
                visit(Lba(lba), sector);
            }
        }
    }
}

impl Store {
    /// Frees what a piece of a chunk holds, without looking at chunks that hold no bytes.
    fn release_chunk(&mut self, chunk: &Chunk, piece: Piece) {
        if let Some(sectors) = &chunk.mixed
            && !self.sectors.is_empty()
        {
            self.release(sectors[piece.from..piece.to].iter().copied());
        }
    }
}

fn chunk_mut(regions: &mut [Option<Box<[Chunk]>>], chunk: u64) -> &mut Chunk {
    let (region, inside) = (index(chunk / REGION_CHUNKS), index(chunk % REGION_CHUNKS));
    let blank = || vec![Chunk::BLANK; index(REGION_CHUNKS)].into_boxed_slice();
    &mut regions[region].get_or_insert_with(blank)[inside]
}
