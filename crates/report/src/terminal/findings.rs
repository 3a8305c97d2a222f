//! The table of findings, and what stands behind each.

use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle};
use flashscope_probe::{Finding, FindingId, Outcome, Value};

use crate::bound::{NO_BREAK, bound};
use crate::quantity::percent;
use crate::words::{Sentence, interval};
use crate::{Report, chart};

/// The table's lines, at most `width` columns wide; none without findings.
pub fn table(report: &Report<'_>, width: usize) -> Vec<String> {
    let findings: Vec<&Finding> = in_order(report).collect();
    if findings.is_empty() {
        return Vec::new();
    }
    let header = ["what", "value", "interval", "how sure"].map(str::to_owned);
    drawn(&header, findings.into_iter().map(|finding| row(finding).to_vec()), width)
}

/// The lines of a table of figures, at most `width` columns wide; none without rows.
pub fn plain(table: &chart::Table, width: usize) -> Vec<String> {
    if table.rows.is_empty() {
        return Vec::new();
    }
    let rows = table.rows.iter().map(|row| row.iter().map(|cell| bound(cell)).collect());
    drawn(&table.header, rows, width)
}

fn drawn(header: &[String], rows: impl Iterator<Item = Vec<String>>, width: usize) -> Vec<String> {
    let mut table = Table::new();
    table
        .load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')))
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(width).unwrap_or(u16::MAX))
        .set_header(header)
        .add_rows(rows);
    table.lines().map(|line| line.replace(NO_BREAK, " ")).collect()
}

fn in_order<'a>(report: &'a Report<'_>) -> impl Iterator<Item = &'a Finding> {
    FindingId::ALL.into_iter().filter_map(|id| report.finding(id))
}

fn row(finding: &Finding) -> [String; 4] {
    let title = finding.id.title().to_owned();
    let Outcome::Found { value, confidence, .. } = &finding.outcome else {
        return [title, "unknown".to_owned(), String::new(), String::new()];
    };
    let interval = interval(finding).unwrap_or_else(|| exactly(*value).to_owned());
    let sure = format!("{}, {}", confidence.words(), percent(*confidence));
    [title, bound(&value.to_string()), bound(&interval), bound(&sure)]
}

/// What to say where the interval holds the value alone.
fn exactly(value: Value) -> &'static str {
    match value {
        Value::Bytes(bytes) if !bytes.is_zero() => "exactly",
        Value::Count(_) => "exactly",
        _ => "",
    }
}

/// One sentence per finding with its evidence, and one per caveat.
pub fn evidence(report: &Report<'_>) -> Vec<Sentence> {
    in_order(report).flat_map(because).map(Sentence::new).collect()
}

fn because(finding: &Finding) -> Vec<String> {
    let title = finding.id.title();
    let evidence = (!finding.evidence.is_empty()).then(|| format!("{title}: {}", finding.evidence));
    let caveats = finding.caveats.iter().map(|caveat| format!("{title}, but: {caveat}"));
    evidence.into_iter().chain(caveats).collect()
}
