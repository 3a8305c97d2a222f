//! A figure that was measured in several rounds: its median and interval.

use crate::statistics::{count, median};
use crate::thresholds::NO_DIFFERENCE;

/// The probability that the interval of a median holds the true one, from five rounds on. With fewer, the
/// interval is all that was seen: 3/4 with three rounds, 7/8 with four.
const COVERED: f64 = 0.93;

/// A figure over all rounds: the median and an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The median of the rounds.
    pub median: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Spread {
    /// The median, least and greatest figure; `None` without one.
    #[must_use]
    pub fn of(figures: impl Iterator<Item = f64>) -> Option<Self> {
        let figures: Vec<f64> = figures.filter(|figure| figure.is_finite()).collect();
        let median = median(&figures)?;
        let low = figures.iter().copied().fold(f64::INFINITY, f64::min);
        let high = figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some(Self { median, low, high })
    }
}

/// Whether further rounds would change the interval little.
pub fn is_narrow(interval: &Spread) -> bool {
    interval.high <= interval.low * NO_DIFFERENCE
}

/// The median and its interval by order statistics (H. David and H. Nagaraja, "Order Statistics", 7.1): at
/// either end as many figures are left out as keep the true median inside with probability [`COVERED`].
pub fn around_median(figures: &[f64]) -> Option<Spread> {
    let mut sorted: Vec<f64> = figures.iter().copied().filter(|figure| figure.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let median = median(&sorted)?;
    let left_out = left_out(sorted.len());
    Some(Spread { median, low: *sorted.get(left_out)?, high: *sorted.get(sorted.len() - 1 - left_out)? })
}

/// The number of figures that lie outside the interval at either end.
fn left_out(figures: usize) -> usize {
    let (mut outside, mut term) = (0.0, 0.5_f64.powi(i32::try_from(figures).unwrap_or(i32::MAX)));
    for index in 0..figures / 2 {
        outside += 2.0 * term;
        if 1.0 - outside < COVERED {
            return index.saturating_sub(1);
        }
        term *= count(figures - index) / count(index + 1);
    }
    (figures / 2).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_many_rounds_leaves_out_single_outliers() {
        assert_eq!([1, 2, 3, 5, 7, 8, 9, 12].map(left_out), [0, 0, 0, 0, 0, 0, 1, 2]);
        let seen = [1.0, 1.0, 1.1, 9.0, 1.0, 1.0, 1.0, 1.1, 1.0];
        let spread = around_median(&seen).unwrap();
        assert!((spread.low - 1.0).abs() < 1e-9 && (spread.high - 1.1).abs() < 1e-9, "{spread:?}");
    }
}
