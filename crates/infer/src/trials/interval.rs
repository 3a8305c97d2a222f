//! The time of repeated trials with its interval, and the ratio of two such times.
//!
//! All is done with logarithms of times. The standard deviation is that of the trials with the same
//! writeback, shrunk towards what recordings of the same work usually show (as in G. Smyth, "Linear models
//! and empirical Bayes methods", 2004, 3): three trials alone would estimate it badly, and one not at all.
//! Replayed trials have a known error besides. Late and early writeback bound a host, so the interval spans
//! both.

use flashscope_record::finding::Confidence;
use flashscope_record::{Trial, Writeback};

use crate::statistics::{count, median, student_quantile, student_within};
use crate::thresholds::COVERED;

/// The error of a replayed time by timers and by the emulated host: recordings on sticks that were slow while
/// they recorded gave times within 0.7 % of those recorded on an instant stick (docs/methods/filesystems.md).
pub const REPLAY_ERROR: f64 = 0.007;
/// The standard deviation of the logarithm of the time that is usual between recordings of the same work:
/// 1 to 10 % were seen, by the draws of the allocator.
const USUAL_DEVIATION: f64 = 0.05;
/// The weight of the usual deviation, in trials. Guess: two, so that three trials count as much.
const USUAL_WEIGHT: f64 = 2.0;

/// The time of one kind of trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// The median, seconds; with late and early writeback the geometric mean of both medians.
    pub seconds: f64,
    /// The lower end of the interval, seconds.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The longest time over the shortest one.
    pub spread: f64,
    /// The number of trials.
    pub trials: usize,
    /// The median of each kind of writeback.
    pub by_writeback: Vec<(Writeback, f64)>,
    modes: Vec<Mode>,
    deviation: f64,
    freedom: f64,
}

/// The trials with the same writeback.
#[derive(Debug, Clone, PartialEq)]
struct Mode {
    writeback: Writeback,
    trials: f64,
    /// The mean of the logarithms.
    mean: f64,
    /// The median, seconds.
    median: f64,
    /// The sum of the squared deviations from the mean.
    squares: f64,
}

/// How much faster one kind of trial is than another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// The ratio of the slower time to the faster.
    pub ratio: f64,
    /// The lower end of its interval; at most 1: there may be no difference.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The probability that the faster one is faster.
    pub confidence: Confidence,
}

impl Mode {
    fn of(writeback: Writeback, trials: &[&Trial]) -> Option<Self> {
        let seconds: Vec<f64> =
            trials.iter().filter(|trial| trial.writeback == writeback).map(|trial| trial.seconds).collect();
        let number = count(seconds.len());
        let median = median(&seconds)?;
        let mean = seconds.iter().map(|seconds| seconds.ln()).sum::<f64>() / number;
        let squares = seconds.iter().map(|seconds| (seconds.ln() - mean).powi(2)).sum();
        Some(Self { writeback, trials: number, mean, median, squares })
    }

    /// The known error of its times, as a logarithm.
    fn known_error(&self) -> f64 {
        match self.writeback {
            Writeback::Host => 0.0,
            Writeback::Late | Writeback::Early => REPLAY_ERROR.ln_1p(),
        }
    }
}

impl Estimate {
    /// The estimate of these trials; trials without a time are left out. `None` if none is left.
    #[must_use]
    pub fn of(trials: &[&Trial]) -> Option<Self> {
        let timed: Vec<&Trial> =
            trials.iter().copied().filter(|trial| trial.seconds.is_finite() && trial.seconds > 0.0).collect();
        let modes: Vec<Mode> = [Writeback::Late, Writeback::Early, Writeback::Host]
            .into_iter()
            .filter_map(|writeback| Mode::of(writeback, &timed))
            .collect();
        let number = count(modes.len());
        let freedom = USUAL_WEIGHT + count(timed.len()) - number;
        let squares: f64 = modes.iter().map(|mode| mode.squares).sum();
        let deviation = ((USUAL_WEIGHT * USUAL_DEVIATION.powi(2) + squares) / freedom).sqrt();
        let middle = modes.iter().map(|mode| mode.median.ln()).sum::<f64>() / number;
        let seconds = || timed.iter().map(|trial| trial.seconds);
        let (least, most) = (seconds().reduce(f64::min)?, seconds().reduce(f64::max)?);
        let errors = student_quantile(freedom, f64::midpoint(1.0, COVERED));
        let half = |mode: &Mode| errors * deviation / mode.trials.sqrt() + mode.known_error();
        let low = modes.iter().map(|mode| mode.mean - half(mode)).fold(middle, f64::min);
        let high = modes.iter().map(|mode| mode.mean + half(mode)).fold(middle, f64::max);
        Some(Self {
            seconds: middle.exp(),
            low: low.exp(),
            high: high.exp(),
            spread: most / least,
            trials: timed.len(),
            by_writeback: modes.iter().map(|mode| (mode.writeback, mode.median)).collect(),
            modes,
            deviation,
            freedom,
        })
    }

