//! Calibration: claimed confidence compared with the observed share of correct findings.

use flashscope_record::finding::Finding;
use serde::Serialize;

use super::judge::Verdict;
use super::shares::part;

/// Findings of similar confidence.
#[derive(Debug, Clone, Serialize)]
pub struct Bin {
    /// The lowest confidence, inclusive.
    pub from: f64,
    /// The highest confidence, exclusive.
    pub to: f64,
    /// The number of findings.
    pub count: u64,
    /// Their mean confidence.
    pub claimed: f64,
    /// The share whose interval holds the truth.
    pub observed: f64,
    /// Lower end of its 95 % interval (Wilson, JASA 22, 1927).
    pub observed_low: f64,
    /// Its upper end.
    pub observed_high: f64,
}

/// Bounds of the bins, finer towards 1. No confidence reaches 1. Guess.
const BOUNDS: [f64; 8] = [0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0];

/// The findings with a value, in bins of confidence. Empty bins are left out.
pub fn bins<'a>(judged: impl Iterator<Item = (&'a Finding, Verdict)>) -> Vec<Bin> {
    let found: Vec<(f64, bool)> = judged
        .filter(|(_, verdict)| verdict.is_found())
        .map(|(finding, verdict)| (finding.confidence().get(), verdict.is_covered()))
        .collect();
    BOUNDS.windows(2).filter_map(|bounds| bin(&found, bounds[0], bounds[1])).collect()
}

fn bin(found: &[(f64, bool)], from: f64, to: f64) -> Option<Bin> {
    let inside: Vec<(f64, bool)> =
        found.iter().filter(|(confidence, _)| (from..to).contains(confidence)).copied().collect();
    if inside.is_empty() {
        return None;
    }
    let covered = inside.iter().filter(|(_, covered)| *covered).count();
    let (observed_low, observed_high) = wilson(covered, inside.len());
    Some(Bin {
        from,
        to,
        count: inside.len() as u64,
        claimed: inside.iter().map(|(confidence, _)| confidence * part(1, inside.len())).sum(),
        observed: part(covered, inside.len()),
        observed_low,
        observed_high,
    })
}

/// The 95 % interval of a share (E. Wilson, "Probable inference, the law of succession, and statistical
/// inference", JASA 22, 1927).
#[expect(clippy::cast_precision_loss, reason = "counts of a zoo are small")]
fn wilson(count: usize, all: usize) -> (f64, f64) {
    const Z: f64 = 1.959_964;
    let (total, share) = (all as f64, part(count, all));
    let middle = share + Z * Z / (2.0 * total);
    let half = Z * (share * (1.0 - share) / total + Z * Z / (4.0 * total * total)).sqrt();
    let scale = 1.0 + Z * Z / total;
    (((middle - half) / scale).max(0.0), ((middle + half) / scale).min(1.0))
}

/// The share of intervals that hold the truth; `None` without intervals.
pub fn coverage(covered: impl Iterator<Item = bool>) -> Option<f64> {
    let covered: Vec<bool> = covered.collect();
    let count = covered.iter().filter(|is_covered| **is_covered).count();
    (!covered.is_empty()).then(|| part(count, covered.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wilson's interval for 9 of 10 in published tables: 0.596 to 0.982.
    #[test]
    fn the_interval_of_a_share_equals_published_values() {
        let (low, high) = wilson(9, 10);
        assert!((low - 0.596).abs() < 5e-4 && (high - 0.982).abs() < 5e-4, "{low} {high}");
        assert!(wilson(10, 10).1 <= 1.0 && wilson(0, 10).0 >= 0.0);
    }

    #[test]
    fn a_bin_includes_its_lower_bound_and_excludes_its_upper() {
        let found = [(0.9, true), (0.94, false), (0.95, true)];
        let bin = bin(&found, 0.9, 0.95).unwrap();
        assert_eq!((bin.count, bin.observed.to_bits()), (2, 0.5f64.to_bits()));
        assert!((bin.claimed - 0.92).abs() < 1e-12);
    }
}
