//! Places here and there, drawn so that every part of an erase block comes as often as any other.
//!
//! What a write costs depends on where in an erase block it lies: the one that begins a block may take a hundred times as long as those
//! within. Drawn by chance alone, a few hundred writes meet such places by a tenth too often or too seldom. So the lower digits of the
//! places are dealt, as in a scrambled net of base two (A. Owen, "Randomly permuted (t,m,s)-nets and (t,s)-sequences", 1995): of as many
//! places as a block of any power of two holds, each lies at another offset in it. Which block it is, is drawn.

use flashscope_device::Bytes;

use crate::session::Session;

/// Offsets are dealt within so much: erase blocks and what is written to several chips at once are no larger,
const DEALT_WITHIN: Bytes = Bytes::mib(64);
/// nor within more than this share of the places, as those at the end that fill no whole one are left out.
const SHARE: u64 = 64;

/// Hands out places, counted from 0.
#[derive(Debug)]
pub struct Dealt {
    blocks: u64,
    digits: u32,
    /// Offsets that are still to come, in places.
    offsets: Vec<u64>,
}

impl Dealt {
    /// So many places of this size.
    pub fn new(places: u64, size: Bytes) -> Self {
        let within = (DEALT_WITHIN / size).min(places / SHARE);
        let digits = within.checked_ilog2().unwrap_or(0);
        Self { blocks: places >> digits, digits, offsets: Vec::new() }
    }

    /// The next place.
    pub fn next(&mut self, session: &mut Session<'_>) -> u64 {
        if self.offsets.is_empty() {
            self.offsets = offsets(self.digits, &mut || session.draw(2) == 1);
        }
        let offset = self.offsets.pop().unwrap_or(0);
        (session.draw(self.blocks) << self.digits) + offset
    }
}

/// The numbers of so many binary digits, in an order in which each 2^n that follow one another, from a multiple of 2^n on, have all values of
/// their n lower digits.
fn offsets(digits: u32, coin: &mut impl FnMut() -> bool) -> Vec<u64> {
    let Some(lower) = digits.checked_sub(1) else { return vec![0] };
    let (first, second) = (offsets(lower, coin), offsets(lower, coin));
    let upper: Vec<bool> = first.iter().map(|_| coin()).collect();
    let is_upper = |offset: &u64| usize::try_from(*offset).ok().and_then(|at| upper.get(at)) == Some(&true);
    let with = |offset: u64, is_upper: bool| offset + (u64::from(is_upper) << lower);
    let first = first.into_iter().map(|offset| with(offset, is_upper(&offset)));
    first.chain(second.into_iter().map(|offset| with(offset, !is_upper(&offset)))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand_core::{Rng as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn every_part_of_every_block_comes_as_often_as_any_other() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let dealt = offsets(10, &mut || random.next_u64() % 2 == 1);
        for digits in 0..=10 {
            for part in dealt.chunks(1 << digits) {
                let seen: BTreeSet<u64> = part.iter().map(|offset| offset % (1 << digits)).collect();
                assert_eq!(seen.len(), 1 << digits);
            }
        }
        let again = offsets(10, &mut || random.next_u64() % 2 == 1);
        assert_ne!(dealt, again);
        let in_order = dealt.windows(2).filter(|pair| pair[0] + 1 == pair[1]).count();
        assert!(in_order < 8, "{in_order} of 1023 follow the one before");
    }

    #[test]
    fn nearly_all_places_can_come_however_few_there_are() {
        for places in [1, 2, 63, 64, 65, 1000, 61_440, 3_200_000] {
            let dealt = Dealt::new(places, Bytes::kib(64));
            let reached = dealt.blocks << dealt.digits;
            assert!(reached <= places && reached + places / SHARE >= places, "{reached} of {places}");
            assert!(dealt.digits <= 10);
        }
    }
}
