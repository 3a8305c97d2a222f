//! The shares of correct diagnoses.

use std::fmt::Write as _;

use flashscope_zoo::Fault;
use serde::Serialize;

use super::diagnosed::DiagnosedCase;

/// Shares from 0 to 1.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Score {
    /// Cases with at most one fault; there are as many with two.
    pub count: u64,
    /// Share of cases with at most one fault whose bottleneck is reported.
    pub right: f64,
    /// Share of cases with two faults whose larger one is reported first.
    pub larger_first: f64,
    /// Share of faults whose predicted interval holds the true gain.
    pub gain_covered: f64,
    /// Share of cases whose reported bottleneck of small files has the largest true gain.
    pub small_files_right: f64,
    /// Share of predicted intervals for small files that hold the true gain.
    pub small_files_gain_covered: f64,
}

impl Score {
    pub fn of(ones: &[DiagnosedCase], twos: &[DiagnosedCase]) -> Self {
        Self {
            count: ones.len() as u64,
            right: share(ones.iter().map(DiagnosedCase::is_correct)),
            larger_first: share(twos.iter().map(DiagnosedCase::is_correct)),
            gain_covered: share(
                ones.iter().chain(twos).flat_map(DiagnosedCase::predictions).map(|each| each.is_covered()),
            ),
            small_files_right: share(
                ones.iter().chain(twos).map(DiagnosedCase::is_small_files_bottleneck_correct),
            ),
            small_files_gain_covered: share(
                ones.iter().chain(twos).filter_map(DiagnosedCase::is_small_files_gain_covered),
            ),
        }
    }

    /// The score as text, with a row for each fault.
    pub fn text(&self, ones: &[DiagnosedCase], twos: &[DiagnosedCase]) -> String {
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        let mut text = format!(
            "{} cases with at most one fault: {} diagnosed correctly\n{} cases with two faults: {} with the larger one first\n\
             intervals that hold the true gain: {}\nsmall files alone: {} with the correct bottleneck, {} of intervals hold the gain\n\n  one fault                               cases   correct   covered\n",
            self.count,
            percent(self.right),
            twos.len(),
            percent(self.larger_first),
            percent(self.gain_covered),
            percent(self.small_files_right),
            percent(self.small_files_gain_covered)
        );
        for fault in Fault::ALL.map(Some).into_iter().chain([None]) {
            let cases =
                || ones.iter().filter(move |each| each.case.faults.first().map(|(each, _)| *each) == fault);
            let covered = cases().flat_map(DiagnosedCase::predictions).map(|each| each.is_covered());
            let _ = writeln!(
                text,
                "  {:<36} {:>8} {:>9} {:>9}",
                fault.map_or("none", Fault::as_str),
                cases().count(),
                percent(share(cases().map(DiagnosedCase::is_correct))),
                percent(share(covered))
            );
        }
        text
    }
}

/// The share of true values; 0 without values.
#[expect(clippy::cast_precision_loss, reason = "the number of cases is small")]
fn share(all: impl Iterator<Item = bool>) -> f64 {
    let all: Vec<bool> = all.collect();
    let some = all.iter().filter(|each| **each).count();
    some as f64 / all.len().max(1) as f64
}
