//! The comparison as text: what to take and one table on the first screen, then charts and conditions.

use flashscope_infer::trials::summary::Cell;
use flashscope_record::{TrialOperation, TrialWorkload};
use unicode_width::UnicodeWidthStr;

use super::charts::charts;
use super::words::{in_the_interval, not_in_the_interval, sentences, slower_reads};
use super::{Compared, words};
use crate::chart::Table;
use crate::quantity;
use crate::terminal::{self, Style};
use crate::words::Sentence;

/// The most columns of the first screen.
const SCREEN_WIDTH: usize = 80;
/// The most lines of the first screen.
const SCREEN_LINES: usize = 24;
/// The lines below the answers, besides the rows: an empty one, two of titles, and a hint.
const FRAME_LINES: usize = 4;
/// The fewest rows of the table, on narrower terminals too.
const ROWS_MIN: usize = 3;

/// The comparison as text, lines at most `width` columns wide: the first screen, and with `details` charts,
/// figures and conditions.
#[must_use]
pub fn text(compared: &Compared<'_>, width: usize, style: Style, details: bool) -> String {
    let mut lines: Vec<String> = Vec::new();
    let narrow = width.min(SCREEN_WIDTH);
    for sentence in sentences(compared) {
        lines.extend(terminal::wrapped(sentence.as_str(), narrow));
    }
    let rows_max = match details {
        true => usize::MAX,
        false => SCREEN_LINES.saturating_sub(lines.len() + FRAME_LINES).max(ROWS_MIN),
    };
    if compared.summary.cells.is_empty() {
        // The details list them.
        let failures = compared.failures.iter().filter(|_| !details).map(Sentence::new);
        lines.extend(failures.flat_map(|failure| terminal::wrapped(failure.as_str(), narrow)));
    } else {
        lines.push(String::new());
        lines.extend(table_lines(compared, narrow, rows_max));
    }
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
        ("Reads", slower_reads(compared)),
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

/// The fewest columns of a cell: `1,432 s` and a space.
const CELL_WIDTH_MIN: usize = 8;

/// The table as text: its columns, and the rows with the filesystem first.
struct Grid {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

/// The table, the filesystem that decides first. At most `rows_max` rows; a line says how many are left out.
fn table_lines(compared: &Compared<'_>, width: usize, rows_max: usize) -> Vec<String> {
    let variants = variants(compared);
    let is_cut = variants.len() > rows_max;
    let shown = if is_cut { &variants[..rows_max.saturating_sub(1)] } else { &variants[..] };
    let with_interval = Grid::new(compared, shown, true);
    let grid = if with_interval.width() <= width { with_interval } else { Grid::new(compared, shown, false) };
    let mut lines = grid.lines(width);
    if is_cut {
        lines.push(format!("and {} slower ones: --details", variants.len() - shown.len()));
    }
    lines
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
            true => quantity::seconds_interval(estimate.low, estimate.high),
            false => quantity::seconds(estimate.seconds),
        },
    )
}

impl Grid {
    /// Write and read of each kind of files, and the interval of the first if asked.
    fn new(compared: &Compared<'_>, variants: &[&str], with_interval: bool) -> Self {
        let workloads = compared.summary.workloads().into_iter();
        let mut columns: Vec<Column> = workloads
            .flat_map(|workload| TrialOperation::ALL.map(|operation| (workload, operation, false)))
            .collect();
        if let Some((workload, operation, _)) = columns.first().copied().filter(|_| with_interval) {
            columns.insert(1, (workload, operation, true));
        }
        let row = |variant: &&str| {
            let cells = columns.iter().map(|column| cell_text(compared, variant, *column));
            std::iter::once((*variant).to_owned()).chain(cells).collect()
        };
        let rows = variants.iter().map(row).collect();
        Self { columns, rows }
    }

    fn width(&self) -> usize {
        self.widths().iter().sum()
    }

    /// The width of each column, that of the names first.
    fn widths(&self) -> Vec<usize> {
        let widest =
            |index: usize| self.rows.iter().filter_map(move |row| row.get(index)).map(|cell| cell.width());
        let names = widest(0).max().unwrap_or(0).max("filesystem".len());
        let cells = self.columns.iter().enumerate().map(|(index, column)| {
            let title = title(column).width();
            (widest(index + 1).max().unwrap_or(0).max(title) + 1).max(CELL_WIDTH_MIN)
        });
        std::iter::once(names).chain(cells).collect()
    }

