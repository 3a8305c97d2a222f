//! The report as one self-contained page: no script and no external resource, so it stays readable offline.

pub(crate) mod charts;
mod conditions;
mod findings;
mod first_screen;
mod methods;
mod prose;
mod table;

pub(crate) use prose::prose;
pub(crate) use table::plain_table;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::bench_report::BenchReport;
use crate::first_screen::first_screen as first_screen_of;
use crate::printable::printable;
use crate::run_bench_report::run_bench_report;
use crate::words::{LAYOUT_TITLE, Sentence, Verdict, advice, verdict};
use crate::{Advice, Report, chart};

/// The style sheet; the colours come first because the rest uses them.
const STYLE: &str =
    concat!(include_str!("../svg/colours.css"), include_str!("style.css"), include_str!("../svg/marks.css"));

/// The page. Text from devices and logs is escaped and made printable.
#[must_use]
pub fn html(report: &Report<'_>) -> String {
    let body = match run_bench_report(report.run) {
        Some(bench) => bench_body(report, &bench),
        None => body(report, &verdict(report)),
    };
    page(&name(report), &body)
}

/// A page with this title and content.
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
    let report = &report.without_memory_findings();
    let Some(screen) = first_screen_of(report) else {
        return html! {
            (header(report, verdict.warning.as_ref(), verdict.headline.as_str()))
            (details(report, verdict, "What to do"))
            (footer(report))
        };
    };
    html! {
        (first_screen::section(&screen))
        details class="more" {
            summary { "Details: findings, evidence, charts" }
            (details(report, verdict, "Good habits"))
        }
        (footer(report))
    }
}

/// Everything below the headline.
fn details(report: &Report<'_>, verdict: &Verdict, advice_title: &str) -> Markup {
    html! {
        (words(verdict))
        (advice_list(advice_title, &advice(report)))
        @if let Some(classes) = crate::classes::section(report.run) {
            (titled_table(crate::classes::TITLE, &classes.table))
            section class="words" { ul {
                @for sentence in std::iter::once(&classes.headline).chain(&classes.notes) { li { (prose(sentence.as_str())) } }
            } }
        }
        (titled_table("Speeds", &crate::speeds::table(report.run)))
        (titled_table("Speeds by another program", &crate::published_speeds::table(report.run)))
        (titled_table("Results", &crate::results::table(report.run)))
        (findings::section(report))
        (charts::section(&chart::charts(report)))
        (conditions::section(report))
        (methods::section(report))
    }
}

fn bench_body(report: &Report<'_>, bench: &BenchReport) -> Markup {
    html! {
        (header(report, None, bench.headline.as_str()))
        (bench_sections(bench))
        (conditions::section(report))
        (methods::section(report))
        (footer(report))
    }
}

/// The sections of a benchmark's report.
fn bench_sections(bench: &BenchReport) -> Markup {
    html! {
        @if !bench.table.rows.is_empty() {
            section class="speeds" { h2 { (bench.title) } (plain_table(&bench.table)) }
        }
        section class="words" {
            @for (title, sentences) in &bench.lists { (paragraphs(title, sentences)) }
        }
    }
}

fn header(report: &Report<'_>, warning: Option<&Sentence>, headline: &str) -> Markup {
    html! {
        header {
            p class="device" { (name(report)) }
            @if let Some(warning) = warning { p class="warning" { strong { (prose(warning.as_str())) } } }
            h1 { (prose(headline)) }
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
            (paragraphs("Capacity", &verdict.capacity))
            (paragraphs("What it is", &verdict.structure))
            (paragraphs("What it means", &verdict.consequences))
            (paragraphs("Bottleneck", &verdict.bottleneck))
            (paragraphs(LAYOUT_TITLE, &verdict.layout))
            (paragraphs("How sure", &verdict.confidence))
        }
    }
}

/// A section with a heading over sentences; nothing without sentences.
pub(crate) fn list(title: &str, sentences: &[Sentence]) -> Markup {
    html! {
        @if !sentences.is_empty() {
            section class="words" { (paragraphs(title, sentences)) }
        }
    }
}

fn paragraphs(title: &str, sentences: &[Sentence]) -> Markup {
    html! {
        @if !sentences.is_empty() {
            h2 { (title) }
            ul { @for sentence in sentences { li { (prose(sentence.as_str())) } } }
        }
    }
}

fn advice_list(title: &str, advice: &[Advice]) -> Markup {
    html! {
        @if !advice.is_empty() {
            section class="advice" {
                h2 { (title) }
                ol {
                    @for advice in advice {
                        li {
                            (prose(advice.with_gain_text().as_str())) " "
                            span class="reason" { (prose(advice.reason.as_str())) }
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
