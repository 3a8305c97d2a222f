//! The comparison as one self-contained page.

use maud::{Markup, html};

use super::Compared;
use super::charts::charts;
use super::screen::conditions;
use super::words::{in_the_interval, not_in_the_interval, sentences, slower_reads};
use crate::chart::BarChart;
use crate::html::{list, page, plain_table, prose};
use crate::printable::printable;
use crate::svg::{Layout, inline_bars};
use crate::words::Sentence;

/// The page.
#[must_use]
pub fn html_page(compared: &Compared<'_>) -> String {
    let failures: Vec<Sentence> = compared.failures.iter().map(Sentence::new).collect();
    let device = format!("{} ({})", printable(compared.device), printable(compared.target));
    let main = html! {
        header {
            p class="device" { (device) }
            h1 { "Filesystems compared" }
            ul { @for sentence in sentences(compared) { li { (prose(sentence.as_str())) } } }
        }
        (list("Failed", &failures))
        @if !compared.summary.cells.is_empty() {
            section class="charts" {
                h2 { "Times" }
                @for chart in charts(compared) { (figure(&chart)) }
            }
        }
        (list("Reads", &slower_reads(compared)))
        (list("In the intervals", &in_the_interval(compared)))
        (list("Not in the intervals", &not_in_the_interval(compared)))
        (list("Conditions", &conditions(compared)))
    };
    page(&format!("filesystems on {}", printable(compared.target)), &main)
}

fn figure(chart: &BarChart) -> Markup {
    html! {
        figure {
            h3 { (chart.title) }
            (inline_bars(chart, Layout::Wide))
            (inline_bars(chart, Layout::Narrow))
            figcaption { (prose(&chart.description)) }
            details {
                summary { "The same figures as a table" }
                (plain_table(&chart.table))
            }
        }
    }
}
