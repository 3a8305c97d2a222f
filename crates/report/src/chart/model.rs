//! The parts of a chart.

use super::Axis;

/// A chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// A name, unique in a report; the anchor on the page.
    pub id: &'static str,
    /// The title.
    pub title: String,
    /// The caption and alternative text: one to four sentences.
    pub description: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series; later ones are drawn above earlier ones.
    pub series: Vec<Series>,
    /// Labelled vertical lines.
    pub annotations: Vec<Annotation>,
    /// The figures of the chart.
    pub table: Table,
}

/// The fewest points of a chart that is drawn.
const POINTS_MIN: usize = 8;
/// The fewest levels of these points, ...
const LEVELS_MIN: usize = 3;
/// ... which lie apart by at least this ratio. Guess: the eye takes less for noise.
const LEVEL_RATIO: f64 = 1.05;

impl Chart {
    /// Whether the chart shows something that a sentence does not: at least eight points on at least three
    /// levels, or a step that it marks.
    #[must_use]
    pub fn is_telling(&self) -> bool {
        let points: Vec<Point> =
            self.series.iter().flat_map(|series| series.points.iter().copied()).collect();
        if points.len() < POINTS_MIN {
            return false;
        }
        let has_both_sides = |annotation: &Annotation| {
            points.iter().any(|point| point.x < annotation.x)
                && points.iter().any(|point| point.x >= annotation.x)
        };
        levels(&points) >= LEVELS_MIN || self.annotations.iter().any(has_both_sides)
    }
}

/// The number of different heights.
fn levels(points: &[Point]) -> usize {
    let mut heights: Vec<f64> = points.iter().map(|point| point.y.abs()).collect();
    heights.sort_by(f64::total_cmp);
    let mut count = 0;
    let mut last = f64::NEG_INFINITY;
    for height in heights {
        if count == 0 || height > last * LEVEL_RATIO {
            count += 1;
            last = height;
        }
    }
    count
}

/// A vertical line with a label, e.g. `erase block 8 MiB`.
#[derive(Debug, Clone, PartialEq)]
pub struct Annotation {
    /// The value on the horizontal axis.
    pub x: f64,
    /// The label.
    pub label: String,
}

/// A series of points.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its colour.
    pub colour: Colour,
    /// The shape of its points, which distinguishes the series without colour.
    pub marker: Marker,
    /// The drawing style of its points.
    pub style: SeriesStyle,
    /// The points, by ascending `x`.
    pub points: Vec<Point>,
}

/// A point and its spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Position on the horizontal axis.
    pub x: f64,
    /// Position on the vertical axis.
    pub y: f64,
    /// The lower and upper end of the spread, if the point summarises several values.
    pub spread: Option<(f64, f64)>,
}

impl Point {
    /// A point without spread.
    #[must_use]
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y, spread: None }
    }

    /// The same point with this spread; without one if both ends are equal.
    #[must_use]
    pub fn within(mut self, low: f64, high: f64) -> Self {
        self.spread = (low < high).then_some((low, high));
        self
    }
}

/// The drawing style of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesStyle {
    /// Markers joined by a line.
    Line,
    /// Markers on stems from zero.
    Stems,
    /// Small dots, for many single measurements.
    Dots,
}

/// A colour by name; the page and the terminal map it to shades for light and dark backgrounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Colour {
    Blue,
    Teal,
    Green,
    Violet,
    Red,
    Orange,
    Pink,
    Grey,
}

impl Colour {
    /// For fast series, in this order.
    pub const GOOD: [Self; 4] = [Self::Blue, Self::Teal, Self::Green, Self::Violet];
    /// For slow series, in this order.
    pub const BAD: [Self; 4] = [Self::Red, Self::Orange, Self::Pink, Self::Grey];
}

/// The shape of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    OpenCircle,
    OpenSquare,
    OpenTriangle,
    OpenDiamond,
    Cross,
}

impl Marker {
    /// Filled shapes.
    pub const FILLED: [Self; 4] = [Self::Circle, Self::Square, Self::Triangle, Self::Diamond];
    /// Outlined shapes.
    pub const OPEN: [Self; 4] = [Self::OpenCircle, Self::OpenSquare, Self::OpenTriangle, Self::OpenDiamond];
}

/// A table of text.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Table {
    /// The column titles.
    pub header: Vec<String>,
    /// The rows, each as long as the header.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// The same table without the columns that are empty in every row.
    pub(crate) fn without_empty_columns(self) -> Self {
        let filled: Vec<bool> = (0..self.header.len())
            .map(|column| self.rows.iter().any(|row| row.get(column).is_some_and(|cell| !cell.is_empty())))
            .collect();
        let keep = |row: Vec<String>| -> Vec<String> {
            row.into_iter().zip(&filled).filter(|(_, filled)| **filled).map(|(cell, _)| cell).collect()
        };
        Self { header: keep(self.header), rows: self.rows.into_iter().map(keep).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Scale, Unit};

    fn chart(points: &[(f64, f64)], annotation: Option<f64>) -> Chart {
        let axis =
            || Axis { title: String::new(), unit: Unit::Number, scale: Scale::Linear, low: 0.0, high: 100.0 };
        let points = points.iter().map(|(x, y)| Point::new(*x, *y)).collect();
        Chart {
            id: "test",
            title: String::new(),
            description: String::new(),
            x: axis(),
            y: axis(),
            series: vec![Series {
                name: String::new(),
                colour: Colour::Blue,
                marker: Marker::Circle,
                style: SeriesStyle::Line,
                points,
            }],
            annotations: annotation.map(|x| Annotation { x, label: String::new() }).into_iter().collect(),
            table: Table::default(),
        }
    }

    #[test]
    fn a_chart_is_telling_with_enough_levels_or_a_marked_step() {
        let flat: Vec<(f64, f64)> = (0..9).map(|x| (f64::from(x), 5.0)).collect();
        let rising: Vec<(f64, f64)> = (1..10).map(|x| (f64::from(x), f64::from(x))).collect();
        assert!(!chart(&flat, None).is_telling(), "one level");
        assert!(chart(&flat, Some(4.0)).is_telling(), "a step that it marks");
        assert!(!chart(&flat, Some(40.0)).is_telling(), "a step outside the points");
        assert!(chart(&rising, None).is_telling());
        assert!(!chart(&rising[..7], None).is_telling(), "seven points");
    }
}
