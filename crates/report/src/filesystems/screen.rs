//! The comparison as text: what to take and one table on the first screen, then charts and conditions.

use flashscope_infer::trials::summary::Cell;
use flashscope_record::{TrialOperation, TrialWorkload};
use unicode_width::UnicodeWidthStr;

use super::charts::charts;
use super::words::{in_the_interval, not_in_the_interval, sentences};
use super::{Compared, words};
use crate::chart::Table;
use crate::quantity;
use crate::terminal::{self, Style};
use crate::words::Sentence;

/// The most columns of the first screen.
const SCREEN_WIDTH: usize = 80;
/// The rows of the table on the first screen: with three answers of two lines, two lines of titles and a hint,
/// 24 lines.
const ROWS_MAX: usize = 14;

/// The comparison as text, lines at most `width` columns wide: the first screen, and with `details` charts,
/// figures and conditions.
#[must_use]
pub fn text(compared: &Compared<'_>, width: usize, style: Style, details: bool) -> String {
    let mut lines: Vec<String> = Vec::new();
    let narrow = width.min(SCREEN_WIDTH);
    for sentence in sentences(compared) {
        lines.extend(terminal::wrapped(sentence.as_str(), narrow));
    }
    lines.push(String::new());
    let rows_max = if details { usize::MAX } else { ROWS_MAX };
    lines.extend(table_lines(compared, narrow, rows_max));
    if !details {
        lines.extend(terminal::wrapped(
            "Charts, intervals and conditions: --details, or -o page.html.",
            narrow,
        ));
    }
    let first: String = lines.iter().map(|line| format!("{}\n", line.trim_end())).collect();
    if details { first + &details_text(compared, width, style) } else { first }
}

fn details_text(compared: &Compared<'_>, width: usize, style: Style) -> String {
    let lists = [
        ("Failed", compared.failures.iter().map(Sentence::new).collect()),
        ("In the intervals", in_the_interval(compared)),
        ("Not in the intervals", not_in_the_interval(compared)),
        ("Conditions", conditions(compared)),
    ];
    terminal::bar_charts_text(&charts(compared), &lists, width, style)
}

/// Where it was compared.
pub fn conditions(compared: &Compared<'_>) -> Vec<Sentence> {
    let facts = [
        format!("Target: {}, {}", compared.target, compared.device),
        format!("Start of each filesystem: {}", compared.start),
    ];
    facts.into_iter().chain(compared.notes.iter().cloned()).map(Sentence::new).collect()
}

/// A column of the table: its files, its direction, and whether it is the interval.
type Column = (TrialWorkload, TrialOperation, bool);

/// The table, the filesystem that decides first. At most `rows_max` rows; a line says how many are left out.
fn table_lines(compared: &Compared<'_>, width: usize, rows_max: usize) -> Vec<String> {
    let columns = columns(compared, width);
    let variants = variants(compared);
    let left_out = variants.len().saturating_sub(rows_max);
    let shown = if left_out > 0 { &variants[..rows_max.saturating_sub(1)] } else { &variants[..] };
    let rows: Vec<Vec<String>> = shown
        .iter()
        .map(|variant| {
            let cells = columns.iter().map(|column| cell_text(compared, variant, *column));
            std::iter::once((*variant).to_owned()).chain(cells).collect()
        })
        .collect();
    let mut lines = drawn(&columns, &rows, width);
    if left_out > 0 {
        lines.push(format!("and {} slower ones: --details", variants.len() - shown.len()));
    }
    lines
}

/// The columns that fit: write and read of each kind of files, and the interval of the first.
fn columns(compared: &Compared<'_>, width: usize) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for workload in compared.summary.workloads() {
        columns.extend(TrialOperation::ALL.map(|operation| (workload, operation, false)));
    }
    if let Some((workload, operation, _)) = columns.first().copied() {
        columns.insert(1, (workload, operation, true));
    }
    let names = variants(compared).iter().map(|name| name.width()).max().unwrap_or(0).max("filesystem".len());
    if names + columns.iter().map(|column| column_width(*column)).sum::<usize>() > width && columns.len() > 1
    {
        columns.remove(1);
    }
    columns
}

const fn column_width((_, _, is_interval): Column) -> usize {
    if is_interval { 16 } else { 9 }
}

/// The filesystems, the fastest writer of the first kind of files first.
fn variants<'a>(compared: &'a Compared<'_>) -> Vec<&'a str> {
    let mut variants: Vec<&str> = Vec::new();
    for cell in &compared.summary.cells {
        if !variants.contains(&cell.variant.as_str()) {
            variants.push(&cell.variant);
        }
    }
    variants
}

fn cell_text(compared: &Compared<'_>, variant: &str, column: Column) -> String {
    let (workload, operation, is_interval) = column;
    compared.summary.cell(variant, workload, operation).map_or_else(
        || "-".to_owned(),
        |Cell { estimate, .. }| match is_interval {
            true => quantity::interval_ends(estimate.low, estimate.high).join(" to "),
            false => quantity::seconds(estimate.seconds),
        },
    )
}

/// The table with two lines of titles; a list if it does not fit.
fn drawn(columns: &[Column], rows: &[Vec<String>], width: usize) -> Vec<String> {
    let names = rows.iter().filter_map(|row| row.first()).map(|name| name.width());
    let names = names.max().unwrap_or(0).max("filesystem".len());
    let title = |column: &Column| match column {
        (_, _, true) => "95 % interval".to_owned(),
        (_, operation, _) => operation.name().to_owned(),
    };
    if names + columns.iter().map(|column| column_width(*column)).sum::<usize>() > width {
        let titles = columns.iter().map(|column| format!("{} {}", words::purpose(column.0), title(column)));
        let header = std::iter::once("filesystem".to_owned()).chain(titles).collect();
        return terminal::table_lines(&Table { header, rows: rows.to_vec() }, width);
    }
    let row = |cells: &mut dyn Iterator<Item = String>| {
        let name = cells.next().unwrap_or_default();
        let cells = cells.zip(columns).map(|(cell, column)| format!("{cell:>0$}", column_width(*column)));
        format!("{name:names$}{}", cells.collect::<String>())
    };
    let mut groups = String::new();
    for (index, column) in columns.iter().enumerate() {
        let is_first = index == 0 || columns[index - 1].0 != column.0;
        let text = if is_first { words::purpose(column.0) } else { "" };
        groups.push_str(&format!("{text:>0$}", column_width(*column)));
    }
    let titles = std::iter::once("filesystem".to_owned()).chain(columns.iter().map(title));
    [format!("{:names$}{groups}", ""), row(&mut titles.into_iter())]
        .into_iter()
        .chain(rows.iter().map(|cells| row(&mut cells.iter().cloned())))
        .collect()
}
