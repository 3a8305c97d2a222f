//! The sizes of pages and erase blocks: an odd factor times a power of two.

use flashscope_device::Bytes;

/// The odd factors: one; three, since TLC holds three bits a cell; five and seven, which cost little to
/// search for (the SD status register's AU codes; A. Bergmann, flashbench commit 4fb06b5).
pub const FACTORS: &[u64] = &[1, 3, 5, 7];

/// All sizes of these odd factors times 2^n sectors and more from `low` to `high`, ascending.
pub fn sizes(factors: &[u64], low: Bytes, high: Bytes) -> impl Iterator<Item = Bytes> + use<> {
    let mut sizes: Vec<Bytes> = factors
        .iter()
        .flat_map(|odd| (9..40).map(move |shift| Bytes::new(odd << shift)))
        .filter(|size| (low..=high).contains(size))
        .collect();
    sizes.sort_unstable();
    sizes.into_iter()
}

/// The odd factor of a size; 0 of size 0.
#[must_use]
pub fn odd_factor(size: Bytes) -> u64 {
    size.get().checked_shr(size.get().trailing_zeros()).unwrap_or(0)
}

/// The prior weight of a size that writes show and that is three times a power of two, which TLC makes common
/// and SD cards may state, relative to a power of two. Guess.
pub const OF_THREE: f64 = 0.2;

/// The prior weight of a size's odd factor relative to a power of two. Powers of two are the rule, three
/// times them less common; five and seven times were never seen.
#[must_use]
pub fn plausible(size: Bytes, three: f64, more: f64) -> f64 {
    match odd_factor(size) {
        1 => 1.0,
        3 => three,
        _ => more,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_ascend_and_have_the_factors_asked_for() {
        let kib = |factors| {
            sizes(factors, Bytes::kib(4), Bytes::kib(16)).map(|size| size / Bytes::kib(1)).collect::<Vec<_>>()
        };
        assert_eq!(kib(FACTORS), [4, 5, 6, 7, 8, 10, 12, 14, 16]);
        assert_eq!(kib(&[1]), [4, 8, 16]);
    }

    #[test]
    fn a_size_has_one_odd_factor() {
        let sizes = [Bytes::kib(1), Bytes::mib(24), Bytes::kib(100), Bytes::ZERO];
        assert_eq!(sizes.map(odd_factor), [1, 3, 25, 0]);
        assert_eq!(sizes.map(|size| plausible(size, 0.3, 0.05)), [1.0, 0.3, 0.05, 0.05]);
    }
}
