//! The table of findings, and what stands behind each.

use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle};
use flashscope_probe::{Finding, FindingId, Outcome, Value};

use crate::Report;
use crate::bound::{NO_BREAK, bound};
use crate::quantity::percent;
use crate::words::{Sentence, interval};

/// The table's lines, at most `width` columns wide; none without findings.
pub fn table(report: &Report<'_>, width: usize) -> Vec<String> {
    let findings: Vec<&Finding> = in_order(report).collect();
    if findings.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new();
    table
        .load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')))
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(width).unwrap_or(u16::MAX))
        .set_header(["what", "value", "interval", "how sure"])
        .add_rows(findings.into_iter().map(row));
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