    /// How much faster this is than `slower`. Trials with the same writeback are compared where there are
    /// such, as both then share the host; else each with each.
    #[must_use]
    pub fn compared_with(&self, slower: &Self) -> Comparison {
        let pairs = || self.modes.iter().flat_map(|own| slower.modes.iter().map(move |other| (own, other)));
        let shared: Vec<(&Mode, &Mode)> =
            pairs().filter(|(own, other)| own.writeback == other.writeback).collect();
        let pairs = if shared.is_empty() { pairs().collect() } else { shared };
        let freedom = self.freedom.min(slower.freedom);
        let errors = student_quantile(freedom, f64::midpoint(1.0, COVERED));
        let (mut low, mut high, mut middle, mut sure) = (f64::INFINITY, f64::NEG_INFINITY, 0.0, 1.0_f64);
        for (own, other) in &pairs {
            let difference = other.mean - own.mean;
            let variance = self.deviation.powi(2) / own.trials + slower.deviation.powi(2) / other.trials;
            let (error, known) = (variance.sqrt(), own.known_error() + other.known_error());
            (low, high) =
                (low.min(difference - errors * error - known), high.max(difference + errors * error + known));
            middle += difference / count(pairs.len());
            sure = sure.min(above_zero(freedom, (difference - known) / error));
        }
        Comparison {
            ratio: middle.exp(),
            low: low.exp(),
            high: high.exp(),
            confidence: Confidence::new(sure),
        }
    }
}

impl Comparison {
    /// Whether the interval excludes that both are equal.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        self.low > 1.0
    }
}

/// The probability that a value is above zero which lies this many standard errors above it.
fn above_zero(freedom: f64, errors: f64) -> f64 {
    f64::midpoint(1.0, student_within(freedom, errors) * errors.signum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trials::summary::tests::trial;

    fn estimate(seconds: &[(Writeback, f64)]) -> Estimate {
        let trials: Vec<Trial> =
            seconds.iter().map(|(writeback, seconds)| trial("ext4", *writeback, *seconds)).collect();
        Estimate::of(&trials.iter().collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn interval_narrows_with_trials_and_widens_with_their_spread() {
        let late = |seconds: &[f64]| {
            let all: Vec<_> = seconds.iter().map(|each| (Writeback::Late, *each)).collect();
            let estimate = estimate(&all);
            assert!(estimate.low < estimate.seconds && estimate.seconds < estimate.high);
            estimate.high / estimate.low
        };
        assert!(late(&[10.0]) > late(&[10.0, 10.1]) && late(&[10.0, 10.1]) > late(&[10.0, 10.1, 9.9]));
        assert!(late(&[10.0, 14.0, 7.0]) > late(&[10.0, 10.4, 9.6]));
        // Equal times: the usual deviation and the known error remain.
        let same = late(&[10.0, 10.0, 10.0]);
        let expected = 2.0
            * (student_quantile(4.0, 0.975) * (0.005_f64 / 4.0).sqrt() / 3.0_f64.sqrt() + 0.007_f64.ln_1p());
        assert!((same.ln() - expected).abs() < 1e-9, "{same}");
    }

    #[test]
    fn late_and_early_writeback_bound_the_interval() {
        let both = estimate(&[(Writeback::Late, 10.0), (Writeback::Early, 40.0)]);
        assert!((both.seconds - 20.0).abs() < 1e-9 && both.low < 10.0 && both.high > 40.0, "{both:?}");
        assert_eq!(both.by_writeback, [(Writeback::Late, 10.0), (Writeback::Early, 40.0)]);
        assert_eq!((both.spread, both.trials), (4.0, 2));
    }

    #[test]
    fn a_host_effect_that_both_share_is_no_difference_between_them() {
        let times = |factor: f64| {
            let modes = [(Writeback::Late, 10.0), (Writeback::Early, 40.0)];
            let rounds = [1.0, 1.01, 0.99];
            let all: Vec<_> = modes
                .iter()
                .flat_map(|(mode, seconds)| rounds.map(|round| (*mode, seconds * factor * round)))
                .collect();
            estimate(&all)
        };
        let (fast, slow) = (times(1.0), times(1.3));
        assert!(fast.high > slow.low, "the intervals overlap, as the host is unknown");
        let gain = fast.compared_with(&slow);
        assert!(gain.is_shown() && (gain.ratio - 1.3).abs() < 1e-9 && gain.low > 1.2, "{gain:?}");
        assert!(gain.confidence.get() > 0.99);
        let none = fast.compared_with(&times(1.02));
        assert!(!none.is_shown() && none.low < 1.0 && none.confidence.get() < 0.95, "{none:?}");
    }

    #[test]
    fn times_that_are_no_times_are_left_out() {
        let trials =
            [0.0, -1.0, f64::NAN, f64::INFINITY].map(|seconds| trial("ext4", Writeback::Host, seconds));
        assert_eq!(Estimate::of(&trials.iter().collect::<Vec<_>>()), None);
        assert_eq!(Estimate::of(&[]), None);
    }

    /// By simulation: recordings with a known deviation, and intervals that should hold the true time.
    #[test]
    fn intervals_of_three_trials_hold_the_true_time_as_often_as_they_say() {
        // A generator of its own, so that the test is the same everywhere (Knuth's MMIX constants).
        let mut state = 1_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            count(usize::try_from(state >> 33).unwrap()) / f64::from(1_u32 << 31)
        };
        let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        for deviation in [0.01, 0.05, 0.1] {
            let held = (0..2000).filter(|_| {
                let all: Vec<_> = (0..3).map(|_| (Writeback::Host, (normal() * deviation).exp())).collect();
                let estimate = estimate(&all);
                estimate.low <= 1.0 && estimate.high >= 1.0
            });
            let share = count(held.count()) / 2000.0;
            assert!(share > 0.9, "{deviation}: {share}");
        }
    }
}
