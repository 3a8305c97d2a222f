//! The report as text: verdict, findings, charts, conditions.

mod bars;
mod canvas;
mod findings;
mod first_screen;
mod plot;
mod style;
mod wrap;

pub use style::Style;

use crate::bench_report::BenchReport;
use crate::cost::cost;
use crate::first_screen::first_screen as first_screen_of;
use crate::printable::printable;
use crate::run_bench_report::run_bench_report;
use crate::words::{Advice, LAYOUT_TITLE, Sentence, advice, verdict};
use crate::{Report, chart};
use style::Ink;
pub use wrap::wrapped;

/// The fewest columns of a line, on narrower terminals too. Guess: fewer are unreadable.
const WIDTH_MIN: usize = 20;

/// The report as text with lines of at most `width` columns (and never fewer than 20), ending with a line
/// break.
#[must_use]
pub fn terminal(report: &Report<'_>, width: usize, style: Style) -> String {
    let mut page = Page { text: String::new(), width: width.max(WIDTH_MIN), style };
    if let Some(bench) = run_bench_report(report.run) {
        page.text = bench_text(&bench, page.width, style);
        page.list("Conditions", &conditions(report));
        return page.text;
    }
    let report = &report.without_memory_findings();
    let verdict = verdict(report);
    let screen = first_screen_of(report);
    if let Some(screen) = &screen {
        page.text = first_screen::draw(screen, page.width, style);
    }
    if let Some(warning) = verdict.warning.as_ref().filter(|_| screen.is_none()) {
        page.paragraph(warning.as_str(), Ink::Strong);
    }
    if screen.is_none() {
        page.paragraph(verdict.headline.as_str(), Ink::Strong);
    }
    page.list("Capacity", &verdict.capacity);
    page.list("What it is", &verdict.structure);
    page.list("What it means", &verdict.consequences);
    page.list("Bottleneck", &verdict.bottleneck);
    page.list(LAYOUT_TITLE, &verdict.layout);
    page.list("How sure", &verdict.confidence);
    let advice: Vec<Sentence> = advice(report).iter().map(Advice::with_gain_text).collect();
    page.list(if screen.is_some() { "Good habits" } else { "What to do" }, &advice);
    if let Some(classes) = crate::classes::section(report.run) {
        page.block(crate::classes::TITLE, &findings::plain(&classes.table, page.width));
        page.sentences(std::iter::once(&classes.headline).chain(&classes.notes));
    }
    page.block("Speeds", &findings::plain(&crate::speeds::table(report.run), page.width));
    page.block(
        "Speeds by another program",
        &findings::plain(&crate::published_speeds::table(report.run), page.width),
    );
    page.block("Results", &findings::plain(&crate::results::table(report.run), page.width));
    page.block("Findings", &findings::table(report, page.width));
    page.list("Evidence", &findings::evidence(report));
    for chart in chart::charts(report).iter().filter(|chart| chart.is_telling()) {
        page.block(&chart.title, &plot::draw(chart, page.width, style));
    }
    page.list("Conditions", &conditions(report));
    page.text
}

/// The first screen of a check, in at most 80 columns; `None` for the report of anything else.
#[must_use]
pub fn first_screen_text(report: &Report<'_>, width: usize, style: Style) -> Option<String> {
    let screen = first_screen_of(report)?;
    Some(first_screen::draw(&screen, width.max(WIDTH_MIN), style))
}

/// The speed classes alone as text, lines at most `width` columns wide.
#[must_use]
pub fn classes_text(report: &Report<'_>, width: usize, style: Style) -> String {
    bench_text(&crate::classes::alone(report), width.max(WIDTH_MIN), style)
}

/// A speed table and a chart as text, lines at most `width` columns wide.
pub(crate) fn speed_table(
    table: &chart::Table,
    chart: Option<&chart::Chart>,
    width: usize,
    style: Style,
) -> String {
    let mut page = Page { text: String::new(), width: width.max(WIDTH_MIN), style };
    page.block("Speeds", &findings::plain(table, page.width));
    if let Some(chart) = chart {
        page.block(&chart.title, &plot::draw(chart, page.width, style));
    }
    page.text
}

