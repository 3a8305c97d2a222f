//! A chart as lines of text.

use unicode_width::UnicodeWidthStr;

use super::canvas::Canvas;
use super::style::{Ink, Style};
use super::wrap::wrapped;
use crate::chart::{Chart, Drawn, Marker, Point, Series, Tick};

/// Rows of the plot itself: three charts fit on a tall terminal.
const ROWS: usize = 13;
/// Wider plots only spread the same points.
const MOST_COLUMNS: usize = 96;
/// Narrower plots show nothing.
const LEAST_COLUMNS: usize = 16;

/// The chart's lines, at most `width` columns wide; none where it has no room.
pub fn draw(chart: &Chart, width: usize, style: Style) -> Vec<String> {
    let y_ticks = chart.y.ticks(6);
    let gutter = y_ticks.iter().map(|tick| tick.label.width()).max().unwrap_or(0) + 1;
    let columns = width.saturating_sub(gutter + 2).min(MOST_COLUMNS);
    if columns < LEAST_COLUMNS {
        return wrapped("(the terminal is too narrow for this chart)", width);
    }
    let plot = Plot { chart, columns, gutter, style };
    let head = wrapped(&chart.y.full_title(), width);
    let body = plot.body(&y_ticks);
    let tail = [plot.base(), plot.x_labels(), plot.x_title()];
    head.into_iter().chain(plot.notes()).chain(body).chain(tail).chain(plot.legend(width)).collect()
}

struct Plot<'a> {
    chart: &'a Chart,
    columns: usize,
    gutter: usize,
    style: Style,
}

