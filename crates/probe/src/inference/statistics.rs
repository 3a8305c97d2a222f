//! Small statistics that several inferences share.

/// A count as a float. Counts of requests are far below 2^53, where this is exact.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of requests are far below 2^53")]
pub const fn count(number: usize) -> f64 {
    number as f64
}

/// The value below which the share `quantile` (0 to 1) of the values lies, by linear interpolation; `None` if empty.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position inside the slice")]
pub fn quantile(values: &[f64], quantile: f64) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let position = quantile.clamp(0.0, 1.0) * count(last);
    let below = position as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (sorted[above] - sorted[below]) * (position - count(below)))
}

/// The median; `None` if empty.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The standard error of the median of equally noisy values, from their median absolute deviation: 1.4826 MAD is the
/// standard deviation of a normal distribution, and the median's error is 1.2533 of the mean's (P. Huber, "Robust
/// Statistics", 1981). Zero for fewer than two values.
#[must_use]
pub fn standard_error_of_median(values: &[f64]) -> f64 {
    let Some(middle) = median(values) else { return 0.0 };
    let deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    1.2533 * 1.4826 * median(&deviations).unwrap_or(0.0) / count(values.len()).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(quantile(&[4.0, 1.0, 2.0, 3.0], 0.5), Some(2.5));
        assert_eq!(quantile(&[5.0], 0.9), Some(5.0));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn one_outlier_does_not_move_the_error() {
        let calm = standard_error_of_median(&[1.0, 1.1, 0.9, 1.05, 0.95]);
        let wild = standard_error_of_median(&[1.0, 1.1, 0.9, 1.05, 95.0]);
        assert!(wild < calm * 2.0, "{calm} {wild}");
    }
}
