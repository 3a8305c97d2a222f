//! What is what: the legend below the plot, the notes above it.

use maud::{Markup, html};

use super::frame::{Frame, Layout, ROW};
use super::{at, marks};
use crate::chart::{Chart, Drawn, Marker, Series};

/// Average width of a character at the page's size of chart text.
const CHARACTER: f64 = 7.2;
/// Room for a shape, and between two entries.
const SHAPE: f64 = 38.0;

/// The legend's entries by row, each with its left edge.
pub fn rows(chart: &Chart, layout: Layout) -> Vec<Vec<(f64, &Series)>> {
    let mut rows: Vec<Vec<(f64, &Series)>> = Vec::new();
    let mut end = f64::INFINITY;
    for series in &chart.series {
        let width = SHAPE + series.name.chars().count() as f64 * CHARACTER;
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
            @if series.drawn == Drawn::Dots {
                (marks::shape(Marker::Circle, x + 11.0, y))
            } @else {
                path class="line" d=(stroke) {}
                (marks::shape(series.marker, x + 11.0, y))
            }
        }
        text class="legend" x=(at(x + 26.0)) y=(at(y + 4.5)) { (series.name) }
    }
}

/// Each note has a row of its own above the plot, so that no label covers another or a point.
pub fn notes(chart: &Chart, frame: &Frame) -> Markup {
    let placed = chart
        .notes
        .iter()
        .enumerate()
        .filter_map(|(row, note)| Some((row, note, chart.x.position(note.at)?)));
    html! {
        g class="notes" {
            @for (row, note, position) in placed {
                @let (x, y) = (frame.x(position), ROW * (row as f64 + 1.9));
                @let anchor = if position > 0.6 { "end" } else { "start" };
                @let side = if position > 0.6 { -5.0 } else { 5.0 };
                line x1=(at(x)) x2=(at(x)) y1=(at(y - 11.0)) y2=(at(frame.bottom)) {}
                text x=(at(x + side)) y=(at(y)) text-anchor=(anchor) { (note.label) }
            }
        }
    }
}
