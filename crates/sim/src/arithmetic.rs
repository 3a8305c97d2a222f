//! Arithmetic on whole numbers of bytes, pages and nanoseconds.

/// Nanoseconds of a profile's microseconds; the profile's check keeps them in range.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked by the profile")]
pub(crate) fn nanoseconds(microseconds: f64) -> u64 {
    (microseconds * 1e3).round() as u64
}

/// `count` times a positive factor, rounded.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a time or a size needs no more than 53 bits, and a cast saturates"
)]
pub(crate) fn times(count: u64, factor: f64) -> u64 {
    (count as f64 * factor).round() as u64
}

/// `whole` times `part / of`, without overflow; `part` is at most `of`, and `of` is not 0.
#[expect(clippy::cast_possible_truncation, reason = "part is at most of, so the result is at most whole")]
pub(crate) const fn share(whole: u64, part: u64, of: u64) -> u64 {
    (whole as u128 * part as u128 / of as u128) as u64
}

/// The number of pages that overlap the bytes from `start` to `end`.
pub(crate) const fn pages_touched(start: u64, end: u64, page_bytes: u64) -> u64 {
    end.div_ceil(page_bytes) - start / page_bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;

    #[test]
    fn partly_covered_pages_are_counted() {
        let touched = [(0, 32), (0, 120), (120, 240), (31, 33), (16, 24)]
            .map(|(start, end)| pages_touched(start * KIB, end * KIB, 32 * KIB));
        assert_eq!(touched, [1, 4, 5, 2, 1]);
    }
}
