//! An axis: title, unit, scale and range.

use flashscope_device::Bytes;

use crate::quantity;

/// An axis. `low` and `high` are finite, and `low < high`; on a logarithmic axis both are above zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The title, without the unit.
    pub title: String,
    /// The unit of its values.
    pub unit: Unit,
    /// The scale.
    pub scale: Scale,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The unit of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes, labelled in KiB, MiB, GiB.
    Bytes,
    /// Bytes per second, labelled in MB/s.
    BytesPerSecond,
    /// Seconds, labelled in µs, ms, s.
    Seconds,
    /// A plain number.
    Number,
}

/// The scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Linear.
    Linear,
    /// Logarithmic with base 2.
    Log2,
    /// Logarithmic with base 10.
    Log10,
}

impl Axis {
    /// An axis around all of `values`, with a margin at both ends; `None` if the scale can show none of them.
    pub fn around(
        title: impl Into<String>,
        unit: Unit,
        scale: Scale,
        values: impl Iterator<Item = f64>,
    ) -> Option<Self> {
        let shown = values.filter(|value| scale.shows(*value)).map(|value| scale.forward(value));
        let (low, high) = shown
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            return None;
        }
        let margin =
            if high > low { (high - low) * scale.margin_share() } else { scale.margin_around_one(low) };
        let (low, high) = (scale.backward(low - margin), scale.backward(high + margin));
        Some(Self { title: title.into(), unit, scale, low, high })
    }

    /// The position of `value`, from 0 at the lower end to 1 at the upper; `None` outside the axis.
    #[must_use]
    pub fn position(&self, value: f64) -> Option<f64> {
        if !self.scale.shows(value) {
            return None;
        }
        let (low, high) = (self.scale.forward(self.low), self.scale.forward(self.high));
        let position = (self.scale.forward(value) - low) / (high - low);
        (-1e-9..=1.0 + 1e-9).contains(&position).then_some(position.clamp(0.0, 1.0))
    }

    /// The position of `value`, clamped to the axis; values the scale cannot show lie at the lower end.
    #[must_use]
    pub fn clamped(&self, value: f64) -> f64 {
        if value >= self.high { 1.0 } else { self.position(value).unwrap_or(0.0) }
    }

    /// The label of `value` on this axis.
    #[must_use]
    pub fn label(&self, value: f64) -> String {
        match self.unit {
            Unit::Bytes => Bytes::new(value.max(0.0).round() as u64).to_string(),
            Unit::BytesPerSecond => trimmed(value / 1e6),
            Unit::Seconds if value == 0.0 => "0".to_owned(),
            Unit::Seconds => {
                let text = quantity::seconds(value);
                let (number, unit) = text.split_once(' ').unwrap_or((&text, ""));
                format!("{} {unit}", trimmed_text(number))
            }
            Unit::Number => trimmed(value),
        }
    }

    /// The title; with the unit where the labels have none.
    #[must_use]
    pub fn full_title(&self) -> String {
        match self.unit {
            Unit::BytesPerSecond => format!("{}, MB/s", self.title),
            Unit::Bytes | Unit::Seconds | Unit::Number => self.title.clone(),
        }
    }
}

impl Scale {
    fn shows(self, value: f64) -> bool {
        value.is_finite() && (self == Self::Linear || value > 0.0)
    }

    pub(super) fn forward(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Log2 => value.log2(),
            Self::Log10 => value.log10(),
        }
    }

    pub(super) fn backward(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Log2 => value.exp2(),
            Self::Log10 => 10f64.powf(value),
        }
    }

    /// The margin at each end, as a share of the range.
    const fn margin_share(self) -> f64 {
        match self {
            Self::Linear | Self::Log10 => 0.06,
            Self::Log2 => 0.03,
        }
    }

    /// The margin around a single value.
    fn margin_around_one(self, value: f64) -> f64 {
        match self {
            Self::Linear if value == 0.0 => 1.0,
            Self::Linear => value.abs() / 2.0,
            Self::Log2 => 1.0,
            Self::Log10 => 0.5,
        }
    }
}

fn trimmed(value: f64) -> String {
    trimmed_text(&quantity::three_digits(value)).to_owned()
}

fn trimmed_text(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_holds_all_finite_values() {
        let values = [0.0, f64::NAN, f64::INFINITY, -3.0, 512.0, 4096.0];
        let axis = Axis::around("size", Unit::Bytes, Scale::Log2, values.into_iter()).unwrap();
        assert!(axis.low > 256.0 && axis.low < 512.0 && axis.high > 4096.0 && axis.high < 8192.0);
        assert_eq!([0.0, -3.0, f64::NAN].map(|value| axis.position(value)), [None; 3]);
        assert!(axis.position(1448.2).is_some_and(|middle| (middle - 0.5).abs() < 0.01));
        assert_eq!(Axis::around("none", Unit::Number, Scale::Log10, [0.0].into_iter()), None);
    }

    #[test]
    fn a_single_value_has_an_axis() {
        let root = 10_f64.sqrt();
        for (scale, value, low, high) in [
            (Scale::Linear, 0.0, -1.0, 1.0),
            (Scale::Linear, -2.0, -3.0, -1.0),
            (Scale::Linear, 6.0, 3.0, 9.0),
            (Scale::Log2, 1.0, 0.5, 2.0),
            (Scale::Log10, 7.0, 7.0 / root, 7.0 * root),
        ] {
            let axis = Axis::around("one", Unit::Number, scale, [value].into_iter()).unwrap();
            let is_met = (axis.low - low).abs() < 1e-9 && (axis.high - high).abs() < 1e-9;
            assert!(is_met && axis.position(value).is_some(), "{axis:?}");
        }
    }
}
