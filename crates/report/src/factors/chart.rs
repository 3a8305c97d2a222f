//! The effects with their intervals as a chart.

use flashscope_infer::trials::factorial::{Direction, Effect, Factorial, Ratio};

use super::{Experiment, names, table};
use crate::chart::{Axis, Chart, Colour, Marker, Point, Scale, Series, SeriesStyle, Unit};

/// One point for each known effect, at its number in the table; `None` if all are unknown.
pub fn chart(experiment: &Experiment, id: &'static str) -> Option<Chart> {
    let factorial = &experiment.factorial;
    let known = known(factorial);
    let values = || known.iter().flat_map(|(_, _, ratio)| [ratio.low, ratio.high]).chain([1.0]);
    let last = factorial.effects.len() as f64;
    let even = Series {
        name: "no effect".to_owned(),
        colour: Colour::Grey,
        marker: Marker::Cross,
        style: SeriesStyle::Line,
        points: vec![Point::new(0.5, 1.0), Point::new(last + 0.5, 1.0)],
    };
    let effects = known.iter().map(|(number, effect, ratio)| series(factorial, *number, effect, ratio));
    (!known.is_empty()).then_some(())?;
    Some(Chart {
        id,
        title: format!("Effects with 95 % intervals: {}", experiment.name),
        description: "One point for each effect, at its number in the table. An interval that includes 1 \
                      shows no effect."
            .to_owned(),
        x: Axis {
            title: "number of the effect".to_owned(),
            unit: Unit::Number,
            scale: Scale::Linear,
            low: 0.5,
            high: last + 0.5,
        },
        y: Axis::around("times as fast", Unit::Number, Scale::Log2, values())?,
        series: std::iter::once(even).chain(effects).collect(),
        annotations: Vec::new(),
        table: experiment.table(),
    })
}

/// The known effects with their numbers, from 1.
fn known(factorial: &Factorial) -> Vec<(usize, &Effect, &Ratio)> {
    let numbered = factorial.effects.iter().enumerate();
    numbered.filter_map(|(index, effect)| Some((index + 1, effect, effect.outcome.as_ref().ok()?))).collect()
}

fn series(factorial: &Factorial, number: usize, effect: &Effect, ratio: &Ratio) -> Series {
    let (colour, marker) = match ratio.direction() {
        Direction::Faster => (Colour::Blue, Marker::Circle),
        Direction::Slower => (Colour::Red, Marker::Square),
        Direction::NotShown => (Colour::Grey, Marker::OpenCircle),
    };
    Series {
        name: format!("{number} {} {}", table::name(factorial, &effect.kind), names::times(ratio.ratio)),
        colour,
        marker,
        style: SeriesStyle::Line,
        points: vec![Point::new(number as f64, ratio.ratio).within(ratio.low, ratio.high)],
    }
}
