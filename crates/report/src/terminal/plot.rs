//! A chart as text.

use unicode_width::UnicodeWidthStr;

use super::canvas::Canvas;
use super::style::{Ink, Style};
use super::wrap::wrapped;
use crate::chart::{Chart, Marker, Point, Series, SeriesStyle, Tick};

/// The rows of a plot: three charts fit on a tall terminal.
const ROWS: usize = 13;
/// The most columns of a plot: more show no further detail.
const COLUMNS_MAX: usize = 96;
/// The fewest columns of a plot. Guess: fewer are unreadable.
const COLUMNS_MIN: usize = 16;

/// The lines of the chart, at most `width` columns wide; a remark where it does not fit.
pub fn draw(chart: &Chart, width: usize, style: Style) -> Vec<String> {
    let y_ticks = chart.y.ticks(6);
    let gutter = y_ticks.iter().map(|tick| tick.label.width()).max().unwrap_or(0) + 1;
    let columns = width.saturating_sub(gutter + 2).min(COLUMNS_MAX);
    if columns < COLUMNS_MIN {
        return wrapped("(the terminal is too narrow for this chart)", width);
    }
    let plot = Plot { chart, columns, gutter, style };
    let head = wrapped(&chart.y.full_title(), width);
    let body = plot.body(&y_ticks);
    let tail = [plot.base(), plot.x_labels(), plot.x_title()];
    head.into_iter().chain(plot.annotations()).chain(body).chain(tail).chain(plot.legend(width)).collect()
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
                canvas.marker(at, symbol(series.marker), Ink::Series(series.colour));
            }
        }
        for annotation in &self.chart.annotations {
            if let Some(position) = self.chart.x.position(annotation.x) {
                canvas.dashes(self.dot_x(position));
            }
        }
        canvas
    }

    fn strokes(&self, canvas: &mut Canvas, series: &Series) {
        let ink = Ink::Series(series.colour);
        let placed: Vec<(Point, (i64, i64))> = self.placed(series).collect();
        let y_of = |value: f64| self.dot_y(self.chart.y.clamped(value));
        match series.style {
            SeriesStyle::Dots => {}
            SeriesStyle::Line => placed.windows(2).for_each(|pair| canvas.line(pair[0].1, pair[1].1, ink)),
            SeriesStyle::Stems => {
                placed.iter().for_each(|(_, (x, y))| canvas.line((*x, y_of(0.0)), (*x, *y), ink))
            }
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

    /// A row above the plot for each annotation, so that no label covers a point.
    fn annotations(&self) -> Vec<String> {
        let placed = self
            .chart
            .annotations
            .iter()
            .filter_map(|annotation| Some((annotation, self.chart.x.position(annotation.x)?)));
        let line = |(annotation, position): (&crate::chart::Annotation, f64)| {
            let (column, width) = (self.column(position), annotation.label.width() + 1);
            let fits = column + 1 + width <= self.columns;
            let text =
                if fits { format!("┊ {}", annotation.label) } else { format!("{} ┊", annotation.label) };
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

    /// The labels of the horizontal axis below their ticks; a label that would touch its neighbour is left
    /// out.
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
                self.style.paint(&symbol(series.marker).to_string(), Ink::Series(series.colour))
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

const fn symbol(marker: Marker) -> char {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, Colour, Scale, Table, Unit};

    #[test]
    fn a_name_too_long_for_the_legend_ends_with_a_whole_word() {
        let axis = |title: &str| Axis {
            title: title.to_owned(),
            unit: Unit::Number,
            scale: Scale::Linear,
            low: 0.0,
            high: 10.0,
        };
        let series = Series {
            name: "one very long name of a series of points".to_owned(),
            colour: Colour::Blue,
            marker: Marker::Circle,
            style: SeriesStyle::Line,
            points: vec![Point::new(1.0, 2.0), Point::new(9.0, 8.0)],
        };
        let chart = Chart {
            id: "test",
            title: String::new(),
            description: String::new(),
            x: axis("across"),
            y: axis("up"),
            series: vec![series],
            annotations: Vec::new(),
            table: Table::default(),
        };
        let lines = draw(&chart, 30, Style::Plain);
        assert_eq!(lines.last().unwrap(), "  ● one very long name of a");
        assert!(lines.iter().all(|line| line.width() <= 30), "{lines:?}");
    }
}
