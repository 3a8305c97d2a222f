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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, Colour, Scale, Table, Unit};

    /// Two bars of 5 and 10 on an axis up to 10.
    fn two_bars(layout: Layout) -> String {
        let bar = |name: &str, value: f64, label: &str| Bar {
            name: name.to_owned(),
            value,
            low: value - 1.0,
            high: value + 1.0,
            label: label.to_owned(),
            colour: Colour::Blue,
        };
        let axis =
            Axis { title: String::new(), unit: Unit::Number, scale: Scale::Linear, low: 0.0, high: 10.0 };
        let chart = BarChart {
            title: String::new(),
            description: String::new(),
            axis,
            bars: vec![bar("ext4", 5.0, "5 s"), bar("vfat", 10.0, "10 s")],
            table: Table::default(),
        };
        inline_bars(&chart, layout).into_string()
    }

    /// Half as many as in other charts, as names and figures take room on both sides.
    #[test]
    fn an_axis_below_bars_has_few_labels() {
        let labels = |layout: Layout| -> Vec<String> {
            let svg = two_bars(layout);
            let after = svg.split("text-anchor=\"middle\">").skip(1);
            after.map(|label| label.split_once('<').unwrap().0.to_owned()).collect()
        };
        assert_eq!(labels(Layout::Wide), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(Layout::Narrow), ["0", "5", "10"]);
    }

    #[test]
    fn a_bar_and_its_interval_lie_in_the_middle_of_their_row() {
        let svg = two_bars(Layout::Wide);
        for part in [
            "x=\"36.8\" y=\"5.5\" width=\"343.2\" height=\"13.0\"",
            "d=\"M311.4 8.0V16.0M448.6 8.0V16.0M311.4 12.0H448.6\"",
            "x=\"36.8\" y=\"29.5\" width=\"686.4\" height=\"13.0\"",
        ] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
    }

    /// Text stands on its baseline: below the middle of the bar, and not below the bar.
    #[test]
    fn name_and_figure_of_each_bar_stand_beside_it() {
        let svg = two_bars(Layout::Wide);
        let number = |text: &str| text.split_once('"').unwrap().0.parse::<f64>().unwrap();
        let rectangles: Vec<&str> = svg.split("<rect class=\"beam\"").skip(1).collect();
        for (rectangle, texts) in rectangles.into_iter().zip([["ext4", "5 s"], ["vfat", "10 s"]]) {
            let top = number(rectangle.split_once(" y=\"").unwrap().1);
            let height = number(rectangle.split_once(" height=\"").unwrap().1);
            for text in texts {
                let before = svg.rsplit_once(&format!(">{text}</text>")).unwrap().0;
                let y = number(before.rsplit_once(" y=\"").unwrap().1);
                assert!(y > top + height / 2.0 && y < top + height, "{text} at {y}, bar from {top}: {svg}");
            }
        }
    }
}
