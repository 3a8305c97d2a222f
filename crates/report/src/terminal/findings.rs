//! The table of findings, and what stands behind each.

use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle};
use flashscope_probe::{Finding, FindingId, Outcome};

use crate::Report;
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
    table.lines().collect()
}

fn in_order<'a>(report: &'a Report<'_>) -> impl Iterator<Item = &'a Finding> {
    FindingId::ALL.into_iter().filter_map(|id| report.finding(id))
}

fn row(finding: &Finding) -> [String; 4] {
    let title = finding.id.title().to_owned();
    match &finding.outcome {
        Outcome::Found { value, confidence, .. } => {
            let interval = interval(finding).unwrap_or_else(|| "exactly this".to_owned());
            [title, value.to_string(), interval, format!("{}, {}", confidence.words(), percent(*confidence))]
        }
        Outcome::Unknown { .. } => [title, "unknown".to_owned(), String::new(), String::new()],
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
