//! The legend below the plot, and the annotations above it.

use maud::{Markup, html};

use super::coordinate::at;
use super::frame::{Frame, Layout, ROW};
use super::marks;
use crate::chart::{Chart, Marker, Series, SeriesStyle};

/// The mean width of a character of chart text. Guess: 7.2 of 13 px.
const CHARACTER_WIDTH: f64 = 7.2;
/// The width of a marker and the gap between two entries.
const MARKER_WIDTH: f64 = 38.0;

/// The rows of the legend; each entry with its left edge.
pub fn rows(chart: &Chart, layout: Layout) -> Vec<Vec<(f64, &Series)>> {
    let mut rows: Vec<Vec<(f64, &Series)>> = Vec::new();
    let mut end = f64::INFINITY;
    for series in &chart.series {
        let width = MARKER_WIDTH + series.name.chars().count() as f64 * CHARACTER_WIDTH;
        if end + width > layout.width() {
            rows.push(Vec::new());
            end = 0.0;
        }
        if let Some(row) = rows.last_mut() {
            row.push((end, series));
        }
        end += width;
    }
    rows
}

pub fn draw(rows: &[Vec<(f64, &Series)>], frame: &Frame) -> Markup {
    html! {
        @for (index, row) in rows.iter().enumerate() {
            @let y = frame.legend_top() + ROW * (index as f64 + 0.6);
            @for (x, series) in row { (entry(series, *x, y)) }
        }
    }
}

fn entry(series: &Series, x: f64, y: f64) -> Markup {
    let stroke = format!("M{} {}h20", at(x + 1.0), at(y));
    html! {
        g class=(marks::class(series.colour)) {
            @if series.style == SeriesStyle::Dots {
                (marks::shape(Marker::Circle, x + 11.0, y))
            } @else {
                path class="line" d=(stroke) {}
                (marks::shape(series.marker, x + 11.0, y))
            }
        }
        text class="legend" x=(at(x + 26.0)) y=(at(y + 4.5)) { (series.name) }
    }
}

/// The annotations, each on its own row above the plot, so that no label covers another or a point.
pub fn annotations(chart: &Chart, frame: &Frame) -> Markup {
    let placed = chart
        .annotations
        .iter()
        .enumerate()
        .filter_map(|(row, annotation)| Some((row, annotation, chart.x.position(annotation.x)?)));
    html! {
        g class="annotations" {
            @for (row, annotation, position) in placed {
                @let (x, y) = (frame.x(position), ROW * (row as f64 + 1.9));
                @let anchor = if position > 0.6 { "end" } else { "start" };
                @let side = if position > 0.6 { -5.0 } else { 5.0 };
                line x1=(at(x)) x2=(at(x)) y1=(at(y - 11.0)) y2=(at(frame.bottom)) {}
                text x=(at(x + side)) y=(at(y)) text-anchor=(anchor) { (annotation.label) }
            }
        }
    }
}
