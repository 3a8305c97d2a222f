//! Sizes: erase block, page, capacity, FAT area.

use flashscope_device::{Bytes, SECTOR};

use super::size;
use crate::draw::Draw;

/// When a stick may have been made; sizes and speeds go with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Age {
    /// About 2004 to 2008.
    Old,
    /// About 2009 to 2013.
    Middle,
    /// Later.
    Late,
    /// Anything that could be thought of.
    Odd,
}

/// The sizes of a stick.
#[derive(Debug, Clone, Copy)]
pub(super) struct Geometry {
    pub(super) age: Age,
    pub(super) erase_block: Bytes,
    pub(super) page: Bytes,
    pub(super) capacity: Bytes,
    pub(super) fat_area: Bytes,
}

const ERASE_BLOCK_MIN: Bytes = Bytes::kib(64);
const ERASE_BLOCK_MAX: Bytes = Bytes::mib(256);
const PAGES_PER_BLOCK_MIN: u64 = 16;

/// So many erase blocks at least, so that there is room to try things; a few sticks have less.
const BLOCKS_MIN: u64 = 256;
const TINY_SHARE: f64 = 0.02;

impl Age {
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Old => "as of 2004 to 2008",
            Self::Middle => "as of 2009 to 2013",
            Self::Late => "as of 2014 and later",
            Self::Odd => "of any size that could be",
        }
    }

    /// Exponents of two of the erase block, before its odd factor.
    const fn exponents(self) -> (u64, u64) {
        match self {
            Self::Old => (17, 19),
            Self::Middle => (19, 22),
            Self::Late => (22, 25),
            Self::Odd => (14, 28),
        }
    }

    /// Exponents of two of the page, before its odd factor.
    const fn page_exponents(self) -> (u64, u64) {
        match self {
            Self::Old => (11, 14),
            Self::Middle => (13, 15),
            Self::Late => (14, 16),
            Self::Odd => (12, 17),
        }
    }

    fn odd_factor(self, draw: &mut Draw) -> u64 {
        match self {
            Self::Old => 1,
            Self::Middle | Self::Late => draw.weighted(&[(0.72, 1), (0.22, 3), (0.03, 5), (0.03, 7)]),
            Self::Odd => draw.weighted(&[(1.0, 1), (1.0, 3), (1.0, 5), (1.0, 7)]),
        }
    }

    /// Capacities as sold, in MiB.
    const fn capacities_mib(self) -> (f64, f64) {
        match self {
            Self::Old => (240.0, 4000.0),
            Self::Middle => (1900.0, 31000.0),
            Self::Late | Self::Odd => (7400.0, 62000.0),
        }
    }
}

impl Geometry {
    pub(super) fn draw(draw: &mut Draw) -> Self {
        let age =
            draw.weighted(&[(0.15, Age::Old), (0.45, Age::Middle), (0.25, Age::Late), (0.15, Age::Odd)]);
        let (odd, erase_block) = erase_block(age, draw);
        let page = page(age, odd, erase_block, draw);
        let capacity = capacity(age, erase_block, draw);
        Self { age, erase_block, page, capacity, fat_area: fat_area(erase_block, capacity, draw) }
    }

    /// Makes the stick no larger than this, as long as it keeps enough erase blocks.
    pub(super) fn shrink_to(&mut self, most: Bytes) {
        let least = self.erase_block * BLOCKS_MIN;
        self.capacity = self.capacity.min(most.max(least)).round_down(self.erase_block);
    }

    pub(super) fn toml(&self) -> String {
        format!(
            "\n[ftl]\nbasis = \"assumed\"\nerase_block = {}\npage = {}\nfat_area = {}\n",
            size(self.erase_block),
            size(self.page),
            size(self.fat_area)
        )
    }
}

fn erase_block(age: Age, draw: &mut Draw) -> (u64, Bytes) {
    let (low, high) = age.exponents();
    loop {
        let odd = age.odd_factor(draw);
        let size = Bytes::new(odd << draw.whole(low, high));
        if (ERASE_BLOCK_MIN..=ERASE_BLOCK_MAX).contains(&size) {
            return (odd, size);
        }
    }
}

/// A page of 3 x 2^n only in an erase block of three: the block holds whole pages.
fn page(age: Age, odd: u64, erase_block: Bytes, draw: &mut Draw) -> Bytes {
    let factor = if odd != 1 && draw.chance(0.4) { odd } else { 1 };
    let (low, high) = age.page_exponents();
    let mut page = Bytes::new(factor << draw.whole(low, high));
    while page * PAGES_PER_BLOCK_MIN > erase_block || !erase_block.is_multiple_of(page) {
        page = page / 2;
    }
    page.max(SECTOR)
}

/// Most sticks hold whole erase blocks; some hold what was printed on them.
fn capacity(age: Age, erase_block: Bytes, draw: &mut Draw) -> Bytes {
    if draw.chance(TINY_SHARE) {
        return erase_block * draw.whole(6, 40);
    }
    let (low, high) = age.capacities_mib();
    let drawn = Bytes::new(whole(draw.log_between(low, high) * Bytes::mib(1).as_f64()));
    let enough = drawn.max(erase_block * BLOCKS_MIN);
    if draw.chance(0.8) { enough.round_up(erase_block) } else { enough.round_up(Bytes::kib(512)) }
}

/// None on most; else the first blocks, up to 16 MiB of them or one.
fn fat_area(erase_block: Bytes, capacity: Bytes, draw: &mut Draw) -> Bytes {
    if draw.chance(0.6) {
        return Bytes::ZERO;
    }
    let most = (Bytes::mib(16) / erase_block).clamp(1, 4).min(capacity / erase_block / 4);
    erase_block * draw.whole(1, most.max(1))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "drawn as a positive size")]
pub(super) const fn whole(bytes: f64) -> u64 {
    bytes as u64
}