    /// The lines with two of titles; a list if they do not fit.
    fn lines(&self, width: usize) -> Vec<String> {
        if self.width() > width {
            let titles = self.columns.iter();
            let titles = titles.map(|column| format!("{}, {}", words::purpose(column.0), title(column)));
            let header = std::iter::once("filesystem".to_owned()).chain(titles).collect();
            return terminal::table_lines(&Table { header, rows: self.rows.clone() }, width);
        }
        let widths = self.widths();
        let titles: Vec<String> =
            std::iter::once("filesystem").chain(self.columns.iter().map(title)).map(str::to_owned).collect();
        let rows = std::iter::once(&titles).chain(&self.rows).map(|cells| line(cells, &widths));
        std::iter::once(self.groups(&widths)).chain(rows).collect()
    }

    /// The kinds of files, each at the right end of its columns.
    fn groups(&self, widths: &[usize]) -> String {
        let mut line = " ".repeat(widths.first().copied().unwrap_or(0));
        let mut span = 0;
        for (index, (workload, ..)) in self.columns.iter().enumerate() {
            span += widths.get(index + 1).copied().unwrap_or(0);
            if self.columns.get(index + 1).is_none_or(|(next, ..)| next != workload) {
                let name =
                    if *workload == TrialWorkload::Like { "your files" } else { words::purpose(*workload) };
                line.push_str(&format!("{name:>span$}"));
                span = 0;
            }
        }
        line
    }
}

const fn title((_, operation, is_interval): &Column) -> &'static str {
    if *is_interval { "95 % interval" } else { operation.name() }
}

