//! A chart as inline SVG for the page. Colours come from the page's style sheet, so that light, dark and print all fit.

mod axes;
mod frame;
mod legend;
mod marks;

pub use frame::Layout;

use maud::{Markup, PreEscaped, html};

use crate::chart::Chart;
use frame::Frame;

/// The picture of `chart`, for a wide or a narrow screen.
pub fn picture(chart: &Chart, layout: Layout) -> Markup {
    drawn(chart, layout, "")
}

/// The picture of `chart` as a file of its own, with this style sheet in it.
pub fn file(chart: &Chart, style: &str) -> String {
    let declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    declaration.to_owned() + &drawn(chart, Layout::Wide, style).into_string() + "\n"
}

fn drawn(chart: &Chart, layout: Layout, style: &str) -> Markup {
    let rows = legend::rows(chart, layout);
    let frame = Frame::new(chart, layout, rows.len());
    let view = format!("0 0 {} {}", frame.width, frame.height);
    let label = format!("{}. {}", chart.title, chart.description);
    let namespace = (!style.is_empty()).then_some("http://www.w3.org/2000/svg");
    html! {
        svg xmlns=[namespace] class=(layout.class()) viewBox=(view) role="img" aria-label=(label) {
            @if !style.is_empty() { style { (PreEscaped(style)) } }
            title { (chart.title) }
            desc { (chart.description) }
            (axes::draw(chart, &frame))
            (legend::notes(chart, &frame))
            @for series in &chart.series { (marks::draw(chart, series, &frame)) }
            (legend::draw(&rows, &frame))
        }
    }
}

/// A coordinate with one decimal; whatever is not a number lies at zero.
fn at(coordinate: f64) -> String {
    let coordinate = if coordinate.is_finite() { coordinate } else { 0.0 };
    format!("{coordinate:.1}")
}
