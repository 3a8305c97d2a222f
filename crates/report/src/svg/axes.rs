//! The grid, labels and titles of both axes.

use maud::{Markup, html};

use super::coordinate::at;
use super::frame::{Frame, ROW};
use crate::chart::{Chart, Scale};

/// The most labels of the vertical axis. Guess: more would crowd a phone.
const Y_TICKS_MAX: usize = 7;

pub fn draw(chart: &Chart, frame: &Frame) -> Markup {
    html! {
        g class="grid" {
            @for tick in chart.y.ticks(Y_TICKS_MAX) {
                (horizontal(frame, tick.position))
            }
        }
        g class="labels" {
            @for tick in chart.y.ticks(Y_TICKS_MAX) {
                text x=(at(frame.left - 8.0)) y=(at(frame.y(tick.position) + 4.5)) text-anchor="end" { (tick.label) }
            }
            @for tick in chart.x.ticks(frame.layout.x_ticks_max()) {
                (vertical_tick(frame, tick.position))
                text x=(at(frame.x(tick.position))) y=(at(frame.bottom + 21.0)) text-anchor="middle" { (tick.label) }
            }
        }
        g class="titles" {
            text x="0" y="14" { (chart.y.full_title()) }
            text x=(at(frame.right)) y=(at(frame.bottom + ROW * 2.0)) text-anchor="end" { (chart.x.full_title()) }
        }
        g class="axis" {
            (horizontal(frame, 0.0))
            @if let Some(zero) = chart.y.position(0.0).filter(|_| chart.y.scale == Scale::Linear) {
                (horizontal(frame, zero))
            }
        }
    }
}

fn horizontal(frame: &Frame, position: f64) -> Markup {
    let y = at(frame.y(position));
    html! { line x1=(at(frame.left)) x2=(at(frame.right)) y1=(y) y2=(y) {} }
}

fn vertical_tick(frame: &Frame, position: f64) -> Markup {
    let x = at(frame.x(position));
    html! { line x1=(x) x2=(x) y1=(at(frame.bottom)) y2=(at(frame.bottom + 5.0)) {} }
}
