//! The sizes at which reads may show a boundary, with their priors.

use flashscope_device::Bytes;

use crate::geometry::boundary::limits::{ERASE_BLOCK_MAX, ERASE_BLOCK_MIN};
use crate::geometry::staircase::Level;
use crate::method::Method;
use crate::sizes::{plausible, sizes};
use crate::thresholds::REPEATED;

/// The largest page: of several chips and planes together. Guess.
const PAGE_MAX: Bytes = Bytes::kib(512);
/// A page and the larger one of several planes differ by these factors: two, four or eight planes and chips.
const PLANES: [u64; 3] = [2, 4, 8];
/// The fewest pages of an erase block: 16 of 512 bytes in the first NAND, hundreds today.
pub(super) const PAGES_PER_BLOCK_MIN: u64 = 16;

/// The pages' levels of all explanations: none, one, or a page and several planes' together.
pub(super) fn page_sets(candidates: &[Bytes], method: Method) -> Vec<Vec<Level>> {
    let smallest = candidates.first().copied().unwrap_or(Bytes::ZERO);
    let single: Vec<Level> = sizes(method.factors(), smallest, PAGE_MAX)
        .flat_map(|size| {
            let plane = size > smallest;
            [Some(Level::Multiples(size)), plane.then_some(Level::OddMultiples(size))]
        })
        .flatten()
        .collect();
    let larger = |small: Bytes| {
        single
            .iter()
            .copied()
            .filter(move |large| PLANES.iter().any(|planes| large.size() == small * *planes))
    };
    let pairs = single
        .iter()
        .filter(|level| matches!(level, Level::Multiples(_)))
        .flat_map(|small| larger(small.size()).map(|large| vec![*small, large]));
    std::iter::once(Vec::new()).chain(single.iter().map(|level| vec![*level])).chain(pairs).collect()
}

/// The erase blocks of all explanations.
pub(super) fn blocks(candidates: &[Bytes], method: Method) -> Vec<Level> {
    let shown = |size: &Bytes| candidates.iter().filter(|candidate| candidate.is_multiple_of(*size)).count();
    sizes(method.factors(), ERASE_BLOCK_MIN, ERASE_BLOCK_MAX)
        .filter(|size| shown(size) >= REPEATED)
        .map(Level::Multiples)
        .collect()
}

/// The prior weight of a page of this size. Pages of 2 to 32 KiB are on data sheets; several planes and chips
/// written as one make larger ones.
pub(super) fn page_prior(level: Level) -> f64 {
    let size = level.size();
    let by_size = match size {
        size if size <= Bytes::kib(64) => 1.0,
        size if size <= Bytes::kib(128) => 0.5,
        _ => 0.15,
    };
    by_size * odd_prior(size)
}

/// The prior weight of an erase block of this size: 128 KiB on the first cards, 512 KiB to 32 MiB on most.
pub(super) fn block_prior(level: Level) -> f64 {
    let size = level.size();
    let by_size = match size {
        size if size < Bytes::kib(128) => 0.1,
        size if size < Bytes::kib(512) => 0.4,
        size if size <= Bytes::mib(32) => 1.0,
        _ => 0.3,
    };
    by_size * odd_prior(size)
}

/// TLC makes three times a power of two common; five and seven times cost little to search for.
fn odd_prior(size: Bytes) -> f64 {
    plausible(size, 0.3, 0.05)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_up_to_64_kib_are_the_rule_and_above_128_kib_the_exception() {
        let prior = |kib: u64| page_prior(Level::Multiples(Bytes::kib(kib)));
        assert_eq!([2, 32, 64].map(prior), [1.0; 3]);
        assert!(prior(64) > prior(128) && prior(128) > prior(256), "{} {}", prior(128), prior(256));
        assert!(prior(256) > 0.0 && prior(48) < prior(64) && prior(40) < prior(48));
    }

    #[test]
    fn erase_blocks_of_512_kib_to_32_mib_are_the_rule() {
        let prior = |kib: u64| block_prior(Level::Multiples(Bytes::kib(kib)));
        assert_eq!([512, 4096, 32 * 1024].map(prior), [1.0; 3]);
        assert!(prior(256) < prior(512) && prior(64 * 1024) < prior(32 * 1024));
        assert!(prior(64) < prior(128), "the first cards had blocks of 128 KiB");
    }
}