impl Plot<'_> {
    fn body(&self, y_ticks: &[Tick]) -> Vec<String> {
        let lines = self.canvas();
        let lines = lines.lines(self.style);
        let label = |row: usize| y_ticks.iter().find(|tick| self.dot_y(tick.position) / 4 == row as i64);
        lines.enumerate().map(|(row, line)| self.labelled(label(row), &line)).collect()
    }

    fn labelled(&self, tick: Option<&Tick>, line: &str) -> String {
        let (label, axis) = tick.map_or(("", '│'), |tick| (tick.label.as_str(), '┤'));
        let padding = " ".repeat(self.gutter.saturating_sub(label.width() + 1));
        let frame = self.style.paint(&format!("{padding}{label} {axis}"), Ink::Faint);
        format!("{frame}{line}")
    }

    fn canvas(&self) -> Canvas {
        let mut canvas = Canvas::new(self.columns, ROWS);
        for series in &self.chart.series {
            self.strokes(&mut canvas, series);
        }
        for series in &self.chart.series {
            for (_, at) in self.placed(series) {
                canvas.shape(at, shape(series.marker), Ink::Series(series.colour));
            }
        }
        for note in &self.chart.notes {
            if let Some(position) = self.chart.x.position(note.at) {
                canvas.dashes(self.dot_x(position));
            }
        }
        canvas
    }

    fn strokes(&self, canvas: &mut Canvas, series: &Series) {
        let ink = Ink::Series(series.colour);
        let placed: Vec<(Point, (i64, i64))> = self.placed(series).collect();
        let y_of = |value: f64| self.dot_y(self.chart.y.clamped(value));
        match series.drawn {
            Drawn::Dots => {}
            Drawn::Line => placed.windows(2).for_each(|pair| canvas.line(pair[0].1, pair[1].1, ink)),
            Drawn::Stems => placed.iter().for_each(|(_, (x, y))| canvas.line((*x, y_of(0.0)), (*x, *y), ink)),
        }
        for (point, (x, _)) in placed {
            if let Some((low, high)) = point.spread {
                canvas.line((x, y_of(low)), (x, y_of(high)), ink);
            }
        }
    }

    fn placed<'a>(&'a self, series: &'a Series) -> impl Iterator<Item = (Point, (i64, i64))> + 'a {
        series.points.iter().filter_map(|point| {
            let (x, y) = (self.chart.x.position(point.x)?, self.chart.y.position(point.y)?);
            Some((*point, (self.dot_x(x), self.dot_y(y))))
        })
    }

    fn dot_x(&self, position: f64) -> i64 {
        (position * (self.columns * 2 - 1) as f64).round() as i64
    }

    fn dot_y(&self, position: f64) -> i64 {
        ((1.0 - position) * (ROWS * 4 - 1) as f64).round() as i64
    }

    fn column(&self, position: f64) -> usize {
        usize::try_from(self.dot_x(position) / 2).unwrap_or(0)
    }

    /// A row above the plot for each note, so that no label covers a point.
    fn notes(&self) -> Vec<String> {
        let placed = self.chart.notes.iter().filter_map(|note| Some((note, self.chart.x.position(note.at)?)));
        let line = |(note, position): (&crate::chart::Note, f64)| {
            let (column, width) = (self.column(position), note.label.width() + 1);
            let fits = column + 1 + width <= self.columns;
            let text = if fits { format!("┊ {}", note.label) } else { format!("{} ┊", note.label) };
            let start = if fits { column } else { column.saturating_sub(width) };
            let text: String = text.chars().take(self.columns).collect();
            self.style.paint(&format!("{}{text}", " ".repeat(self.gutter + 1 + start)), Ink::Faint)
        };
        placed.map(line).collect()
    }

    fn x_ticks(&self) -> Vec<Tick> {
        self.chart.x.ticks((self.columns / 10).max(2))
    }

    fn base(&self) -> String {
        let columns: Vec<usize> = self.x_ticks().iter().map(|tick| self.column(tick.position)).collect();
        let base: String =
            (0..self.columns).map(|column| if columns.contains(&column) { '┬' } else { '─' }).collect();
        self.style.paint(&format!("{}└{base}", " ".repeat(self.gutter)), Ink::Faint)
    }

    /// The horizontal axis's labels, each below its tick; one that would touch its neighbour is left out.
    fn x_labels(&self) -> String {
        let mut line = " ".repeat(self.gutter + 1);
        for tick in self.x_ticks() {
            let width = tick.label.width();
            let middle = self.gutter + 1 + self.column(tick.position);
            let start = middle
                .saturating_sub(width / 2)
                .min(self.gutter + 1 + self.columns - width.min(self.columns));
            if start > line.width() || line.trim().is_empty() && start >= self.gutter {
                line = format!("{line:<start$}{}", tick.label);
            }
        }
        self.style.paint(&line, Ink::Faint)
    }

    fn x_title(&self) -> String {
        let title = self.chart.x.full_title();
        let title: String = title.chars().take(self.columns).collect();
        format!("{}{title}", " ".repeat((self.gutter + 1 + self.columns).saturating_sub(title.width())))
    }

    fn legend(&self, width: usize) -> Vec<String> {
        let mut lines: Vec<(usize, String)> = Vec::new();
        for series in &self.chart.series {
            let name = wrapped(&series.name, width - 4).swap_remove(0);
            let entry = format!(
                "{} {name}",
                self.style.paint(&shape(series.marker).to_string(), Ink::Series(series.colour))
            );
            let columns = name.width() + 2;
            match lines.last_mut() {
                Some((used, line)) if *used + 3 + columns <= width => {
                    *used += 3 + columns;
                    line.push_str("   ");
                    line.push_str(&entry);
                }
                _ => lines.push((columns + 2, format!("  {entry}"))),
            }
        }
        lines.into_iter().map(|(_, line)| line).collect()
    }
}

const fn shape(marker: Marker) -> char {
    match marker {
        Marker::Circle => '●',
        Marker::Square => '■',
        Marker::Triangle => '▲',
        Marker::Diamond => '◆',
        Marker::OpenCircle => '○',
        Marker::OpenSquare => '□',
        Marker::OpenTriangle => '△',
        Marker::OpenDiamond => '◇',
        Marker::Cross => '×',
    }
}
