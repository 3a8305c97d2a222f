//! A chart as SVG: inline for the page, whose style sheet has its colours, so that light, dark and print all fit; or alone.

mod axes;
mod frame;
mod legend;
mod marks;

pub use frame::Layout;

use maud::{Markup, PreEscaped, html};

use crate::chart::{Chart, Series};
use frame::Frame;

/// What a picture of its own needs of the page's style.
const STYLE: &str = concat!(
    include_str!("colours.css"),
    "svg { font: 13px system-ui, \"Segoe UI\", \"Liberation Sans\", sans-serif; --soft: var(--page); }\n\
     svg .paper { fill: var(--page); }\n",
    include_str!("marks.css")
);

/// The picture of `chart`, for a wide or a narrow screen.
pub fn picture(chart: &Chart, layout: Layout) -> Markup {
    let rows = legend::rows(chart, layout);
    let frame = Frame::new(chart, layout, rows.len());
    let view = format!("0 0 {} {}", frame.width, frame.height);
    let label = format!("{}. {}", chart.title, chart.description);
    html! {
        svg class=(layout.class()) viewBox=(view) role="img" aria-label=(label) {
            (inside(chart, &rows, &frame))
        }
    }
}

/// Around a drawing of its own; on the page, the figure has its own.
const MARGIN: f64 = 12.0;

/// `chart` as an SVG file of its own, light or dark as whoever shows it likes.
#[must_use]
pub fn drawing(chart: &Chart) -> String {
    let rows = legend::rows(chart, Layout::Wide);
    let frame = Frame::new(chart, Layout::Wide, rows.len());
    let (width, height) = (frame.width + 2.0 * MARGIN, frame.height + 2.0 * MARGIN);
    let view = format!("-{MARGIN} -{MARGIN} {width} {height}");
    let drawn = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(view) width=(width) height=(height) role="img" {
            style { (PreEscaped(STYLE)) }
            rect class="paper" x=(-MARGIN) y=(-MARGIN) width=(width) height=(height) {}
            (inside(chart, &rows, &frame))
        }
    };
    drawn.into_string() + "\n"
}

fn inside(chart: &Chart, rows: &[Vec<(f64, &Series)>], frame: &Frame) -> Markup {
    html! {
        title { (chart.title) }
        desc { (chart.description) }
        (axes::draw(chart, frame))
        (legend::notes(chart, frame))
        @for series in &chart.series { (marks::draw(chart, series, frame)) }
        (legend::draw(rows, frame))
    }
}

/// A coordinate with one decimal; whatever is not a number lies at zero.
fn at(coordinate: f64) -> String {
    let coordinate = if coordinate.is_finite() { coordinate } else { 0.0 };
    format!("{coordinate:.1}")
}
