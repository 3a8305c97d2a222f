//! The table of findings, and their evidence.

use comfy_table::{ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width};
use flashscope_record::finding::{Finding, FindingId, Outcome, Value};
use unicode_width::UnicodeWidthStr;

use super::wrap::wrapped;
use crate::no_break::{NO_BREAK_SPACE, join_units};
use crate::quantity::percent;
use crate::terms::{finding_title, value_text};
use crate::words::{Sentence, interval};
use crate::{Report, chart, words};

/// The spaces of each column: one on either side of its cells, and one to the next column.
const PADDING: usize = 3;
/// The indent of a row's figures below its title, where the table is a list.
const INDENT: &str = "    ";

/// The table's lines, at most `width` columns wide; none without findings.
pub fn table(report: &Report<'_>, width: usize) -> Vec<String> {
    let findings: Vec<&Finding> = in_report_order(report).collect();
    if findings.is_empty() {
        return Vec::new();
    }
    let header = ["finding", "value", "interval", "how sure"].map(str::to_owned);
    table_lines(&header, findings.into_iter().map(|finding| row(finding).to_vec()), width)
}

/// The lines of a table, at most `width` columns wide; none without rows.
pub fn plain(table: &chart::Table, width: usize) -> Vec<String> {
    if table.rows.is_empty() {
        return Vec::new();
    }
    let rows = table.rows.iter().map(|row| row.iter().map(|cell| join_units(cell)).collect());
    table_lines(&table.header, rows, width)
}

fn table_lines(header: &[String], rows: impl Iterator<Item = Vec<String>>, width: usize) -> Vec<String> {
    let rows: Vec<Vec<String>> = rows.collect();
    let least = widths_min(header, &rows);
    if least.iter().sum::<usize>() > width {
        return rows.iter().flat_map(|row| row_as_list(header, row, width)).collect();
    }
    let mut table = Table::new();
    table
        .load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')))
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(width).unwrap_or(u16::MAX))
        .set_header(header)
        .add_rows(rows)
        .set_constraints(least.into_iter().map(at_least));
    table.lines().map(|line| line.replace(NO_BREAK_SPACE, " ")).collect()
}

/// The least width of each column: its longest word, and the space around it.
fn widths_min(header: &[String], rows: &[Vec<String>]) -> Vec<usize> {
    let longest = |cell: &String| cell.split(' ').map(UnicodeWidthStr::width).max().unwrap_or(0);
    let of = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(longest).max().unwrap_or(0);
    header.iter().enumerate().map(|(column, name)| longest(name).max(of(column)) + PADDING).collect()
}

/// The constraint for a column of at least this width, without the space to the next column.
fn at_least(width: usize) -> ColumnConstraint {
    ColumnConstraint::LowerBoundary(Width::Fixed(u16::try_from(width - 1).unwrap_or(u16::MAX)))
}

/// A row as a list, where the table does not fit: its title, and its figures below.
fn row_as_list(header: &[String], row: &[String], width: usize) -> Vec<String> {
    let Some((title, cells)) = row.split_first() else { return Vec::new() };
    let figures = header.iter().skip(1).zip(cells).filter(|(_, cell)| !cell.is_empty());
    let figures = figures.flat_map(|(name, cell)| wrapped(&format!("{name}: {cell}"), width - INDENT.len()));
    let figures = figures.map(|line| format!("{INDENT}{line}"));
    wrapped(title, width).into_iter().chain(figures).collect()
}

fn in_report_order<'a>(report: &'a Report<'_>) -> impl Iterator<Item = &'a Finding> {
    FindingId::ALL.into_iter().filter_map(|id| report.finding(id))
}

fn row(finding: &Finding) -> [String; 4] {
    let title = finding_title(finding.id).to_owned();
    let Outcome::Found { value, confidence, .. } = &finding.outcome else {
        return [title, "unknown".to_owned(), String::new(), String::new()];
    };
    let interval = interval(finding).unwrap_or_else(|| point_interval(*value).to_owned());
    let sure = format!("{}, {}", words::confidence_level(*confidence), percent(*confidence));
    [title, join_units(&value_text(*value)), join_units(&interval), join_units(&sure)]
}

/// The interval column of a value without an interval.
fn point_interval(value: Value) -> &'static str {
    match value {
        Value::Bytes(bytes) if !bytes.is_zero() => "exact",
        Value::Count(_) => "exact",
        _ => "",
    }
}

/// One sentence for the evidence of each finding, and one for each caveat.
pub fn evidence(report: &Report<'_>) -> Vec<Sentence> {
    in_report_order(report).flat_map(evidence_and_caveats).map(Sentence::new).collect()
}

fn evidence_and_caveats(finding: &Finding) -> Vec<String> {
    let title = finding_title(finding.id);
    let evidence = finding.evidence.as_ref().map(|figures| format!("{title}: {}", words::evidence(figures)));
    let caveats = finding.caveats.iter().map(|caveat| format!("{title}, caveat: {}", words::caveat(caveat)));
    evidence.into_iter().chain(caveats).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_table_breaks_no_name() {
        let row = |name: &str| {
            let cells = [name, "48.7 MB/s", "unknown (30.2 MB/s over 1.59 GiB)", "248 ms every 16 MiB"];
            cells.map(str::to_owned).to_vec()
        };
        let names = ["samsung-fit-plus-blue", "usb"];
        let header = ["device", "first 10 MB", "sustained", "stalls"].map(str::to_owned).to_vec();
        let table = chart::Table { header, rows: names.map(row).to_vec() };
        for width in 20..130 {
            let text = plain(&table, width);
            assert!(text.iter().all(|line| line.width() <= width), "{width}: {text:#?}");
            let is_whole = names.iter().all(|name| text.iter().any(|line| line.contains(name)));
            assert!(is_whole || width <= names[0].len(), "{width}: {text:#?}");
        }
    }

    #[test]
    fn a_table_too_narrow_for_its_numbers_becomes_a_list() {
        let cells = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        let table = chart::Table {
            header: cells(["requests", "MB/s", "interval", "median"]),
            rows: vec![cells(["sequential write, 1 MiB", "6.84", "6.66 to 7.03", "43.0 ms"])],
        };
        let narrow = [
            "sequential write, 1 MiB",
            "    MB/s: 6.84",
            "    interval: 6.66 to 7.03",
            "    median: 43.0 ms",
        ];
        assert_eq!(plain(&table, 30), narrow);
        assert!(plain(&table, 60)[0].contains("requests"));
        for width in 20..80 {
            let text = plain(&table, width).join("\n");
            let whole = ["6.84", "6.66", "7.03", "43.0 ms"].iter().all(|figure| text.contains(figure));
            assert!(whole && text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
        }
    }
}
