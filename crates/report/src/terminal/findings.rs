//! The table of findings, and what stands behind each.

use comfy_table::{ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width};
use flashscope_record::finding::{Finding, FindingId, Outcome, Value};
use unicode_width::UnicodeWidthStr;

use super::wrap::wrapped;
use crate::bound::{NO_BREAK, bound};
use crate::quantity::percent;
use crate::words::{Sentence, interval};
use crate::{Report, chart, words};

/// Each column of a table has a space on either side of its cells, and one to the next column.
const PADDING: usize = 3;
/// Figures of a list stand below what they are about.
const INDENT: &str = "    ";

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
    let rows: Vec<Vec<String>> = rows.collect();
    let least = least_widths(header, &rows);
    if least.iter().sum::<usize>() > width {
        return rows.iter().flat_map(|row| listed(header, row, width)).collect();
    }
    let mut table = Table::new();
    table
        .load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')))
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(width).unwrap_or(u16::MAX))
        .set_header(header)
        .add_rows(rows)
        .set_constraints(least.into_iter().map(at_least));
    table.lines().map(|line| line.replace(NO_BREAK, " ")).collect()
}

/// What each column of a table takes without breaking a word: the longest, and the space around it.
fn least_widths(header: &[String], rows: &[Vec<String>]) -> Vec<usize> {
    let longest = |cell: &String| cell.split(' ').map(UnicodeWidthStr::width).max().unwrap_or(0);
    let of = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(longest).max().unwrap_or(0);
    header.iter().enumerate().map(|(column, name)| longest(name).max(of(column)) + PADDING).collect()
}

/// A column of this width, or wider: the space to the next one is not a part of it.
fn at_least(width: usize) -> ColumnConstraint {
    ColumnConstraint::LowerBoundary(Width::Fixed(u16::try_from(width - 1).unwrap_or(u16::MAX)))
}

/// A row where the table is too narrow for its words: what it is about, and its figures below.
fn listed(header: &[String], row: &[String], width: usize) -> Vec<String> {
    let Some((about, cells)) = row.split_first() else { return Vec::new() };
    let figures = header.iter().skip(1).zip(cells).filter(|(_, cell)| !cell.is_empty());
    let figures = figures.flat_map(|(name, cell)| wrapped(&format!("{name}: {cell}"), width - INDENT.len()));
    let figures = figures.map(|line| format!("{INDENT}{line}"));
    wrapped(about, width).into_iter().chain(figures).collect()
}

fn in_order<'a>(report: &'a Report<'_>) -> impl Iterator<Item = &'a Finding> {
    FindingId::ALL.into_iter().filter_map(|id| report.finding(id))
}

fn row(finding: &Finding) -> [String; 4] {
    let title = words::finding_title(finding.id).to_owned();
    let Outcome::Found { value, confidence, .. } = finding.outcome else {
        return [title, "unknown".to_owned(), String::new(), String::new()];
    };
    let interval = interval(finding).unwrap_or_else(|| exactly(value).to_owned());
    let sure = format!("{}, {}", words::confidence(confidence), percent(confidence));
    [title, bound(&words::value(value)), bound(&interval), bound(&sure)]
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
    let title = words::finding_title(finding.id);
    let evidence = finding.evidence.as_ref().map(|figures| format!("{title}: {}", words::evidence(figures)));
    let caveats = finding.caveats.iter().map(|caveat| format!("{title}, but: {}", words::caveat(caveat)));
    evidence.into_iter().chain(caveats).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_table_breaks_a_name_however_narrow() {
        let row = |name: &str| {
            let cells = [name, "48.7 MB/s", "unknown (30.2 MB/s over 1.59 GiB)", "248 ms every 16 MiB"];
            cells.map(str::to_owned).to_vec()
        };
        let names = ["samsung-fit-plus-blue", "usb"];
        let header = ["device", "first 10 MB", "in the long run", "stalls"].map(str::to_owned).to_vec();
        let table = chart::Table { header, rows: names.map(row).to_vec() };
        for width in 20..130 {
            let text = plain(&table, width);
            assert!(text.iter().all(|line| line.width() <= width), "{width}: {text:#?}");
            let is_whole = names.iter().all(|name| text.iter().any(|line| line.contains(name)));
            assert!(is_whole || width <= names[0].len(), "{width}: {text:#?}");
        }
    }

    #[test]
    fn where_a_table_would_break_numbers_it_is_a_list() {
        let cells = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        let table = chart::Table {
            header: cells(["requests", "MB/s", "between", "median"]),
            rows: vec![cells(["write, in order, 1 MiB", "6.84", "6.66 to 7.03", "43.0 ms"])],
        };
        let narrow =
            ["write, in order, 1 MiB", "    MB/s: 6.84", "    between: 6.66 to 7.03", "    median: 43.0 ms"];
        assert_eq!(plain(&table, 30), narrow);
        assert!(plain(&table, 60)[0].contains("requests"));
        for width in 20..80 {
            let text = plain(&table, width).join("\n");
            let whole = ["6.84", "6.66", "7.03", "43.0 ms"].iter().all(|figure| text.contains(figure));
            assert!(whole && text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
        }
    }
}
