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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, Colour, Marker, Point, Scale, SeriesStyle, Table, Unit};

    /// A chart whose legend has a row for each series: the names are too long for two in a row.
    fn chart(rows: usize) -> Chart {
        let axis = |title: &str| Axis {
            title: title.to_owned(),
            unit: Unit::Number,
            scale: Scale::Linear,
            low: 0.0,
            high: 10.0,
        };
        let series = Series {
            name: "n".repeat(60),
            colour: Colour::Blue,
            marker: Marker::Circle,
            style: SeriesStyle::Line,
            points: vec![Point::new(1.0, 2.0), Point::new(9.0, 8.0)],
        };
        Chart {
            id: "test",
            title: String::new(),
            description: String::new(),
            x: axis("across"),
            y: axis("up"),
            series: vec![series; rows],
            annotations: Vec::new(),
            table: Table::default(),
        }
    }

    /// Left, top, width and height of the picture.
    fn view(svg: &str) -> [f64; 4] {
        let numbers = svg.split_once("viewBox=\"").unwrap().1.split_once('"').unwrap().0;
        let numbers: Vec<f64> = numbers.split(' ').map(|number| number.parse().unwrap()).collect();
        numbers.try_into().unwrap()
    }

    /// The vertical coordinate of the text whose attributes begin here.
    fn y_of(text: &str) -> f64 {
        text.split_once(" y=\"").unwrap().1.split_once('"').unwrap().0.parse().unwrap()
    }

    #[test]
    fn legend_is_below_the_title_of_the_axis_and_inside_the_picture() {
        for rows in 1..4 {
            let chart = chart(rows);
            let inline = |layout| inline_svg(&chart, layout).into_string();
            for svg in [inline(Layout::Wide), inline(Layout::Narrow), chart_svg(&chart)] {
                let [_, top, _, height] = view(&svg);
                let titles = svg.split_once("<g class=\"titles\">").unwrap().1;
                let title = y_of(titles.split("<text").nth(2).unwrap());
                let legend: Vec<f64> = svg.split("<text class=\"legend\"").skip(1).map(y_of).collect();
                assert_eq!(legend.len(), rows, "{svg}");
                let is_below = legend.iter().all(|y| *y > title + 10.0);
                let is_inside = legend.iter().all(|y| *y + 4.0 <= top + height);
                assert!(is_below && is_inside, "{legend:?}, title at {title}, picture to {}", top + height);
                assert!(legend.windows(2).all(|pair| pair[1] - pair[0] >= 13.0), "rows overlap: {legend:?}");
            }
        }
    }

    #[test]
    fn legend_has_each_marker_inside_the_picture_and_left_of_its_name() {
        for style in [SeriesStyle::Line, SeriesStyle::Dots] {
            let mut chart = chart(1);
            chart.series[0].style = style;
            let svg = inline_svg(&chart, Layout::Wide).into_string();
            let (before, legend) = svg.split_once("<text class=\"legend\" x=\"").unwrap();
            let name: f64 = legend.split_once('"').unwrap().0.parse().unwrap();
            let circle = before.rsplit_once("<path class=\"filled\" d=\"M").unwrap().1;
            let left: f64 = circle.split_once(' ').unwrap().0.parse().unwrap();
            assert!(left >= 0.0 && left + 8.0 < name, "{style:?}: marker from {left}, name from {name}");
        }
    }

    #[test]
    fn points_lie_between_the_margins_of_the_axes() {
        for (layout, path) in
            [(Layout::Wide, "M125.8 258.0L668.2 84.0"), (Layout::Narrow, "M89.8 210.0L344.2 72.0")]
        {
            let svg = inline_svg(&chart(1), layout).into_string();
            assert!(svg.contains(&format!("<path class=\"line\" d=\"{path}\">")), "{svg}");
        }
    }

    #[test]
    fn file_has_the_same_margin_on_each_side_and_paper_below_all_of_it() {
        let chart = chart(2);
        let svg = chart_svg(&chart);
        let frame = Frame::new(&chart, Layout::Wide, 2);
        let [left, top, width, height] = view(&svg);
        for margin in [-left, -top, left + width - frame.width, top + height - frame.height] {
            assert!((margin - MARGIN).abs() < 1e-9, "{margin}: {svg}");
        }
        let place = format!("x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"");
        assert!(svg.contains(&format!("<rect class=\"paper\" {place}>")), "{svg}");
    }

    #[test]
    fn title_of_the_horizontal_axis_is_a_row_below_its_labels() {
        for layout in [Layout::Wide, Layout::Narrow] {
            let svg = inline_svg(&chart(1), layout).into_string();
            let (before, titles) = svg.split_once("<g class=\"titles\">").unwrap();
            let labels = before.split_once("<g class=\"labels\">").unwrap().1;
            let lowest = labels.split("<text").skip(1).map(y_of).fold(0.0, f64::max);
            let title = y_of(titles.split("<text").nth(2).unwrap());
            assert!(title - lowest >= 13.0, "{layout:?}: labels to {lowest}, title at {title}");
        }
    }
}
