//! Factors and shares of whole numbers.

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
