//! A summary of errors: count, median, 90th percentile.

use std::fmt;

use flashscope_infer::statistics;
use serde::Serialize;

/// The errors of simulated cells against the measured ones.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize)]
pub struct Summary {
    /// The number of compared cells.
    pub cells: usize,
    /// The median of the absolute relative error, a fraction.
    pub median: f64,
    /// Its 90th percentile, a fraction.
    pub p90: f64,
}

impl Summary {
    /// The summary of these errors.
    #[must_use]
    pub fn of(errors: impl IntoIterator<Item = f64>) -> Self {
        let errors: Vec<f64> = errors.into_iter().collect();
        let at = |share| statistics::quantile(&errors, share).unwrap_or(0.0);
        Self { cells: errors.len(), median: at(0.5), p90: at(0.9) }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (median, p90) = (self.median * 100.0, self.p90 * 100.0);
        write!(formatter, "{:>4} cells, error {median:>5.1} % median, {p90:>5.1} % p90", self.cells)
    }
}

/// The median; `None` without values.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    statistics::median(&values.into_iter().collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_has_count_median_and_p90() {
        let summary = Summary::of([3.0, 0.0, 2.0, 1.0]);
        assert_eq!((summary.cells, summary.median), (4, 1.5));
        assert!((summary.p90 - 2.7).abs() < 1e-12);
        assert_eq!(Summary::of([]), Summary::default());
    }

    #[test]
    fn errors_are_shown_in_per_cent() {
        let summary = Summary { cells: 12, median: 0.042, p90: 0.305 };
        assert_eq!(summary.to_string(), "  12 cells, error   4.2 % median,  30.5 % p90");
    }
}
