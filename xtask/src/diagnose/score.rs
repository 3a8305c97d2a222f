//! How often diagnoses are right.

use std::fmt::Write as _;

use flashscope_zoo::Ailment;
use serde::Serialize;

use super::examine::Examined;

/// Shares from 0 to 1.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Score {
    /// So many patients with one ailment or none, and as many with two.
    pub count: u64,
    /// The share of those with one or none whose layer is named.
    pub right: f64,
    /// The share of those with two whose worse one is named first.
    pub larger_first: f64,
    /// The share of all ailments whose predicted gain holds the real one.
    pub gain_covered: f64,
    /// The share of all patients whose small files, copied alone, no layer gains more than the one that is named.
    pub small_files_right: f64,
    /// The share of gains predicted of small files that hold the real one.
    pub small_files_gain_covered: f64,
}

impl Score {
    pub fn of(ones: &[Examined], twos: &[Examined]) -> Self {
        Self {
            count: ones.len() as u64,
            right: share(ones.iter().map(Examined::is_right)),
            larger_first: share(twos.iter().map(Examined::is_right)),
            gain_covered: share(
                ones.iter().chain(twos).flat_map(Examined::predicted).map(|each| each.is_covered()),
            ),
            small_files_right: share(ones.iter().chain(twos).map(Examined::is_right_of_small_files)),
            small_files_gain_covered: share(
                ones.iter().chain(twos).filter_map(Examined::is_covered_of_small_files),
            ),
        }
    }

    /// For people: by ailment as well.
    pub fn text(&self, ones: &[Examined], twos: &[Examined]) -> String {
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        let mut text = format!(
            "{} patients with one ailment or none: {} told right\n{} patients with two: {} told the larger first\n\
             gains held by their intervals: {}\nof small files alone: {} told what gains most, {} of gains held\n\n  one ailment                          patients     right      held\n",
            self.count,
            percent(self.right),
            twos.len(),
            percent(self.larger_first),
            percent(self.gain_covered),
            percent(self.small_files_right),
            percent(self.small_files_gain_covered)
        );
        for ailment in Ailment::ALL.map(Some).into_iter().chain([None]) {
            let here = || {
                ones.iter()
                    .filter(move |each| each.patient.ailments.first().map(|(each, _)| *each) == ailment)
            };
            let held = here().flat_map(Examined::predicted).map(|each| each.is_covered());
            let _ = writeln!(
                text,
                "  {:<36} {:>8} {:>9} {:>9}",
                ailment.map_or("none", Ailment::words),
                here().count(),
                percent(share(here().map(Examined::is_right))),
                percent(share(held))
            );
        }
        text
    }
}

/// The share of them that are true; 0 of none.
#[expect(clippy::cast_precision_loss, reason = "patients are few")]
fn share(all: impl Iterator<Item = bool>) -> f64 {
    let all: Vec<bool> = all.collect();
    let some = all.iter().filter(|each| **each).count();
    some as f64 / all.len().max(1) as f64
}
