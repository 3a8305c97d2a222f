//! The shares of equal answers, the costs, and the differences.

use std::fmt::Write as _;

use super::Trio;
use super::check::{ANSWERS, Checked, UNKNOWN};

/// The median, the 90th percentile and the largest of some ratios.
#[derive(Debug, Clone, Copy)]
pub struct Ratios {
    pub median: f64,
    pub p90: f64,
    pub worst: f64,
}

impl Ratios {
    fn of(ratios: impl Iterator<Item = f64>) -> Self {
        let mut ratios: Vec<f64> = ratios.collect();
        ratios.sort_by(f64::total_cmp);
        let at = |percent: usize| {
            let index = (ratios.len() * percent / 100).min(ratios.len().saturating_sub(1));
            ratios.get(index).copied().unwrap_or(f64::NAN)
        };
        Self { median: at(50), p90: at(90), worst: at(100) }
    }

    fn text(self) -> String {
        let Self { median, p90, worst } = self;
        format!("{median:.2} (median), {p90:.2} (90 %), {worst:.2} (worst)")
    }
}

/// The results over all sticks.
#[derive(Debug)]
pub struct Score {
    /// The share of sticks with the same answer.
    pub same: [f64; ANSWERS.len()],
    /// The same share of two checks with `--erase`.
    pub again: [f64; ANSWERS.len()],
    /// The share of sticks where both checks have a value, and it differs.
    other: [f64; ANSWERS.len()],
    /// Device time with `--scratch` divided by that with `--erase`.
    pub time: Ratios,
    /// Device time of the experiments, of saving, and of restoring, divided by that with `--erase`.
    parts: [Ratios; 3],
    /// Bytes saved divided by bytes written with `--erase`.
    saved: Ratios,
    /// Bytes written back divided by bytes saved.
    written_back: Ratios,
    /// Sticks with a sector that differs after `--scratch`.
    pub not_back: usize,
}

impl Score {
    pub fn of(trios: &[Trio]) -> Self {
        let share = |differs: &dyn Fn(&Trio) -> bool| {
            let count = trios.iter().filter(|trio| differs(trio)).count();
            count as f64 / trios.len().max(1) as f64
        };
        let has_other = |trio: &Trio, answer: usize| {
            let [erase, scratch] = [&trio.erase.answers[answer], &trio.scratch.answers[answer]];
            erase != scratch && ![erase, scratch].iter().any(|text| *text == UNKNOWN)
        };
        Self {
            same: std::array::from_fn(|at| share(&|trio| is_same(&trio.erase, &trio.scratch, at))),
            again: std::array::from_fn(|at| share(&|trio| is_same(&trio.erase, &trio.again, at))),
            other: std::array::from_fn(|at| share(&|trio| has_other(trio, at))),
            time: Ratios::of(trios.iter().map(Trio::time_ratio)),
            parts: std::array::from_fn(|part| Ratios::of(trios.iter().map(|trio| trio.parts()[part]))),
            saved: Ratios::of(
                trios
                    .iter()
                    .map(|trio| trio.scratch.journal.saved.as_f64() / trio.erase.cost.bytes_written.as_f64()),
            ),
            written_back: Ratios::of(trios.iter().map(|trio| {
                let journal = trio.scratch.journal;
                journal.written_back.as_f64() / journal.saved.as_f64().max(1.0)
            })),
            not_back: trios.iter().filter(|trio| trio.scratch.different > 0).count(),
        }
    }

    pub fn text(&self, trios: &[Trio]) -> String {
        let mut text = format!(
            "{} sticks full of data\n{:<24} {:>8} {:>16} {:>14}\n",
            trios.len(),
            "answer",
            "same",
            "another value",
            "--erase twice"
        );
        for (at, answer) in ANSWERS.iter().enumerate() {
            let percent = |share: f64| format!("{:.1} %", 100.0 * share);
            let [same, other, again] = [self.same[at], self.other[at], self.again[at]].map(percent);
            let _ = writeln!(text, "{answer:<24} {same:>8} {other:>16} {again:>14}");
        }
        let _ = writeln!(text, "device time with --scratch / --erase  {}", self.time.text());
        for (part, ratios) in ["experiments", "saving", "restoring"].iter().zip(self.parts) {
            let _ = writeln!(text, "  {part:<35} {}", ratios.text());
        }
        let _ = writeln!(text, "bytes saved / bytes written           {}", self.saved.text());
        let _ = writeln!(text, "bytes written back / bytes saved      {}", self.written_back.text());
        let _ = writeln!(text, "sticks with a byte that is not back   {}", self.not_back);
        trios.iter().for_each(|trio| text += &differences(trio));
        text
    }
}

fn is_same(one: &Checked, other: &Checked, answer: usize) -> bool {
    one.answers[answer] == other.answers[answer]
}

/// A line for each answer that differs, and for data that is not back.
fn differences(trio: &Trio) -> String {
    let Trio { index, erase, again, scratch } = trio;
    let mut text = String::new();
    for (at, answer) in ANSWERS.iter().enumerate().filter(|(at, _)| !is_same(erase, scratch, *at)) {
        let [erase, again, scratch] = [erase, again, scratch].map(|checked| &checked.answers[at]);
        let _ = writeln!(
            text,
            "specimen {index}: {answer}: {erase} with --erase (again: {again}), {scratch} with --scratch"
        );
    }
    if scratch.different > 0 {
        let _ = writeln!(text, "specimen {index}: {} sectors are not back", scratch.different);
    }
    text
}
