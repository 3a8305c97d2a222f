//! Random offsets, stratified so that every part of an erase block comes equally often.
//!
//! The latency of a write depends on its offset in the erase block: the write that opens a block may take a
//! hundred times as long as the others. Among a few hundred uniformly drawn writes, openings are 10 % too
//! frequent or too rare. So the lower digits are stratified, as in a scrambled net of base two (A. Owen,
//! "Randomly permuted (t,m,s)-nets and (t,s)-sequences", 1995): within any block of a power of two,
//! successive indices take every offset once. The block itself is drawn uniformly.

use flashscope_device::Bytes;

use crate::session::Session;

/// The size of a stratum: no erase block or superblock is larger.
const STRATUM_MAX: Bytes = Bytes::mib(64);
/// A stratum is at most a 64th of all indices: those at the end that fill no whole stratum are left out.
const STRATA_MIN: u64 = 64;

/// A source of request indices, counted from 0.
#[derive(Debug)]
pub struct StratifiedIndices {
    strata: u64,
    /// A stratum holds 2^digits indices.
    digits: u32,
    /// Offsets in a stratum that are still to come, in requests.
    offsets: Vec<u64>,
}

impl StratifiedIndices {
    /// Indices below `count`, for requests of this size.
    pub fn new(count: u64, size: Bytes) -> Self {
        let stratum = (STRATUM_MAX / size).min(count / STRATA_MIN);
        let digits = stratum.checked_ilog2().unwrap_or(0);
        Self { strata: count >> digits, digits, offsets: Vec::new() }
    }

    /// The next index.
    pub fn next(&mut self, session: &mut Session<'_>) -> u64 {
        if self.offsets.is_empty() {
            self.offsets = offsets(self.digits, &mut || session.draw(2) == 1);
        }
        let offset = self.offsets.pop().unwrap_or(0);
        (session.draw(self.strata) << self.digits) + offset
    }
}

/// All numbers of `digits` binary digits, ordered so that every aligned run of 2^n of them takes all values
/// of the n lower digits.
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
    fn aligned_runs_take_every_lower_digit_once() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let stratified = offsets(10, &mut || random.next_u64() % 2 == 1);
        for digits in 0..=10 {
            for part in stratified.chunks(1 << digits) {
                let seen: BTreeSet<u64> = part.iter().map(|offset| offset % (1 << digits)).collect();
                assert_eq!(seen.len(), 1 << digits);
            }
        }
        let again = offsets(10, &mut || random.next_u64() % 2 == 1);
        assert_ne!(stratified, again);
        let sequential = stratified.windows(2).filter(|pair| pair[0] + 1 == pair[1]).count();
        assert!(sequential < 8, "{sequential} of 1023 are sequential");
    }

    #[test]
    fn nearly_all_indices_are_reachable_for_any_count() {
        for count in [1, 2, 63, 64, 65, 1000, 61_440, 3_200_000] {
            let indices = StratifiedIndices::new(count, Bytes::kib(64));
            let reached = indices.strata << indices.digits;
            assert!(reached <= count && reached + count / STRATA_MIN >= count, "{reached} of {count}");
            assert!(indices.digits <= 10);
        }
    }
}
