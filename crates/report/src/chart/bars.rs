//! Bars with intervals, one below the other: figures of named things on one axis.

use super::{Axis, Colour, Scale, Table, Unit};

/// A chart of horizontal bars.
#[derive(Debug, Clone, PartialEq)]
pub struct BarChart {
    /// The title.
    pub title: String,
    /// The caption and alternative text.
    pub description: String,
    /// The horizontal axis. Bars begin at its lower end.
    pub axis: Axis,
    /// The bars from top to bottom.
    pub bars: Vec<Bar>,
    /// The figures of the chart.
    pub table: Table,
}

/// A bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// Its name, on the left.
    pub name: String,
    /// Its end.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The value as text, on the right.
    pub label: String,
    /// Its colour.
    pub colour: Colour,
}

/// The least ratio between the longest and the shortest bar for a logarithmic axis. Guess: on a linear one a
/// bar below a twentieth is a line.
const LOG_RATIO_MIN: f64 = 20.0;

impl Axis {
    /// An axis for bars of these values: from zero, or logarithmic where they differ by 20 times or more.
    /// `None` if no value is positive and finite.
    #[must_use]
    pub fn for_bars(title: &str, unit: Unit, values: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) = values
            .filter(|value| value.is_finite() && *value > 0.0)
            .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            return None;
        }
        let is_log = high / low >= LOG_RATIO_MIN;
        let (scale, low) = if is_log { (Scale::Log10, low / 2.0) } else { (Scale::Linear, 0.0) };
        let title = if is_log { format!("{title} (logarithmic)") } else { title.to_owned() };
        Some(Self { title, unit, scale, low, high: high * 1.02 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_begin_at_zero_unless_they_differ_by_far() {
        let axis = |values: &[f64]| Axis::for_bars("time", Unit::Seconds, values.iter().copied());
        let near = axis(&[10.0, 30.0]).unwrap();
        assert_eq!((near.scale, near.low), (Scale::Linear, 0.0));
        let far = axis(&[1.0, 1000.0, 0.0, f64::NAN]).unwrap();
        assert!(far.scale == Scale::Log10 && far.low > 0.0 && far.title.contains("logarithmic"));
        let only = axis(&[5.0]).unwrap();
        assert!(only.scale == Scale::Linear && only.low == 0.0 && only.high > 5.0, "{only:?}");
        assert_eq!(axis(&[0.0, f64::INFINITY]), None);
    }
}
