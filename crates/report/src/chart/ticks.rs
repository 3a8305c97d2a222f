//! The labels of an axis, at round values of its unit.

use super::{Axis, Scale, Unit};

/// A label of an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// The position on the axis, from 0 to 1.
    pub position: f64,
    /// The text.
    pub label: String,
}

impl Axis {
    /// At most `most` labels, if possible at least two, in ascending order.
    #[must_use]
    pub fn ticks(&self, most: usize) -> Vec<Tick> {
        let most = most.max(2);
        let values = match self.scale {
            Scale::Linear => self.linear_ticks(most),
            Scale::Log2 => self.powers_of_two(most),
            Scale::Log10 => self.decades(most),
        };
        let placed = values.into_iter().filter_map(|value| Some((self.position(value)?, value)));
        placed.map(|(position, value)| Tick { position, label: self.label(value) }).collect()
    }

    fn linear_ticks(&self, most: usize) -> Vec<f64> {
        let step = self.linear_step((self.high - self.low) / most as f64);
        let (first, last) = ((self.low / step).ceil(), (self.high / step).floor());
        let count = (last - first).clamp(0.0, most as f64) as usize;
        (0..=count).map(|index| (first + index as f64) * step).collect()
    }

    fn linear_step(&self, least: f64) -> f64 {
        if self.unit == Unit::Bytes {
            return least.max(1.0).log2().ceil().exp2();
        }
        let decade = 10f64.powf(least.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * decade).find(|step| *step >= least);
        let step = step.unwrap_or(least);
        if self.unit == Unit::Number { step.max(1.0) } else { step }
    }

    fn powers_of_two(&self, most: usize) -> Vec<f64> {
        let (first, last) = (self.low.log2().ceil() as i32, self.high.log2().floor() as i32);
        let count = usize::try_from(last - first + 1).unwrap_or(0);
        let stride = count.div_ceil(most).max(1);
        (first..=last).step_by(stride).map(|exponent| f64::from(exponent).exp2()).collect()
    }

    fn decades(&self, most: usize) -> Vec<f64> {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let with = |factors: &[f64], stride: usize| -> Vec<f64> {
            let decades = (first..=last).step_by(stride).map(|exponent| 10f64.powi(exponent));
            let all = decades.flat_map(|decade| factors.iter().map(move |factor| factor * decade));
            all.filter(|value| (self.low..=self.high).contains(value)).collect()
        };
        let choices: [(&[f64], usize); 5] =
            [(&[1.0, 2.0, 5.0], 1), (&[1.0, 3.0], 1), (&[1.0], 1), (&[1.0], 2), (&[1.0], 4)];
        let fitting =
            choices.iter().map(|(factors, stride)| with(factors, *stride)).find(|ticks| ticks.len() <= most);
        match fitting {
            Some(ticks) if ticks.len() >= 2 => ticks,
            _ => self.linear_ticks(most),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(unit: Unit, scale: Scale, values: [f64; 2], most: usize) -> Vec<String> {
        let axis = Axis::around("", unit, scale, values.into_iter()).unwrap();
        axis.ticks(most).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn labels_are_round_in_their_unit() {
        assert_eq!(labels(Unit::BytesPerSecond, Scale::Log10, [726e3, 16.4e6], 6), ["1", "2", "5", "10"]);
        let sizes = labels(Unit::Bytes, Scale::Log2, [4096.0, 8_388_608.0], 6);
        assert_eq!(sizes, ["4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB", "4 MiB"]);
        assert_eq!(
            labels(Unit::Seconds, Scale::Linear, [0.0, 239e-6], 6),
            ["0", "50 µs", "100 µs", "150 µs", "200 µs", "250 µs"]
        );
        assert_eq!(labels(Unit::Number, Scale::Linear, [0.0, 3.0], 8), ["0", "1", "2", "3"]);
    }

    #[test]
    fn the_number_of_labels_is_limited() {
        for high in [1.1, 2.0, 9.0, 1e3, 1e9, 1e15] {
            for scale in [Scale::Linear, Scale::Log2, Scale::Log10] {
                for most in [2, 5, 9] {
                    let count = labels(Unit::Seconds, scale, [1.0, high], most).len();
                    assert!(count <= most + 1, "{high} {scale:?} {most}: {count}");
                }
            }
        }
    }
}
