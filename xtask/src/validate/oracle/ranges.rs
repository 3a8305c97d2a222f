//! Random ranges of requests: all sizes and alignments, sequential runs, and a hot region.

use flashscope_device::{ByteRange, Bytes, SECTOR};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Random ranges of one stick, in sectors.
#[derive(Debug)]
pub struct Ranges {
    random: Xoshiro256PlusPlus,
    sectors: u64,
    page_sectors: u64,
    last_end: u64,
}

impl Ranges {
    pub fn new(seed: u64, capacity: Bytes, page: Bytes) -> Self {
        Self {
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            sectors: capacity.sectors().0,
            page_sectors: page.sectors().0,
            last_end: 0,
        }
    }

    /// A number below `count`.
    pub fn below(&mut self, count: u64) -> u64 {
        self.random.next_u64() % count
    }

    /// A random number for decisions other than ranges.
    pub fn seed(&mut self) -> u64 {
        self.random.next_u64()
    }

    /// A random range of the stick.
    pub fn range(&mut self) -> ByteRange {
        let start = self.start();
        let length = self.length().min(self.sectors - start);
        self.last_end = start + length;
        ByteRange::new(SECTOR * start, SECTOR * length)
    }

    fn start(&mut self) -> u64 {
        let start = match self.below(8) {
            0 | 1 => self.last_end,
            2 | 3 => self.below(self.sectors / self.page_sectors) * self.page_sectors,
            4 => self.below(self.sectors / 16),
            _ => self.below(self.sectors),
        };
        if start < self.sectors { start } else { 0 }
    }

    /// Sectors of a request: at most 8 for half of them, at most 4096 (2 MiB) for one of 256.
    fn length(&mut self) -> u64 {
        match self.below(256) {
            0 => 1 + self.below(4096),
            1..=16 => self.page_sectors,
            17..=48 => 1 + self.below(256),
            49..=120 => 1 + self.below(32),
            _ => 1 + self.below(8),
        }
    }
}
