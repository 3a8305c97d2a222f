//! Horizontal bars with intervals as text.

use unicode_width::UnicodeWidthStr;

use super::style::{Ink, Style};
use super::wrap::wrapped;
use crate::chart::{Bar, BarChart};

/// The fewest columns of a bar. Guess: fewer show nothing.
const COLUMNS_MIN: usize = 12;
/// The most columns of a bar: more show no further detail.
const COLUMNS_MAX: usize = 60;

/// The lines of the chart, at most `width` columns wide; without bars where they do not fit.
pub fn draw(chart: &BarChart, width: usize, style: Style) -> Vec<String> {
    let widest = |text: fn(&Bar) -> &str| chart.bars.iter().map(|bar| text(bar).width()).max().unwrap_or(0);
    let (names, labels) = (widest(|bar| &bar.name), widest(|bar| &bar.label));
    let columns = width.saturating_sub(names + labels + 4).min(COLUMNS_MAX);
    if columns < COLUMNS_MIN {
        return chart
            .bars
            .iter()
            .flat_map(|bar| wrapped(&format!("{}: {}", bar.name, bar.label), width))
            .collect();
    }
    let line = |bar: &Bar| {
        let name = format!("{:names$}", bar.name);
        format!("{name}  {}  {:>labels$}", stroke(chart, bar, columns, style), bar.label)
    };
    chart.bars.iter().map(line).chain(wrapped(&legend(chart), width)).collect()
}

/// What the signs are, and the axis.
fn legend(chart: &BarChart) -> String {
    let axis = &chart.axis;
    format!(
        "█ {}, from {} to {}; ├─┤ the interval",
        axis.full_title(),
        axis.label(axis.low),
        axis.label(axis.high)
    )
}

/// A bar up to its value, and over it its interval.
fn stroke(chart: &BarChart, bar: &Bar, columns: usize, style: Style) -> String {
    let column = |value: f64| (chart.axis.clamped(value) * (columns - 1) as f64).round() as usize;
    let (low, end, high) = (column(bar.low), column(bar.value), column(bar.high));
    let sign = |index: usize| match index {
        _ if low < high && index == low => '├',
        _ if low < high && index == high => '┤',
        _ if index == end => '█',
        _ if index > low && index < high => '─',
        _ if index < end => '█',
        _ => ' ',
    };
    style.paint(&(0..columns).map(sign).collect::<String>(), Ink::Series(bar.colour))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, Colour, Table, Unit};

    #[test]
    fn a_bar_ends_at_its_value_between_the_ends_of_its_interval() {
        let bar = |name: &str, value: f64| Bar {
            name: name.to_owned(),
            value,
            low: value * 0.8,
            high: value * 1.2,
            label: format!("{value} s"),
            colour: Colour::Blue,
        };
        let bars = vec![bar("ext4", 50.0), bar("vfat", 100.0)];
        let axis = Axis::for_bars("time", Unit::Seconds, bars.iter().map(|bar| bar.high)).unwrap();
        let chart = BarChart {
            title: String::new(),
            description: String::new(),
            axis,
            bars,
            table: Table::default(),
        };
        let lines = draw(&chart, 60, Style::Plain);
        assert!(lines.iter().all(|line| line.width() <= 60), "{lines:#?}");
        let at = |line: usize, sign: char| lines[line].chars().position(|each| each == sign);
        for line in 0..2 {
            assert!(at(line, '├') < at(line, '┤'), "{lines:#?}");
        }
        assert!(at(0, '┤') < at(1, '├'), "the intervals do not overlap: {lines:#?}");
        assert!(draw(&chart, 20, Style::Plain).iter().all(|line| line.width() <= 20));
        // Names, figures and spaces take 13 columns: twelve are left for a bar, or eleven.
        assert!(draw(&chart, 25, Style::Plain)[0].contains('├'), "{:#?}", draw(&chart, 25, Style::Plain));
        assert_eq!(draw(&chart, 24, Style::Plain), ["ext4: 50 s", "vfat: 100 s"]);
    }
}
