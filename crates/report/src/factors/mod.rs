//! A factorial experiment in words: one sentence, a table of effects with intervals, and a chart.

mod chart;
mod names;
mod sentence;
mod table;

use maud::html;

use flashscope_infer::trials::factorial::Factorial;

use crate::chart::{Chart, Table};
use crate::terminal::{self, Style};
use crate::words::Sentence;
use crate::{html as page, quantity};

/// One experiment of a report.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// What was timed, such as `tree, write`.
    pub name: String,
    /// What it shows.
    pub factorial: Factorial,
}

impl Experiment {
    /// The answer in one sentence, and one more for each gain that depends on another factor.
    #[must_use]
    pub fn sentences(&self) -> Vec<Sentence> {
        sentence::sentences(&self.factorial)
    }

    /// Every effect with its interval.
    #[must_use]
    pub fn table(&self) -> Table {
        table::table(&self.factorial)
    }

    /// Every known effect with its interval as a picture; `None` if all are unknown. `id` is unique on its
    /// page.
    #[must_use]
    pub fn chart(&self, id: &'static str) -> Option<Chart> {
        chart::chart(self, id)
    }

    /// What the intervals hold.
    #[must_use]
    pub fn conditions(&self) -> Sentence {
        let Factorial { blocks, deviation, error, .. } = self.factorial;
        let rounds = quantity::counted(blocks as u64, "round");
        let spread = deviation.map_or_else(
            || "unknown".to_owned(),
            |deviation| format!("{} %", quantity::three_digits(deviation * 100.0)),
        );
        let known = match error > 0.0 {
            true => format!("; known error of a ratio: {} %", quantity::three_digits(error * 100.0)),
            false => String::new(),
        };
        Sentence::new(format!(
            "95 % intervals from {rounds}. Spread of a time between rounds: {spread}{known}"
        ))
    }
}

/// The experiments as text, lines at most `width` columns wide.
#[must_use]
pub fn text(experiments: &[Experiment], width: usize, style: Style) -> String {
    let parts = experiments.iter().map(|experiment| {
        let sentences = [experiment.sentences(), vec![experiment.conditions()]].concat();
        terminal::titled_table(&experiment.name, &sentences, &experiment.table(), width, style)
    });
    parts.collect::<Vec<_>>().join("\n")
}

/// The names of the charts on a page: three kinds of files, written and read, and as many again.
const CHARTS: [&str; 12] = [
    "factors-1",
    "factors-2",
    "factors-3",
    "factors-4",
    "factors-5",
    "factors-6",
    "factors-7",
    "factors-8",
    "factors-9",
    "factors-10",
    "factors-11",
    "factors-12",
];

/// The experiments as one self-contained page; `device` is the stick in one line.
#[must_use]
pub fn html_page(device: &str, experiments: &[Experiment], notes: &[Sentence]) -> String {
    let charts: Vec<Chart> =
        experiments.iter().zip(CHARTS).filter_map(|(experiment, id)| experiment.chart(id)).collect();
    let main = html! {
        header {
            p class="device" { (crate::printable(device)) }
            h1 { "Which factor matters" }
        }
        @for experiment in experiments {
            section class="speeds" {
                h2 { (experiment.name) }
                @for sentence in experiment.sentences() { p { (sentence) } }
                (page::plain_table(&experiment.table()))
                p { (experiment.conditions()) }
            }
        }
        (page::charts::section(&charts))
        @if !notes.is_empty() {
            section class="words" { h2 { "Conditions" } ul { @for note in notes { li { (note) } } } }
        }
    };
    page::page("factors compared", &main)
}

#[cfg(test)]
mod tests;
