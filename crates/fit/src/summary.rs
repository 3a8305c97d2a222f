//! Errors of many cells in three numbers.

use std::fmt;

use serde::Serialize;

/// How far simulated cells are from the measured ones.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize)]
pub struct Summary {
    /// How many cells were compared.
    pub cells: usize,
    /// Median of the absolute relative error, a fraction.
    pub median: f64,
    /// Its 90th percentile, a fraction.
    pub p90: f64,
}

impl Summary {
    /// The summary of these errors.
    #[must_use]
    pub fn of(errors: impl IntoIterator<Item = f64>) -> Self {
        let mut errors: Vec<f64> = errors.into_iter().collect();
        errors.sort_by(f64::total_cmp);
        Self { cells: errors.len(), median: quantile(&errors, 0.5), p90: quantile(&errors, 0.9) }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (median, p90) = (self.median * 100.0, self.p90 * 100.0);
        write!(formatter, "{:>4} cells, error {median:>5.1} % median, {p90:>5.1} % p90", self.cells)
    }
}

/// The quantile of sorted values, interpolated between neighbours (Hyndman and Fan 1996, definition 7); 0 for none.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an index into a few thousand cells"
)]
fn quantile(sorted: &[f64], fraction: f64) -> f64 {
    let position = fraction * sorted.len().saturating_sub(1) as f64;
    let below = sorted.get(position.floor() as usize).copied().unwrap_or(0.0);
    let above = sorted.get(position.ceil() as usize).copied().unwrap_or(below);
    below + (above - below) * position.fract()
}

/// The median; `None` of nothing.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    (!values.is_empty()).then(|| quantile(&values, 0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        let values = [0.0, 1.0, 2.0, 3.0];
        assert!((quantile(&values, 0.5) - 1.5).abs() < 1e-12);
        assert!((quantile(&values, 0.9) - 2.7).abs() < 1e-12);
        assert!(quantile(&[], 0.9).abs() < 1e-12);
    }
}
