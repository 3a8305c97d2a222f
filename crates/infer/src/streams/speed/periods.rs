//! Recurring stalls in a row of writes, and what whole periods of them take.

use std::time::Duration;

use flashscope_record::observation::{LongWrite, SpeedCell};

use crate::statistics::count;
use crate::streams::speed::clear::CLEAR_HALF_WIDTH;
use crate::streams::speed::phases::{Latencies, seconds};
use crate::streams::stalls::{Stalls, stalls};

/// A write that takes this many times the median of its row may be a stall. Guess.
const LONG_RATIO: f64 = 3.0;
/// A write met a stall if it took longer than the median by more than this share of a typical stall. Guess.
pub const STALL_SHARE_MIN: f64 = 0.5;
/// If earlier rows met this many times as many stalls, a few more change the length of a stall little. Guess.
const FEW_BESIDE: f64 = 4.0;
/// The 97.5 % quantile of a normal value. Student's t for 95 % is at most this plus [`STUDENT_BEYOND`] over
/// the degrees of freedom, for at least three.
const NORMAL_95: f64 = 1.96;
/// See [`NORMAL_95`]: 3.19 for three degrees of freedom, where Student's t is 3.18.
const STUDENT_BEYOND: f64 = 3.7;

/// The time of whole periods of stalls in a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Periods {
    /// The time of one period, or of a byte, seconds.
    pub seconds: f64,
    /// Half the width of its interval, as a share.
    pub half: f64,
    /// Whether only the length of a stall is unclear, and earlier rows met [`FEW_BESIDE`] times
    /// as many.
    pub few_beside: bool,
}

impl Periods {
    /// Of periods with one stall in each, if earlier rows met such stalls too. All times in seconds.
    pub fn with(each: &[f64], stalls: &[f64], before: &Sample) -> Self {
        let rest: Vec<f64> = each.iter().zip(stalls).map(|(all, stall)| all - stall).collect();
        let (rest, own) = (Sample::of(&rest), Sample::of(stalls));
        let periods = Self::of(&rest, &own.and(before));
        let is_rest_clear = rest.half() <= periods.seconds * CLEAR_HALF_WIDTH;
        Self { few_beside: is_rest_clear && own.number * FEW_BESIDE <= before.number, ..periods }
    }

    /// The sum of a period without its stall, and of its stall.
    pub fn of(rest: &Sample, stall: &Sample) -> Self {
        let seconds = rest.mean + stall.mean;
        let half = rest.half().hypot(stall.half()) / seconds;
        Self { seconds, half: half.max(CLEAR_HALF_WIDTH), few_beside: false }
    }
}

/// A sample: its size, mean and variance.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sample {
    pub number: f64,
    pub mean: f64,
    variance: f64,
}

impl Sample {
    pub fn of(values: &[f64]) -> Self {
        let number = count(values.len());
        let mean = values.iter().sum::<f64>() / number.max(1.0);
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        Self { number, mean, variance: squares / (number - 1.0).max(1.0) }
    }

    /// Both as one sample.
    fn and(&self, other: &Self) -> Self {
        let number = self.number + other.number;
        let weighted = |one: f64, two: f64| (one * self.number + two * other.number) / number.max(1.0);
        Self {
            number,
            mean: weighted(self.mean, other.mean),
            variance: weighted(self.variance, other.variance),
        }
    }

    /// Half the width of the 95 % interval of the mean.
    fn half(&self) -> f64 {
        let freedom = (self.number - 1.0).max(1.0);
        (self.variance / self.number.max(1.0)).sqrt() * (NORMAL_95 + STUDENT_BEYOND / freedom)
    }

    /// Whether the means may be equal; never so for an empty sample.
    pub fn is_like(&self, other: &Self) -> bool {
        let error = (other.variance * (1.0 / self.number.max(1.0) + 1.0 / other.number.max(1.0))).sqrt();
        other.number > 0.0
            && (self.mean - other.mean).abs() <= (error * NORMAL_95).max(other.mean * CLEAR_HALF_WIDTH)
    }
}

/// The stalls in a row, seconds each: the time of a write beyond the median, if it is more than
/// [`STALL_SHARE_MIN`] of a typical stall.
pub fn stall_times(cell: &SpeedCell, stall: f64) -> Vec<f64> {
    let median_request_s = median_request_s(cell);
    let extra = cell.took_ns.iter().map(|took| seconds(*took) - median_request_s);
    extra.filter(|extra| *extra > stall * STALL_SHARE_MIN).collect()
}

/// The median request of a row, seconds.
pub fn median_request_s(cell: &SpeedCell) -> f64 {
    Latencies::of(&cell.took_ns).map_or(0.0, |times| times.p50)
}

/// The stalls of a row that recur after the same number of bytes; each without the median time of a write.
pub fn stalls_in(cell: &SpeedCell) -> Option<Stalls> {
    let median_request_s = median_request_s(cell);
    let requests = (1..).zip(cell.took_ns.iter().zip(&cell.ended_ns));
    let long = requests.filter(|(_, (took, _))| seconds(**took) > median_request_s * LONG_RATIO);
    let long = long.map(|(index, (took, ended))| LongWrite {
        written: cell.case.request * index,
        took: Duration::from_secs_f64(seconds(*took) - median_request_s),
        ended: Duration::from_nanos(*ended),
    });
    stalls(&long.collect::<Vec<_>>(), cell.case.request)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::student_quantile;

    /// The numbers from 1 up to this one, whose mean has a standard error of the root of (number + 1) / 12.
    fn numbers(last: u32) -> Sample {
        Sample::of(&(1..=last).map(f64::from).collect::<Vec<_>>())
    }

    #[test]
    fn the_interval_of_a_mean_is_that_of_student_or_a_little_wider() {
        for last in [4, 5, 6, 11, 31] {
            let errors = numbers(last).half() / ((f64::from(last) + 1.0) / 12.0).sqrt();
            let student = student_quantile(f64::from(last) - 1.0, 0.975);
            assert!((student..student * 1.06).contains(&errors), "{last} values: {errors}, not {student}");
        }
    }

    #[test]
    fn the_error_of_a_period_is_that_of_its_stall_and_of_its_rest_together() {
        let (one, two) = (numbers(4), numbers(11));
        let Periods { seconds, half, few_beside } = Periods::of(&one, &two);
        assert!((seconds - 8.5).abs() < 1e-9 && !few_beside, "{seconds}");
        assert!((half - one.half().hypot(two.half()) / 8.5).abs() < 1e-9, "{half}");
        let even = Periods::of(&Sample::of(&[2.0; 8]), &Sample::of(&[3.0; 8]));
        assert_eq!((even.seconds, even.half), (5.0, CLEAR_HALF_WIDTH));
    }
}
