//! Small statistics that inference, fits and reports share.

pub mod robust;

use flashscope_device::Bytes;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A count as a float. Counts of requests are far below 2^53, where this is exact.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of requests are far below 2^53")]
pub const fn count(number: usize) -> f64 {
    number as f64
}

/// A computed size in whole bytes; 0 if it is negative.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sizes are below 2^60")]
pub const fn whole_bytes(bytes: f64) -> Bytes {
    Bytes::new(bytes.max(0.0).round() as u64)
}

/// The lower quartile: a slow device is slow in all but its fastest quarter, a device that stalls is not.
pub fn lower_quartile(seconds: &[f64]) -> Option<f64> {
    quantile(seconds, 0.25)
}

/// The value below which the share `quantile` (0 to 1) of the values lies, interpolated between neighbours
/// (R. Hyndman and Y. Fan, The American Statistician 50, 1996, definition 7); `None` of nothing.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position inside the slice")]
pub fn quantile(values: &[f64], quantile: f64) -> Option<f64> {
    let mut finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let position = quantile.clamp(0.0, 1.0) * count(finite.len().checked_sub(1)?);
    // Only these two need to be in order: callers ask after each read, and sorting all would be slow.
    let (_, below, larger) = finite.select_nth_unstable_by(position as usize, f64::total_cmp);
    let above = larger.iter().copied().min_by(f64::total_cmp).unwrap_or(*below);
    Some(*below + (above - *below) * position.fract())
}

/// The median; `None` if empty.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Spearman's rank correlation of pairs (C. Spearman, 1904); equal values share their rank. Zero if all
/// values of either side are equal.
#[must_use]
pub fn rank_correlation(one: &[f64], other: &[f64]) -> f64 {
    let middle = (count(one.len()) - 1.0) / 2.0;
    let deviations = |values: &[f64]| -> Vec<f64> { ranks(values).map(|rank| rank - middle).collect() };
    let (one, other) = (deviations(one), deviations(other));
    let product = |first: &[f64], second: &[f64]| first.iter().zip(second).map(|(a, b)| a * b).sum::<f64>();
    let scale = (product(&one, &one) * product(&other, &other)).sqrt();
    if scale > 0.0 { product(&one, &other) / scale } else { 0.0 }
}

/// How many values are smaller than each one, and half of the others that are equal.
fn ranks(values: &[f64]) -> impl Iterator<Item = f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    values.iter().map(move |value| {
        let smaller = sorted.partition_point(|other| other < value);
        let equal = sorted.partition_point(|other| other <= value).saturating_sub(smaller);
        count(smaller) + (count(equal) - 1.0) / 2.0
    })
}

/// The quantile of Student's t distribution with this many degrees of freedom; NaN if these are not positive.
#[must_use]
pub fn student_quantile(freedom: f64, probability: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |student| student.inverse_cdf(probability))
}

/// The probability that a variable of Student's t distribution lies within ± `errors`.
#[must_use]
pub fn student_within(freedom: f64, errors: f64) -> f64 {
    if !errors.is_finite() {
        return 1.0;
    }
    StudentsT::new(0.0, 1.0, freedom).map_or(0.0, |student| 2.0 * student.cdf(errors.abs()) - 1.0)
}

/// The entropy of a yes-or-no question with this probability of yes, nats.
#[must_use]
pub fn entropy(probability: f64) -> f64 {
    let part = |p: f64| if p <= 0.0 { 0.0 } else { -p * p.ln() };
    part(probability) + part(1.0 - probability)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certain_answer_has_no_entropy() {
        assert_eq!([0.0, 1.0].map(entropy), [0.0; 2]);
        assert!((entropy(0.5) - std::f64::consts::LN_2).abs() < 1e-12);
    }

    #[test]
    fn student_quantiles_match_the_tables() {
        assert!((student_quantile(11.0, 0.975) - 2.200_985).abs() < 1e-6);
        assert!((student_within(11.0, 2.200_985) - 0.95).abs() < 1e-6);
        assert!(student_within(11.0, f64::INFINITY) >= 1.0);
    }

    #[test]
    fn ties_share_their_rank() {
        let of_order = |values: &[f64]| rank_correlation(values, &[0.0, 1.0, 2.0, 3.0][..values.len()]);
        assert!(of_order(&[1.0, 1.0, 1.0]).abs() < 1e-12);
        assert!((of_order(&[1.0, 2.0, 5.0]) - 1.0).abs() < 1e-12);
        assert!((of_order(&[5.0, 2.0, 2.0, 1.0]) + 0.948_683_298).abs() < 1e-6);
    }

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(quantile(&[4.0, 1.0, 2.0, 3.0], 0.5), Some(2.5));
        assert_eq!(quantile(&[5.0], 0.9), Some(5.0));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
