//! How many times as fast a copy gets where one layer is lifted.

use flashscope_record::diagnosis::{Cost, Gain, LEAST, Layer};

use crate::diagnosis::workload::{Pace, Part, Shares, Workload};

/// Beside what was measured, what is not known of any workload: the order in which it is written.
const MODEL: f64 = 1.05;

/// What a byte would take, seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    pub low: f64,
    pub likely: f64,
    pub high: f64,
}

impl Range {
    /// Known to a factor.
    pub const fn within(seconds: f64, factor: f64) -> Self {
        Self { low: seconds / factor, likely: seconds, high: seconds * factor }
    }

    /// What is left of `now` without something known to a factor: at least this share.
    pub fn without(now: f64, more: f64, factor: f64, left_min: f64) -> Self {
        let left = |more: f64| (now - more).max(now * left_min);
        Self { low: left(more * factor), likely: left(more), high: left(more / factor) }
    }

    /// Where it may as well be nothing.
    pub const fn or_nothing(self) -> Self {
        Self { low: 0.0, likely: self.likely / 2.0, high: self.high }
    }

    /// No slower than now.
    fn at_most(self, now: f64) -> Self {
        let Self { low, likely, high } = self;
        Self { low: low.min(now), likely: likely.min(now), high: high.min(now) }
    }
}

/// What a byte of each part takes where a layer is lifted.
#[derive(Debug, Clone, PartialEq)]
pub struct Cure {
    pub layer: Layer,
    /// For the parts that get faster, in their order.
    pub after: [Option<Range>; 4],
    pub evidence: String,
}

impl Cure {
    /// What the layer costs a copy of these parts; `None` where lifting it gives nothing.
    pub fn cost(&self, workload: &Workload, shares: &Shares) -> Option<Cost> {
        let gain = self.gain(workload, shares)?;
        Some(Cost { layer: self.layer, gain, evidence: self.evidence.clone() })
    }

    /// Each end takes the parts that change and those that stay at their least favourable.
    fn gain(&self, workload: &Workload, shares: &Shares) -> Option<Gain> {
        let ratio = |ends: fn(Pace, Option<Range>) -> (f64, f64)| {
            let (mut before, mut after) = (0.0, 0.0);
            for (part, share) in Part::ALL.into_iter().zip(shares) {
                let pace = workload.pace(part);
                let range = self.after[part as usize].map(|range| range.at_most(pace.seconds));
                let (part_before, part_after) = ends(pace, range);
                before += share * part_before;
                after += share * part_after.min(part_before);
            }
            before / after
        };
        let low = ratio(|Pace { seconds, factor }, range| match range {
            Some(range) => (seconds / factor, range.high),
            None => (seconds * factor, seconds * factor),
        });
        let high = ratio(|Pace { seconds, factor }, range| match range {
            Some(range) => (seconds * factor, range.low),
            None => (seconds / factor, seconds / factor),
        });
        let likely =
            ratio(|Pace { seconds, .. }, range| (seconds, range.map_or(seconds, |range| range.likely)));
        let gain = Gain { low: (low / MODEL).max(1.0), likely, high: high * MODEL };
        let is_sound = [gain.low, gain.likely, gain.high].into_iter().all(f64::is_finite);
        (is_sound && gain.likely >= LEAST).then_some(gain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::workload::EVERYDAY;

    #[test]
    fn half_of_the_time_is_twice_as_fast() {
        let workload = Workload::of([1.0; 4]);
        let half = Some(Range::within(0.5, 1.1));
        let cure = |after| Cure { layer: Layer::Link, after, evidence: String::new() };
        let gain = cure([half; 4]).gain(&workload, &EVERYDAY).unwrap();
        assert!((gain.likely - 2.0).abs() < 1e-9 && gain.low < 1.9 && gain.high > 2.1, "{gain:?}");
        assert!(gain.high / gain.low < 1.6, "{gain:?}");
        assert_eq!(cure([None; 4]).gain(&workload, &EVERYDAY), None);
        let slower = Some(Range::within(2.0, 1.1));
        assert_eq!(cure([slower; 4]).gain(&workload, &EVERYDAY), None);
        let odd = Some(Range { low: f64::NAN, likely: 0.0, high: 0.0 });
        assert_eq!(cure([odd; 4]).gain(&workload, &EVERYDAY), None);
    }

    #[test]
    fn a_part_gains_by_its_share() {
        let workload = Workload::of([1.0, 1.0, 81.0, 1.0]);
        let cure = Cure {
            layer: Layer::SmallWrites,
            after: [None, None, Some(Range::within(1.0, 1.1)), None],
            evidence: String::new(),
        };
        let gain = cure.gain(&workload, &EVERYDAY).unwrap();
        assert!((gain.likely - 1.8).abs() < 1e-9, "{gain:?}");
    }
}
