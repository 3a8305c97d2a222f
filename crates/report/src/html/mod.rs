//! The report as one self-contained page: no script, no request to anywhere, readable offline in years to come.

pub(crate) mod charts;
mod conditions;
mod findings;
mod methods;

pub(crate) use conditions::cost;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::bound::bound;
use crate::clean::printable;
use crate::words::{Sentence, Verdict, advice, verdict};
use crate::{Advice, Report, Tabled, chart};

/// Colours first, so that the rest can use them.
const STYLE: &str =
    concat!(include_str!("../svg/colours.css"), include_str!("style.css"), include_str!("../svg/marks.css"));

/// The page. Everything that comes from a device or a log is escaped and freed of control characters.
#[must_use]
pub fn html(report: &Report<'_>) -> String {
    let body = match Tabled::of(report.run) {
        Some(tabled) => of_bench(report, &tabled),
        None => body(report, &verdict(report)),
    };
    page(&name(report), &body)
}

/// A page with this title and these parts.
pub(crate) fn page(title: &str, main: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "flashscope: " (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { main { (main) } }
        }
    };
    page.into_string()
}

fn body(report: &Report<'_>, verdict: &Verdict) -> Markup {
    let report = &report.of_storage();
    html! {
        (header(report, verdict.warning.as_ref(), verdict.headline.as_str()))
        (words(verdict))
        (advice_list(&advice(report)))
        (titled_table("Speeds", &crate::speeds::table(report.run)))
        (titled_table("Results", &crate::results::table(report.run)))
        (findings::section(report))
        (charts::section(&chart::charts(report)))
        (conditions::section(report))
        (methods::section(report))
        (footer(report))
    }
}

fn of_bench(report: &Report<'_>, tabled: &Tabled) -> Markup {
    html! {
        (header(report, None, tabled.headline.as_str()))
        (tabled.markup())
        (conditions::section(report))
        (methods::section(report))
        (footer(report))
    }
}

fn header(report: &Report<'_>, warning: Option<&Sentence>, headline: &str) -> Markup {
    html! {
        header {
            p class="device" { (name(report)) }
            @if let Some(warning) = warning { p class="warning" { strong { (bound(warning.as_str())) } } }
            h1 { (bound(headline)) }
        }
    }
}

fn footer(report: &Report<'_>) -> Markup {
    html! { footer { p { "Written by flashscope " (printable(&report.run.flashscope)) "." } } }
}

fn name(report: &Report<'_>) -> String {
    let (target, device) = (printable(&report.run.target), printable(&report.run.device_name));
    if device.is_empty() { target } else { format!("{device} ({target})") }
}

fn words(verdict: &Verdict) -> Markup {
    html! {
        section class="words" {
            (paragraphs("What it is", &verdict.what_it_is))
            (paragraphs("What it means", &verdict.what_it_means))
            (paragraphs("What holds it back", &verdict.what_holds_it_back))
            (paragraphs("How sure", &verdict.how_sure))
        }
    }
}

fn paragraphs(title: &str, sentences: &[Sentence]) -> Markup {
    html! {
        @if !sentences.is_empty() {
            h2 { (title) }
            ul { @for sentence in sentences { li { (bound(sentence.as_str())) } } }
        }
    }
}

fn advice_list(advice: &[Advice]) -> Markup {
    html! {
        @if !advice.is_empty() {
            section class="advice" {
                h2 { "What to do" }
                ol {
                    @for advice in advice {
                        li {
                            (bound(advice.told().as_str())) " "
                            span class="because" { (bound(advice.because.as_str())) }
                        }
                    }
                }
            }
        }
    }
}

fn titled_table(title: &str, table: &chart::Table) -> Markup {
    html! {
        @if !table.rows.is_empty() {
            section class="speeds" { h2 { (title) } (plain_table(table)) }
        }
    }
}

/// A plain table; its first column names the rows.
pub(crate) fn plain_table(table: &chart::Table) -> Markup {
    html! {
        div class="scroll" {
            table {
                thead { tr { @for name in &table.header { th scope="col" { (name) } } } }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for (column, cell) in row.iter().enumerate() {
                                @if column == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
