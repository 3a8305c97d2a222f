//! The markers, lines, stems and spreads of a series.

use std::collections::BTreeSet;
use std::fmt::Write;

use maud::{Markup, html};

use super::coordinate::at;
use super::frame::Frame;
use crate::chart::{Chart, Colour, Marker, Point, Series, SeriesStyle};

/// Half the width of a marker.
const RADIUS: f64 = 4.0;

pub fn draw(chart: &Chart, series: &Series, frame: &Frame) -> Markup {
    html! {
        g class=(class(series.colour)) {
            @match series.style {
                SeriesStyle::Dots => path class="dots" d=(dots(chart, series, frame)) {},
                SeriesStyle::Stems => {
                    path class="stem" d=(stems(chart, series, frame)) {}
                    (marked(chart, series, frame))
                },
                SeriesStyle::Line => {
                    path class="line" d=(line(chart, series, frame)) {}
                    (marked(chart, series, frame))
                },
            }
        }
    }
}

/// The CSS class of a colour.
pub const fn class(colour: Colour) -> &'static str {
    match colour {
        Colour::Blue => "blue",
        Colour::Teal => "teal",
        Colour::Green => "green",
        Colour::Violet => "violet",
        Colour::Red => "red",
        Colour::Orange => "orange",
        Colour::Pink => "pink",
        Colour::Grey => "grey",
    }
}

fn marked(chart: &Chart, series: &Series, frame: &Frame) -> Markup {
    html! {
        @for (point, (x, y)) in placed(chart, series, frame) {
            @if let Some((low, high)) = point.spread {
                path class="spread" d=(spread(x, frame.y(chart.y.clamped(low)), frame.y(chart.y.clamped(high)))) {}
            }
            (shape(series.marker, x, y))
        }
    }
}

/// The points within both axes, with their coordinates.
fn placed<'a>(
    chart: &'a Chart,
    series: &'a Series,
    frame: &'a Frame,
) -> impl Iterator<Item = (Point, (f64, f64))> {
    series.points.iter().filter_map(move |point| {
        let (x, y) = (chart.x.position(point.x)?, chart.y.position(point.y)?);
        Some((*point, (frame.x(x), frame.y(y))))
    })
}

fn line(chart: &Chart, series: &Series, frame: &Frame) -> String {
    let points = placed(chart, series, frame).map(|(_, (x, y))| format!("{} {}", at(x), at(y)));
    let joined = points.collect::<Vec<String>>().join("L");
    if joined.is_empty() { joined } else { format!("M{joined}") }
}

fn stems(chart: &Chart, series: &Series, frame: &Frame) -> String {
    let zero = at(frame.y(chart.y.clamped(0.0)));
    placed(chart, series, frame).fold(String::new(), |mut path, (_, (x, y))| {
        let _ = write!(path, "M{} {zero}V{}", at(x), at(y));
        path
    })
}

/// Dots on the same half unit are drawn once.
fn dots(chart: &Chart, series: &Series, frame: &Frame) -> String {
    let halves =
        placed(chart, series, frame).map(|(_, (x, y))| ((x * 2.0).round() as i64, (y * 2.0).round() as i64));
    halves.collect::<BTreeSet<_>>().into_iter().fold(String::new(), |mut path, (x, y)| {
        let _ = write!(path, "M{} {}h0", at(x as f64 / 2.0), at(y as f64 / 2.0));
        path
    })
}

fn spread(x: f64, low: f64, high: f64) -> String {
    let (left, right, middle) = (at(x - 3.0), at(x + 3.0), at(x));
    let (low, high) = (at(low), at(high));
    format!("M{left} {low}H{right}M{left} {high}H{right}M{middle} {low}V{high}")
}

/// A marker centred at these coordinates.
pub fn shape(marker: Marker, x: f64, y: f64) -> Markup {
    let class = if Marker::FILLED.contains(&marker) { "filled" } else { "open" };
    html! { path class=(class) d=(outline(marker, x, y)) {} }
}

fn outline(marker: Marker, x: f64, y: f64) -> String {
    let r = RADIUS;
    match marker {
        Marker::Circle | Marker::OpenCircle => {
            format!("M{} {}a{r} {r} 0 1 0 {} 0a{r} {r} 0 1 0 -{} 0z", at(x - r), at(y), r * 2.0, r * 2.0)
        }
        Marker::Square | Marker::OpenSquare => {
            polygon(&[(x - 3.6, y - 3.6), (x + 3.6, y - 3.6), (x + 3.6, y + 3.6), (x - 3.6, y + 3.6)])
        }
        Marker::Triangle | Marker::OpenTriangle => {
            polygon(&[(x, y - 4.8), (x + 4.6, y + 3.4), (x - 4.6, y + 3.4)])
        }
        Marker::Diamond | Marker::OpenDiamond => {
            polygon(&[(x, y - 5.2), (x + 5.2, y), (x, y + 5.2), (x - 5.2, y)])
        }
        Marker::Cross => {
            let (left, right, top, bottom) = (at(x - 3.5), at(x + 3.5), at(y - 3.5), at(y + 3.5));
            format!("M{left} {top}L{right} {bottom}M{left} {bottom}L{right} {top}")
        }
    }
}

fn polygon(corners: &[(f64, f64)]) -> String {
    let corners: Vec<String> = corners.iter().map(|(x, y)| format!("{} {}", at(*x), at(*y))).collect();
    format!("M{}z", corners.join("L"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ends of the strokes of a marker at 100, 50, in tenths.
    fn corners(marker: Marker) -> Vec<(i64, i64)> {
        let path = outline(marker, 100.0, 50.0);
        let tenths = |number: &str| (number.parse::<f64>().unwrap() * 10.0).round() as i64;
        let ends = path.trim_end_matches('z').split(['M', 'L']).filter(|end| !end.is_empty());
        ends.map(|end| end.split_once(' ').unwrap()).map(|(x, y)| (tenths(x), tenths(y))).collect()
    }

    #[test]
    fn markers_are_symmetric_about_their_coordinates() {
        for marker in [Marker::Square, Marker::Diamond, Marker::Triangle, Marker::Cross] {
            let corners = corners(marker);
            let mirrored = corners.iter().all(|(x, y)| corners.contains(&(2000 - x, *y)));
            // A triangle points upwards.
            let flipped = corners.iter().all(|(x, y)| corners.contains(&(*x, 1000 - y)));
            assert!(mirrored && flipped == (marker != Marker::Triangle), "{marker:?}: {corners:?}");
            let is_around = corners.iter().any(|(x, _)| *x < 1000)
                && corners.iter().any(|(_, y)| *y < 500)
                && corners.iter().any(|(_, y)| *y > 500);
            assert!(is_around, "{marker:?}: {corners:?}");
        }
        let circle = "M96.0 50.0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z";
        assert_eq!(outline(Marker::Circle, 100.0, 50.0), circle, "left edge, and two halves");
    }

    #[test]
    fn spread_has_a_bar_at_each_end_and_a_line_between_them() {
        let path = "M97.0 80.0H103.0M97.0 20.0H103.0M100.0 80.0V20.0";
        assert_eq!(spread(100.0, 80.0, 20.0), path);
    }
}
