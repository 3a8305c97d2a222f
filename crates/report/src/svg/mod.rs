//! A chart as SVG: inline, coloured by the page's style sheet for light, dark and print; or as a file of its
//! own.

mod axes;
mod bars;
mod coordinate;
mod frame;
mod legend;
mod marks;

pub use bars::inline_bars;
pub use frame::Layout;

use maud::{Markup, PreEscaped, html};

use crate::chart::{Chart, Series};
use frame::Frame;

/// The style sheet of an SVG file.
const STYLE: &str = concat!(
    include_str!("colours.css"),
    "svg { font: 13px system-ui, \"Segoe UI\", \"Liberation Sans\", sans-serif; --soft: var(--page); }\n\
     svg .paper { fill: var(--page); }\n",
    include_str!("marks.css")
);

/// The inline SVG of `chart`, for a wide or a narrow screen.
pub fn inline_svg(chart: &Chart, layout: Layout) -> Markup {
    let rows = legend::rows(chart, layout);
    let frame = Frame::new(chart, layout, rows.len());
    let view = format!("0 0 {} {}", frame.width, frame.height);
    let label = format!("{}. {}", chart.title, chart.description);
    html! {
        svg class=(layout.class()) viewBox=(view) role="img" aria-label=(label) {
            (contents(chart, &rows, &frame))
        }
    }
}

/// The margin of an SVG file; on the page, the figure has a margin.
const MARGIN: f64 = 12.0;

/// `chart` as an SVG file, light or dark as the viewer prefers.
#[must_use]
pub fn chart_svg(chart: &Chart) -> String {
    let rows = legend::rows(chart, Layout::Wide);
    let frame = Frame::new(chart, Layout::Wide, rows.len());
    let (width, height) = (frame.width + 2.0 * MARGIN, frame.height + 2.0 * MARGIN);
    let view = format!("-{MARGIN} -{MARGIN} {width} {height}");
    let svg = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(view) width=(width) height=(height) role="img" {
            style { (PreEscaped(STYLE)) }
            rect class="paper" x=(-MARGIN) y=(-MARGIN) width=(width) height=(height) {}
            (contents(chart, &rows, &frame))
        }
    };
    svg.into_string() + "\n"
}

fn contents(chart: &Chart, rows: &[Vec<(f64, &Series)>], frame: &Frame) -> Markup {
    html! {
        title { (chart.title) }
        desc { (chart.description) }
        (axes::draw(chart, frame))
        (legend::annotations(chart, frame))
        @for series in &chart.series { (marks::draw(chart, series, frame)) }
        (legend::draw(rows, frame))
    }
}