/// A row with the name on the left and the figures on the right of their columns.
fn line(cells: &[String], widths: &[usize]) -> String {
    let mut cells = cells.iter().zip(widths);
    let name = cells.next().map_or_else(String::new, |(name, width)| format!("{name:width$}"));
    let figures = cells.map(|(cell, width)| format!("{cell:>width$}"));
    std::iter::once(name).chain(figures).collect()
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;
    use flashscope_infer::trials::summary::Summary;
    use flashscope_record::{Trial, Writeback};

    use super::*;
    use crate::chart::Colour;
    use crate::filesystems::{Fewer, TrialSource, html_page};

    /// `count` filesystems with late and early writeback, each of the first ten twice as slow as the last.
    fn trials(count: i32) -> Vec<Trial> {
        let names = ["ext4-stripe", "ext4-nojournal", "vfat", "vfat-flush"];
        let of = |index: i32| {
            let name = names.get(usize::try_from(index).unwrap()).map(ToString::to_string);
            let variant = name.unwrap_or_else(|| format!("filesystem-{index}"));
            let each = move |workload, operation, writeback| Trial {
                variant: variant.clone(),
                workload,
                operation,
                start: Bytes::mib(4),
                round: 1,
                writeback,
                seconds: 3.0 * 2.0_f64.powi(index.min(9)),
            };
            TrialWorkload::STANDARD.into_iter().flat_map(move |workload| {
                let each = each.clone();
                let modes = [Writeback::Late, Writeback::Early];
                TrialOperation::ALL.into_iter().flat_map(move |operation| {
                    let each = each.clone();
                    modes.map(move |writeback| each(workload, operation, writeback))
                })
            })
        };
        (0..count).flat_map(of).collect()
    }

    fn with<T>(count: i32, show: impl FnOnce(&Compared<'_>) -> T) -> T {
        let summary = Summary::of(&trials(count));
        let source = TrialSource::Replayed {
            kernels: vec!["6.1".to_owned()],
            memories: vec![Bytes::gib(2)],
            capacities: vec![Bytes::gib(1)],
        };
        show(&Compared {
            target: "sim:<x>",
            device: "a stick",
            start: Bytes::mib(4),
            summary: &summary,
            source: &source,
            fewer: &[],
            failures: &["vfat: refused".to_owned()],
            notes: &[],
        })
    }

    #[test]
    fn first_screen_of_many_filesystems_has_24_lines_of_80_columns() {
        for count in [1, 14, 30] {
            let screen = with(count, |compared| text(compared, 200, Style::Plain, false));
            assert!(screen.lines().count() <= 24, "{screen}");
            assert!(screen.lines().all(|line| line.width() <= 80), "{screen}");
            assert!(screen.contains("95 % interval"), "{screen}");
        }
        let many = with(30, |compared| text(compared, 80, Style::Plain, false));
        assert!(many.contains("slower ones: --details"), "{many}");
    }

    #[test]
    fn every_width_keeps_every_line_within_it() {
        for width in 20..120 {
            let all = with(5, |compared| text(compared, width, Style::Plain, true));
            let long = all.lines().find(|line| line.width() > width);
            assert_eq!(long, None, "{width}: {all}");
        }
    }

    #[test]
    fn without_a_trial_the_failures_stand_instead_of_a_table() {
        let screen = with(0, |compared| text(compared, 80, Style::Plain, false));
        assert!(screen.starts_with("No trial was completed.\nVfat: refused.\n"), "{screen}");
        assert!(!screen.contains("filesystem"), "{screen}");
        let page = with(0, html_page);
        assert!(!page.contains("<h2>Times"), "{page}");
    }

    /// The first line about these filesystems, each with the time of its index.
    fn first_line(names: &[&str], fewer: &[Fewer]) -> String {
        let trial = |(index, name): (i32, &&str)| Trial {
            variant: (*name).to_owned(),
            workload: TrialWorkload::Small,
            operation: TrialOperation::Write,
            start: Bytes::mib(4),
            round: 1,
            writeback: Writeback::Host,
            seconds: 10.0_f64.powi(index),
        };
        let summary = Summary::of(&(0..).zip(names).map(trial).collect::<Vec<_>>());
        let line = with(0, |compared| {
            let compared = Compared { summary: &summary, fewer, ..*compared };
            text(&compared, 300, Style::Plain, true)
        });
        line.split("\n\n").next().unwrap_or_default().replace('\n', " ")
    }

    #[test]
    fn a_faster_filesystem_that_no_plan_makes_is_named() {
        let line = first_line(&["reiserfs", "vfat"], &[]);
        assert_eq!(line, "Small files: vfat writes in 10.0 s; reiserfs is faster, but no plan makes it.");
        let line = first_line(&["ext2", "ext3"], &[]);
        assert_eq!(line, "Small files: ext2 writes fastest, in 1.00 s, but no plan makes it.");
        let fewer =
            Fewer { workload: TrialWorkload::Small, written: 117, wanted: 33_000, bytes: Bytes::mib(2) };
        let line = first_line(&["ext4"], &[fewer]);
        assert_eq!(line, "Small files (117 of 33,000): ext4 writes in 1.00 s; nothing else was tried.");
    }

    #[test]
    fn both_limits_of_writeback_are_said_to_be_in_the_interval() {
        let all = with(3, |compared| text(compared, 80, Style::Plain, true));
        assert!(all.contains("Late and early writeback") && !all.contains("were not both"), "{all}");
        assert!(all.contains("Source tree: take ext4-stripe."), "{all}");
        let late = trials(3).into_iter().filter(|trial| trial.writeback == Writeback::Late);
        let summary = Summary::of(&late.collect::<Vec<_>>());
        let alone =
            with(0, |compared| text(&Compared { summary: &summary, ..*compared }, 80, Style::Plain, true));
        let words = alone.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains("late and early were not both") && !words.contains("Late and early writeback"),
            "{alone}"
        );
    }

    #[test]
    fn page_has_a_picture_for_each_table_and_escapes_the_target() {
        let page = with(5, html_page);
        assert_eq!(page.matches("<svg").count(), 12, "wide and narrow for six tables");
        assert!(page.contains("sim:&lt;x&gt;") && !page.contains("sim:<x>"));
    }

    #[test]
    fn bar_of_what_sticks_are_sold_with_is_red_and_of_the_fastest_green() {
        let expected = [
            ("ext4-stripe", Colour::Green),
            ("ext4-nojournal", Colour::Blue),
            ("vfat", Colour::Red),
            ("vfat-flush", Colour::Red),
            ("filesystem-4", Colour::Blue),
        ];
        for chart in with(5, charts) {
            let seen: Vec<(&str, Colour)> =
                chart.bars.iter().map(|bar| (bar.name.as_str(), bar.colour)).collect();
            assert_eq!(seen, expected, "{}", chart.title);
        }
    }

    /// The names take 11 columns, each of six figures takes 8, and an interval 14 or more.
    #[test]
    fn interval_is_left_out_where_only_the_other_columns_fit() {
        let screen = with(1, |compared| text(compared, 60, Style::Plain, false));
        let row = format!("ext4-stripe{}", "  3.00 s".repeat(6));
        assert!(screen.lines().any(|line| line == row), "{screen}");
        assert!(!screen.contains("95 % interval"), "{screen}");
    }
}
