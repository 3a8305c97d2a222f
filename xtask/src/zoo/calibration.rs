//! Whether confidence means what it says: claimed against observed.

use flashscope_record::finding::Finding;
use serde::Serialize;

use super::judge::Verdict;
use super::shares::part;

/// Findings of about the same confidence.
#[derive(Debug, Clone, Serialize)]
pub struct Bin {
    /// From this confidence on.
    pub from: f64,
    /// Up to this one.
    pub to: f64,
    /// So many findings.
    pub count: u64,
    /// Their mean confidence.
    pub claimed: f64,
    /// The share of them whose interval holds the truth.
    pub observed: f64,
    /// The interval of 95 % around it (Wilson, JASA 22, 1927).
    pub observed_low: f64,
    /// Its upper end.
    pub observed_high: f64,
}

/// Finer towards certainty, where it matters; the last bound is above every confidence.
const BOUNDS: [f64; 8] = [0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0];

/// The findings with a value, by confidence; bins without any are left out.
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

/// The interval of 95 % around a share (E. Wilson, "Probable inference, the law of succession, and statistical inference",
/// JASA 22, 1927).
#[expect(clippy::cast_precision_loss, reason = "counts of a zoo are small")]
fn wilson(some: usize, all: usize) -> (f64, f64) {
    const Z: f64 = 1.959_964;
    let (count, share) = (all as f64, part(some, all));
    let middle = share + Z * Z / (2.0 * count);
    let half = Z * (share * (1.0 - share) / count + Z * Z / (4.0 * count * count)).sqrt();
    let scale = 1.0 + Z * Z / count;
    (((middle - half) / scale).max(0.0), ((middle + half) / scale).min(1.0))
}

/// The share of intervals that hold the truth; `None` without any.
pub fn coverage(held: impl Iterator<Item = bool>) -> Option<f64> {
    let held: Vec<bool> = held.collect();
    let holding = held.iter().filter(|holds| **holds).count();
    (!held.is_empty()).then(|| part(holding, held.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wilson's interval for 9 of 10, as published tables have it: 0.596 to 0.982.
    #[test]
    fn the_interval_around_a_share_is_wilsons() {
        let (low, high) = wilson(9, 10);
        assert!((low - 0.596).abs() < 5e-4 && (high - 0.982).abs() < 5e-4, "{low} {high}");
        assert!(wilson(10, 10).1 <= 1.0 && wilson(0, 10).0 >= 0.0);
    }

    #[test]
    fn a_bin_holds_its_lower_bound_and_not_its_upper() {
        let found = [(0.9, true), (0.94, false), (0.95, true)];
        let bin = bin(&found, 0.9, 0.95).unwrap();
        assert_eq!((bin.count, bin.observed.to_bits()), (2, 0.5f64.to_bits()));
        assert!((bin.claimed - 0.92).abs() < 1e-12);
    }
}