/// A title, sentences and their table as text, lines at most `width` columns wide.
pub(crate) fn titled_table(
    title: &str,
    sentences: &[Sentence],
    table: &chart::Table,
    width: usize,
    style: Style,
) -> String {
    let mut page = Page { text: String::new(), width: width.max(WIDTH_MIN), style };
    page.paragraph(&printable(title), Ink::Strong);
    sentences.iter().for_each(|sentence| page.paragraph(sentence.as_str(), Ink::Normal));
    page.line("");
    findings::plain(table, page.width).iter().for_each(|line| page.line(line));
    page.text
}

/// A benchmark's report as text, lines at most `width` columns wide.
pub(crate) fn bench_text(bench: &BenchReport, width: usize, style: Style) -> String {
    let mut page = Page { text: String::new(), width: width.max(WIDTH_MIN), style };
    page.paragraph(bench.headline.as_str(), Ink::Strong);
    page.block(bench.title, &findings::plain(&bench.table, page.width));
    for (title, sentences) in &bench.lists {
        page.list(title, sentences);
    }
    page.text
}

/// Bar charts with their titles, and lists of sentences, as text of lines at most `width` columns wide.
pub(crate) fn bar_charts_text(
    charts: &[chart::BarChart],
    lists: &[(&str, Vec<Sentence>)],
    width: usize,
    style: Style,
) -> String {
    let mut page = Page { text: String::new(), width: width.max(WIDTH_MIN), style };
    for chart in charts {
        page.block(&chart.title, &bars::draw(chart, page.width, style));
        page.text.push('\n');
        table_lines(&chart.table, page.width).iter().for_each(|line| page.line(line));
    }
    for (title, sentences) in lists {
        page.list(title, sentences);
    }
    page.text
}

/// The lines of a table, at most `width` columns wide.
pub(crate) fn table_lines(table: &chart::Table, width: usize) -> Vec<String> {
    findings::plain(table, width.max(WIDTH_MIN))
}

fn conditions(report: &Report<'_>) -> Vec<Sentence> {
    let run = report.run;
    let (target, device) = (printable(&run.target), printable(&run.device_name));
    let named = if device.is_empty() { target } else { format!("{target}, {device}") };
    let cost = cost(&run.cost);
    let facts = [("Target", named), ("Measured", printable(&run.measured_at)), ("Cost", cost)];
    let facts =
        facts.into_iter().filter(|(_, text)| !text.is_empty()).map(|(name, text)| format!("{name}: {text}"));
    facts.chain(run.remarks.iter().cloned()).map(Sentence::new).collect()
}

/// The text of a report as it is built.
struct Page {
    text: String,
    width: usize,
    style: Style,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn paragraph(&mut self, text: &str, ink: Ink) {
        for line in wrapped(text, self.width) {
            self.line(&self.style.paint(&line, ink));
        }
    }

    fn heading(&mut self, title: &str) {
        self.line("");
        self.paragraph(title, Ink::Strong);
    }

    fn list(&mut self, title: &str, sentences: &[Sentence]) {
        if sentences.is_empty() {
            return;
        }
        self.heading(title);
        self.sentences(sentences);
    }

    fn sentences<'a>(&mut self, sentences: impl IntoIterator<Item = &'a Sentence>) {
        for sentence in sentences {
            for (index, line) in wrapped(sentence.as_str(), self.width - 4).into_iter().enumerate() {
                let mark = if index == 0 { "  • " } else { "    " };
                self.line(&format!("{mark}{line}"));
            }
        }
    }

    fn block(&mut self, title: &str, lines: &[String]) {
        if lines.is_empty() {
            return;
        }
        self.heading(title);
        for line in lines {
            self.line(line);
        }
    }
}
