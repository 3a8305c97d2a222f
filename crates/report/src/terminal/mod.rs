//! The report as text: the verdict first, then the findings, then the charts.

mod canvas;
mod findings;
mod plot;
mod style;
mod wrap;

pub use style::Style;

use crate::clean::printable;
use crate::words::{Advice, Sentence, advice, verdict};
use crate::{Report, Tabled, chart, html};
use style::Ink;
pub use wrap::wrapped;

/// Below this, nothing is readable: narrower terminals get lines of this many columns.
const LEAST_WIDTH: usize = 20;

/// The report as text with lines of at most `width` columns (and never fewer than 20), ending with a line break.
#[must_use]
pub fn terminal(report: &Report<'_>, width: usize, style: Style) -> String {
    let mut page = Page { text: String::new(), width: width.max(LEAST_WIDTH), style };
    if let Some(tabled) = Tabled::of(report.run) {
        page.text = tabled.text(page.width, style);
        page.list("Conditions", &conditions(report));
        return page.text;
    }
    let report = &report.of_storage();
    let verdict = verdict(report);
    if let Some(warning) = &verdict.warning {
        page.paragraph(warning.as_str(), Ink::Strong);
    }
    page.paragraph(verdict.headline.as_str(), Ink::Strong);
    page.list("What it is", &verdict.what_it_is);
    page.list("What it means", &verdict.what_it_means);
    page.list("What holds it back", &verdict.what_holds_it_back);
    page.list("How sure", &verdict.how_sure);
    let advice: Vec<Sentence> = advice(report).iter().map(Advice::told).collect();
    page.list("What to do", &advice);
    page.block("Speeds", &findings::plain(&crate::speeds::table(report.run), page.width));
    page.block("Results", &findings::plain(&crate::results::table(report.run), page.width));
    page.block("Findings", &findings::table(report, page.width));
    page.list("Because", &findings::evidence(report));
    for chart in chart::charts(report) {
        page.block(&chart.title, &plot::draw(&chart, page.width, style));
    }
    page.list("Conditions", &conditions(report));
    page.text
}

/// A table of figures and a chart as text, lines at most `width` columns wide.
pub(crate) fn plain(
    table: &chart::Table,
    chart: Option<&chart::Chart>,
    width: usize,
    style: Style,
) -> String {
    let mut page = Page { text: String::new(), width: width.max(LEAST_WIDTH), style };
    page.block("Speeds", &findings::plain(table, page.width));
    if let Some(chart) = chart {
        page.block(&chart.title, &plot::draw(chart, page.width, style));
    }
    page.text
}

/// A sentence, a table under its title, and lists under theirs, as text.
pub(crate) fn tabled(
    headline: &Sentence,
    (title, table): (&str, &chart::Table),
    lists: &[(&str, Vec<Sentence>)],
    width: usize,
    style: Style,
) -> String {
    let mut page = Page { text: String::new(), width: width.max(LEAST_WIDTH), style };
    page.paragraph(headline.as_str(), Ink::Strong);
    page.block(title, &findings::plain(table, page.width));
    for (title, sentences) in lists {
        page.list(title, sentences);
    }
    page.text
}

fn conditions(report: &Report<'_>) -> Vec<Sentence> {
    let run = report.run;
    let (target, device) = (printable(&run.target), printable(&run.device_name));
    let named = if device.is_empty() { target } else { format!("{target}, {device}") };
    let cost = html::cost(&run.cost);
    let facts = [("Target", named), ("Measured", printable(&run.measured_at)), ("Cost", cost)];
    let facts =
        facts.into_iter().filter(|(_, text)| !text.is_empty()).map(|(name, text)| format!("{name}: {text}"));
    facts.chain(run.remarks.iter().cloned()).map(Sentence::new).collect()
}

/// Text that grows downwards.
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
