//! The parts of a chart.

use super::Axis;

/// One chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// A short name, unique in a report; the anchor on the page.
    pub id: &'static str,
    /// What it shows, in a few words.
    pub title: String,
    /// What can be seen in it, in a sentence or two: the alternative text.
    pub description: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, first below last.
    pub series: Vec<Series>,
    /// Vertical lines with a label.
    pub notes: Vec<Note>,
    /// The same figures.
    pub table: Table,
}

/// A vertical line with a label, e.g. `erase block 8 MiB`.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// Where, on the horizontal axis.
    pub at: f64,
    /// What it marks.
    pub label: String,
}

/// Points that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its colour.
    pub colour: Colour,
    /// The shape of its points, so that it is told from others without colour too.
    pub marker: Marker,
    /// How its points are drawn.
    pub drawn: Drawn,
    /// The points, by rising `x`.
    pub points: Vec<Point>,
}

/// One point and its spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Position on the horizontal axis.
    pub x: f64,
    /// Position on the vertical axis.
    pub y: f64,
    /// The spread's lower and upper end, if more than one value stands behind the point.
    pub spread: Option<(f64, f64)>,
}

impl Point {
    /// A point without spread.
    #[must_use]
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y, spread: None }
    }

    /// The same point with this spread; none if both ends are the same.
    #[must_use]
    pub fn within(mut self, low: f64, high: f64) -> Self {
        self.spread = (low < high).then_some((low, high));
        self
    }
}

/// How points are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drawn {
    /// Marked, and joined by a line.
    Line,
    /// Marked, on a stem from zero.
    Stems,
    /// Small dots: many single measurements.
    Dots,
}

/// A colour by name; the page and the terminal each have their own shade of it, for light and for dark.
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
    /// For what goes well, in this order.
    pub const CALM: [Self; 4] = [Self::Blue, Self::Teal, Self::Green, Self::Violet];
    /// For what goes badly, in this order.
    pub const ALARM: [Self; 4] = [Self::Red, Self::Orange, Self::Pink, Self::Grey];
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

/// Rows of text under a header.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Table {
    /// The columns' names.
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
