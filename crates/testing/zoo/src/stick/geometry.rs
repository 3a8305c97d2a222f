//! Sizes: erase block, page, capacity, FAT area.

use flashscope_device::{Bytes, SECTOR};
use flashscope_sim::profile::{Basis, Ftl};

use super::era::Era;
use crate::draw::Draw;

/// The sizes of a stick.
#[derive(Debug, Clone, Copy)]
pub(super) struct Geometry {
    pub(super) era: Era,
    pub(super) erase_block: Bytes,
    pub(super) page: Bytes,
    pub(super) capacity: Bytes,
    pub(super) fat_area: Bytes,
}

/// The range of drawn erase blocks. Guess: wider than that of real sticks.
const ERASE_BLOCK_MIN: Bytes = Bytes::kib(64);
const ERASE_BLOCK_MAX: Bytes = Bytes::mib(256);
/// Guess: fewer pages than in any NAND erase block.
const PAGES_PER_BLOCK_MIN: u64 = 16;

/// Erase blocks of all but tiny sticks: a guess that leaves room for every experiment.
const BLOCKS_MIN: u64 = 256;
/// The share of sticks with 6 to 40 erase blocks. A guess.
const TINY_SHARE: f64 = 0.02;

impl Era {
    /// The range of log2 of the erase block in bytes, without its odd factor.
    const fn exponents(self) -> (u64, u64) {
        match self {
            Self::Early => (17, 19),
            Self::Middle => (19, 22),
            Self::Late => (22, 25),
            Self::Unusual => (14, 28),
        }
    }

    /// The range of log2 of the page in bytes, without its odd factor.
    const fn page_exponents(self) -> (u64, u64) {
        match self {
            Self::Early => (11, 14),
            Self::Middle => (13, 15),
            Self::Late => (14, 16),
            Self::Unusual => (12, 17),
        }
    }

    fn odd_factor(self, draw: &mut Draw) -> u64 {
        match self {
            Self::Early => 1,
            Self::Middle | Self::Late => draw.weighted(&[(0.72, 1), (0.22, 3), (0.03, 5), (0.03, 7)]),
            Self::Unusual => draw.weighted(&[(1.0, 1), (1.0, 3), (1.0, 5), (1.0, 7)]),
        }
    }

    /// The range of capacities, in MiB.
    const fn capacities_mib(self) -> (f64, f64) {
        match self {
            Self::Early => (240.0, 4000.0),
            Self::Middle => (1900.0, 31000.0),
            Self::Late | Self::Unusual => (7400.0, 62000.0),
        }
    }
}

impl Geometry {
    pub(super) fn sample(draw: &mut Draw) -> Self {
        let era = Era::sample(draw);
        let (odd, erase_block) = erase_block(era, draw);
        let page = page(era, odd, erase_block, draw);
        let capacity = capacity(era, erase_block, draw);
        Self { era, erase_block, page, capacity, fat_area: fat_area(erase_block, capacity, draw) }
    }

    /// Limits the capacity, but keeps at least `BLOCKS_MIN` erase blocks.
    pub(super) fn shrink_to(&mut self, capacity_max: Bytes) {
        let capacity_min = self.erase_block * BLOCKS_MIN;
        self.capacity = self.capacity.min(capacity_max.max(capacity_min)).round_down(self.erase_block);
    }

    pub(super) const fn ftl(&self) -> Ftl {
        Ftl { basis: Basis::Assumed, erase_block: self.erase_block, page: self.page, fat_area: self.fat_area }
    }
}

fn erase_block(era: Era, draw: &mut Draw) -> (u64, Bytes) {
    let (low, high) = era.exponents();
    loop {
        let odd = era.odd_factor(draw);
        let size = Bytes::new(odd << draw.uniform_integer(low, high));
        if (ERASE_BLOCK_MIN..=ERASE_BLOCK_MAX).contains(&size) {
            return (odd, size);
        }
    }
}

/// A page with an odd factor only in an erase block with the same factor: the block holds whole pages.
fn page(era: Era, odd: u64, erase_block: Bytes, draw: &mut Draw) -> Bytes {
    let factor = if odd != 1 && draw.bernoulli(0.4) { odd } else { 1 };
    let (low, high) = era.page_exponents();
    let mut page = Bytes::new(factor << draw.uniform_integer(low, high));
    while page * PAGES_PER_BLOCK_MIN > erase_block || !erase_block.is_multiple_of(page) {
        page = page / 2;
    }
    page.max(SECTOR)
}

/// Most capacities are whole erase blocks, the others multiples of 512 KiB.
fn capacity(era: Era, erase_block: Bytes, draw: &mut Draw) -> Bytes {
    if draw.bernoulli(TINY_SHARE) {
        return erase_block * draw.uniform_integer(6, 40);
    }
    let (low, high) = era.capacities_mib();
    let drawn = Bytes::new(truncated(draw.log_uniform(low, high) * Bytes::mib(1).as_f64()));
    let large_enough = drawn.max(erase_block * BLOCKS_MIN);
    if draw.bernoulli(0.8) {
        large_enough.round_up(erase_block)
    } else {
        large_enough.round_up(Bytes::kib(512))
    }
}

/// 60 % have none, the others the first 1 to 4 blocks, about 16 MiB at most.
fn fat_area(erase_block: Bytes, capacity: Bytes, draw: &mut Draw) -> Bytes {
    if draw.bernoulli(0.6) {
        return Bytes::ZERO;
    }
    let blocks_max = (Bytes::mib(16) / erase_block).clamp(1, 4).min(capacity / erase_block / 4);
    erase_block * draw.uniform_integer(1, blocks_max.max(1))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "drawn as a positive size")]
pub(super) const fn truncated(bytes: f64) -> u64 {
    bytes as u64
}
