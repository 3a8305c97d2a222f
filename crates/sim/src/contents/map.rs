//! The map from offsets to sectors, by region and chunk.

use std::ops::Range;

use flashscope_device::{BlockState, ByteRange, Bytes, CheckReport, Lba, Pattern, SECTOR};

use super::sector::{CHUNK_PAGES, CHUNK_SECTORS, Chunk, PAGE_SECTORS, PagePart, Sector, page_parts};
use super::store::{SECTOR_BYTES, Seeds, Store};

const CHUNK: u64 = CHUNK_SECTORS as u64;
const REGION_CHUNKS: u64 = 256;

/// A range of sectors inside one chunk.
#[derive(Debug, Clone)]
struct ChunkPart {
    chunk: u64,
    sectors: Range<usize>,
}

/// The parts of a range, chunk by chunk.
fn chunk_parts(range: ByteRange) -> impl Iterator<Item = ChunkPart> {
    let (mut next, end) = (range.offset.sectors().0, range.end().sectors().0);
    std::iter::from_fn(move || {
        let chunk = next / CHUNK;
        let from = next % CHUNK;
        let to = CHUNK.min(from + end.saturating_sub(next));
        next = chunk * CHUNK + to;
        (from < to).then_some(ChunkPart { chunk, sectors: index(from)..index(to) })
    })
}

/// The contents of a stick.
#[derive(Debug, Clone)]
pub(crate) struct Contents {
    regions: Vec<Option<Box<[Chunk]>>>,
    store: Store,
    seeds: Seeds,
}

fn index(value: u64) -> usize {
    Bytes::new(value).to_usize()
}

impl Contents {
    pub(crate) fn new(capacity: Bytes) -> Self {
        let regions = capacity.get().div_ceil(REGION_CHUNKS * CHUNK * SECTOR.get());
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
        let (blocks, _) = bytes.as_chunks::<SECTOR_BYTES>();
        let mut blocks = blocks.iter();
        for part in chunk_parts(range) {
            let pages = chunk_mut(&mut self.regions, part.chunk).pages_mut();
            for page_part in page_parts(part.sectors) {
                self.store.replace(&mut pages[page_part.page], page_part.sectors, |store| {
                    blocks.next().map_or(Sector::BLANK, |block| store.put(block))
                });
            }
        }
    }

    fn set(&mut self, range: ByteRange, sector: Sector) {
        for part in chunk_parts(range) {
            let chunk = chunk_mut(&mut self.regions, part.chunk);
            if part.sectors.len() == CHUNK_SECTORS {
                self.store.release_chunk(chunk);
                *chunk = Chunk::of(sector);
            } else if !chunk.is_all(sector) {
                set_pages(chunk.pages_mut(), &mut self.store, part.sectors, sector);
            }
        }
    }

    /// Compares a range with the pattern.
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
            match (self.seeds.pattern(sector), sector.index()) {
                (Some(pattern), _) => pattern.fill(lba, block),
                (None, Some(index)) => *block = *self.store.get(index),
                (None, None) => block.fill(0),
            }
        });
    }

    /// True if a read would return only zeros.
    pub(crate) fn is_blank(&self, range: ByteRange) -> bool {
        let mut blank = true;
        self.each(range, |_, sector| blank &= sector == Sector::BLANK);
        blank
    }

    fn state(&self, lba: Lba, sector: Sector, expected: Pattern) -> BlockState {
        match (self.seeds.pattern(sector), sector.index()) {
            (Some(held), _) if held == expected => BlockState::Right,
            (Some(held), _) if held.seed == expected.seed => {
                BlockState::Stale { generation: held.generation }
            }
            (Some(_), _) => BlockState::Corrupt,
            (None, Some(index)) => expected.identify(lba, self.store.get(index)),
            (None, None) => BlockState::Blank { byte: 0 },
        }
    }

    fn each(&self, range: ByteRange, mut visit: impl FnMut(Lba, Sector)) {
        let blank = Chunk::BLANK;
        for part in chunk_parts(range) {
            let (region, inside) = (index(part.chunk / REGION_CHUNKS), index(part.chunk % REGION_CHUNKS));
            let chunk = self.regions[region].as_ref().map_or(&blank, |chunks| &chunks[inside]);
            let first = part.chunk * CHUNK + part.sectors.start as u64;
            let sectors = page_parts(part.sectors).flat_map(|PagePart { page, sectors }| {
                let page = chunk.page(page);
                sectors.map(move |sector| self.store.sector(page, sector))
            });
            for (lba, sector) in (first..).zip(sectors) {
                visit(Lba(lba), sector);
            }
        }
    }
}

/// Sets a range of sectors of a chunk to the same contents.
fn set_pages(pages: &mut [Sector; CHUNK_PAGES], store: &mut Store, sectors: Range<usize>, sector: Sector) {
    for part in page_parts(sectors) {
        let page = &mut pages[part.page];
        if part.sectors.len() == PAGE_SECTORS {
            store.release(*page);
            *page = sector;
        } else if *page != sector {
            store.replace(page, part.sectors, |_| sector);
        }
    }
}

fn chunk_mut(regions: &mut [Option<Box<[Chunk]>>], chunk: u64) -> &mut Chunk {
    let (region, inside) = (index(chunk / REGION_CHUNKS), index(chunk % REGION_CHUNKS));
    let blank = || vec![Chunk::BLANK; index(REGION_CHUNKS)].into_boxed_slice();
    &mut regions[region].get_or_insert_with(blank)[inside]
}
