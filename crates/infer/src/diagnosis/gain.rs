//! The gain of a copy without one bottleneck.

use flashscope_record::diagnosis::{Bottleneck, Cost, DiagnosisEvidence, GAIN_MIN, Gain};

use crate::diagnosis::workload::{CopyPart, Shares, TimePerByte, Workload};

/// A remedy leaves at least this share of a time: nothing makes a copy a hundred times as fast. Guess.
pub const LEFT_MIN: f64 = 0.01;
/// Two runs differ by this factor: drift, and the offset in an erase block where they begin. Guess.
pub const RUN_FACTOR: f64 = 1.06;
/// What differs by this factor is no noise between two runs, or between a line and its points. Guess.
pub const DIFFERS: f64 = 1.15;
/// The error of the workload model besides that of the measurements, a factor: the order of writes. Guess.
const MODEL_FACTOR: f64 = 1.05;

/// A time per byte, seconds: an interval, and the likely value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    pub low: f64,
    pub likely: f64,
    pub high: f64,
}

impl Range {
    /// Known within a factor.
    pub const fn within(seconds: f64, factor: f64) -> Self {
        Self { low: seconds / factor, likely: seconds, high: seconds * factor }
    }

    /// `now` less `removed`, which is known within a factor. At least the share `left_min` of `now` remains.
    pub fn without(now: f64, removed: f64, factor: f64, left_min: f64) -> Self {
        let left = |removed: f64| (now - removed).max(now * left_min);
        Self { low: left(removed * factor), likely: left(removed), high: left(removed / factor) }
    }

    /// The same, where zero is as likely.
    pub const fn or_zero(self) -> Self {
        Self { low: 0.0, likely: self.likely / 2.0, high: self.high }
    }

    /// Clamped to `now`.
    pub fn at_most(self, now: f64) -> Self {
        let Self { low, likely, high } = self;
        Self { low: low.min(now), likely: likely.min(now), high: high.min(now) }
    }
}

/// The time per byte of every part of a copy if one bottleneck were removed.
#[derive(Debug, Clone, PartialEq)]
pub struct Counterfactual {
    pub bottleneck: Bottleneck,
    /// In the order of [`CopyPart::ALL`]; `None` for a part that stays as it is.
    pub without: [Option<Range>; 4],
    pub evidence: DiagnosisEvidence,
}

impl Counterfactual {
    /// The cost of the bottleneck for a copy with these shares; `None` if removing it gains nothing.
    pub fn cost(&self, workload: &Workload, shares: &Shares) -> Option<Cost> {
        let gain = self.gain(workload, shares)?;
        Some(Cost { bottleneck: self.bottleneck, gain, evidence: self.evidence.clone() })
    }

    /// The gain for a copy with these shares; `None` if there is none. Each end of the interval takes all
    /// parts, changed or not, at their least favourable end.
    pub fn gain(&self, workload: &Workload, shares: &Shares) -> Option<Gain> {
        let ratio = |ends: fn(TimePerByte, Option<Range>) -> (f64, f64)| {
            let (mut before, mut after) = (0.0, 0.0);
            for (part, share) in CopyPart::ALL.into_iter().zip(shares) {
                let now = workload.time_per_byte(part);
                let range = self.without[part as usize].map(|range| range.at_most(now.seconds));
                let (part_before, part_after) = ends(now, range);
                before += share * part_before;
                after += share * part_after.min(part_before);
            }
            before / after
        };
        let low = ratio(|TimePerByte { seconds, factor }, range| match range {
            Some(range) => (seconds / factor, range.high),
            None => (seconds * factor, seconds * factor),
        });
        let high = ratio(|TimePerByte { seconds, factor }, range| match range {
            Some(range) => (seconds * factor, range.low),
            None => (seconds / factor, seconds / factor),
        });
        let likely = ratio(|TimePerByte { seconds, .. }, range| {
            (seconds, range.map_or(seconds, |range| range.likely))
        });
        let gain = Gain { low: (low / MODEL_FACTOR).max(1.0), likely, high: high * MODEL_FACTOR };
        let is_valid = [gain.low, gain.likely, gain.high].into_iter().all(f64::is_finite);
        (is_valid && gain.likely >= GAIN_MIN).then_some(gain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::workload::EVERYDAY;

    fn gain(workload: &Workload, without: [Option<Range>; 4]) -> Option<Gain> {
        let evidence = DiagnosisEvidence::Flash { single_bytes_per_s: 1.0, long_bytes_per_s: 1.0 };
        Counterfactual { bottleneck: Bottleneck::Link, without, evidence }.gain(workload, &EVERYDAY)
    }

    #[test]
    fn half_the_time_per_byte_is_a_gain_of_two() {
        let workload = Workload::of([1.0; 4]);
        let half = gain(&workload, [Some(Range::within(0.5, 1.1)); 4]).unwrap();
        assert!((half.likely - 2.0).abs() < 1e-9 && half.low < 1.9 && half.high > 2.1, "{half:?}");
        assert!(half.high / half.low < 1.6, "{half:?}");
        assert_eq!(gain(&workload, [None; 4]), None);
        assert_eq!(gain(&workload, [Some(Range::within(2.0, 1.1)); 4]), None, "slower is no gain");
        let not_a_number = Some(Range { low: f64::NAN, likely: 0.0, high: 0.0 });
        assert_eq!(gain(&workload, [not_a_number; 4]), None);
    }

    #[test]
    fn a_part_contributes_to_the_gain_by_its_share() {
        let workload = Workload::of([1.0, 1.0, 81.0, 1.0]);
        let gain = gain(&workload, [None, None, Some(Range::within(1.0, 1.1)), None]).unwrap();
        assert!((gain.likely - 1.8).abs() < 1e-9, "{gain:?}");
    }

    /// Whether a gain has this interval.
    fn is(gain: Gain, low: f64, likely: f64, high: f64) -> bool {
        let Gain { low: l, likely: k, high: h } = gain;
        [(l, low), (k, likely), (h, high)].into_iter().all(|(seen, truth)| (seen - truth).abs() < 1e-9)
    }

    #[test]
    fn each_end_of_a_gain_takes_every_part_at_its_own_end_and_no_part_becomes_slower() {
        let workload = Workload::of([1.0; 4]);
        // Large files need half the time, medium ones about as much as now or more.
        let slower = Range { low: 1.5, likely: 2.0, high: 3.0 };
        let without = [Some(Range::within(0.5, 1.0)), Some(slower), None, None];
        let (run, model) = (1.06, 1.05);
        let low = (0.97 / run + 0.03 * run) / (0.4 + 0.17 / run + 0.03 * run) / model;
        let high = (0.97 * run + 0.03 / run) / (0.4 + 0.17 + 0.03 / run) * model;
        let seen = gain(&workload, without).unwrap();
        assert!(is(seen, low, 1.0 / 0.6, high), "{seen:?}");
    }

    #[test]
    fn the_least_gain_is_none() {
        let seen = gain(&Workload::of([1.0; 4]), [Some(Range::within(0.97, 1.2)); 4]).unwrap();
        assert!(is(seen, 1.0, 1.0 / 0.97, 1.06 * 1.2 / 0.97 * 1.05), "{seen:?}");
    }
}
