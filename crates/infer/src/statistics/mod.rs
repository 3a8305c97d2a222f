//! Small statistics that inferences, fits and reports share.

pub mod robust;

use flashscope_device::Bytes;

/// A count as a float. Counts of requests are far below 2^53, where this is exact.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of requests are far below 2^53")]
pub const fn count(number: usize) -> f64 {
    number as f64
}

/// A size that was reckoned with, to the byte; nothing where it is below zero.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sizes are below 2^60")]
pub const fn whole_bytes(bytes: f64) -> Bytes {
    Bytes::new(bytes.max(0.0).round() as u64)
}

/// What all but the quickest quarter take at least: a device that has become slow is slow in all but these, and one that stalls is not.
pub fn quickest_quarter(seconds: &[f64]) -> Option<f64> {
    quantile(seconds, 0.25)
}

/// The value below which the share `quantile` (0 to 1) of the values lies, interpolated between neighbours (R. Hyndman and Y.
/// Fan, The American Statistician 50, 1996, definition 7); `None` of nothing.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position inside the slice")]
pub fn quantile(values: &[f64], quantile: f64) -> Option<f64> {
    let mut finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let position = quantile.clamp(0.0, 1.0) * count(finite.len().checked_sub(1)?);
    // Only these two need to be at their place: whoever asks at each read need not sort all before.
    let (_, below, larger) = finite.select_nth_unstable_by(position as usize, f64::total_cmp);
    let above = larger.iter().copied().min_by(f64::total_cmp).unwrap_or(*below);
    Some(*below + (above - *below) * position.fract())
}

/// The median; `None` if empty.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The entropy of a coin that shows its face with this probability, nats.
#[must_use]
pub fn entropy(probability: f64) -> f64 {
    let part = |p: f64| if p <= 0.0 { 0.0 } else { -p * p.ln() };
    part(probability) + part(1.0 - probability)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_learned_from_a_coin_that_always_falls_alike() {
        assert_eq!([0.0, 1.0].map(entropy), [0.0; 2]);
        assert!((entropy(0.5) - std::f64::consts::LN_2).abs() < 1e-12);
    }

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(quantile(&[4.0, 1.0, 2.0, 3.0], 0.5), Some(2.5));
        assert_eq!(quantile(&[5.0], 0.9), Some(5.0));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
