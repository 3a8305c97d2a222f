//! Horizontal bars with intervals.

use maud::{Markup, html};

use super::coordinate::at;
use super::frame::{Layout, ROW};
use super::marks::class;
use crate::chart::{Bar, BarChart};

/// The height of a bar with the space below it.
const STEP: f64 = 24.0;
/// The height of a bar.
const HEIGHT: f64 = 13.0;
/// The mean width of a character of chart text. Guess: 7.2 of 13 px.
const CHARACTER_WIDTH: f64 = 7.2;

/// The position of the bars in the picture.
struct Place {
    left: f64,
    right: f64,
    bottom: f64,
}

/// The inline SVG of `chart`, for a wide or a narrow screen.
pub fn inline_bars(chart: &BarChart, layout: Layout) -> Markup {
    let characters = |text: fn(&Bar) -> &str| {
        chart.bars.iter().map(|bar| text(bar).chars().count()).max().unwrap_or(0) as f64 * CHARACTER_WIDTH
    };
    let place = Place {
        left: characters(|bar| &bar.name) + 8.0,
        right: layout.width() - characters(|bar| &bar.label) - 8.0,
        bottom: STEP * chart.bars.len() as f64,
    };
    let view = format!("0 0 {} {}", layout.width(), place.bottom + ROW * 2.6);
    let label = format!("{}. {}", chart.title, chart.description);
    html! {
        svg class=(layout.class()) viewBox=(view) role="img" aria-label=(label) {
            title { (chart.title) }
            desc { (chart.description) }
            (axis(chart, &place, layout))
            @for (index, bar) in chart.bars.iter().enumerate() {
                (row(chart, bar, &place, STEP * index as f64))
            }
        }
    }
}

fn axis(chart: &BarChart, place: &Place, layout: Layout) -> Markup {
    let ticks = chart.axis.ticks(layout.x_ticks_max() / 2 + 1);
    let x = |position: f64| at(place.x(position));
    html! {
        g class="grid" {
            @for tick in &ticks {
                line x1=(x(tick.position)) x2=(x(tick.position)) y1="0" y2=(at(place.bottom)) {}
            }
        }
        g class="labels" {
            @for tick in &ticks {
                text x=(x(tick.position)) y=(at(place.bottom + 16.0)) text-anchor="middle" { (tick.label) }
            }
        }
        g class="titles" {
            text x=(at(place.right)) y=(at(place.bottom + ROW * 2.0)) text-anchor="end" { (chart.axis.full_title()) }
        }
    }
}

fn row(chart: &BarChart, bar: &Bar, place: &Place, top: f64) -> Markup {
    let (middle, end) = (top + STEP / 2.0, place.x(chart.axis.clamped(bar.value)));
    let [low, high] = [bar.low, bar.high].map(|end| at(place.x(chart.axis.clamped(end))));
    let (above, below) = (at(middle - 4.0), at(middle + 4.0));
    let interval = format!("M{low} {above}V{below}M{high} {above}V{below}M{low} {}H{high}", at(middle));
    html! {
        text x=(at(place.left - 8.0)) y=(at(middle + 4.5)) text-anchor="end" { (bar.name) }
        g class=(class(bar.colour)) {
            rect class="beam" x=(at(place.left)) y=(at(middle - HEIGHT / 2.0)) width=(at(end - place.left)) height=(at(HEIGHT)) {}
        }
        path class="interval" d=(interval) {}
        text x=(at(place.right + 8.0)) y=(at(middle + 4.5)) { (bar.label) }
    }
}

impl Place {
    /// The horizontal coordinate of a position from 0 to 1.
    fn x(&self, position: f64) -> f64 {
        self.left + position * (self.right - self.left)
    }
}
