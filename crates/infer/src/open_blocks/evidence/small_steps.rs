//! Whether latencies rise in small steps, which may be short merges, or drift.

use std::time::Duration;

use flashscope_record::observation::Order;

use super::sequence::WriteSequence;
use crate::statistics::{count, lower_quartile, quantile};
use crate::thresholds::SEVERAL;

/// Times drift if the mean square of successive differences is below this share of twice the variance.
/// Independent times give 1; steps of a few writes each some tenths. Guess.
const DRIFT_MAX: f64 = 0.1;
/// Times do not drift with more than this number of steps ...
const STEPS_MAX: usize = 3;
/// ... over this share of the range between the 5th and the 95th percentile. Guess.
const STEP: f64 = 0.4;

/// More than this share of the small steps must stand out from their neighbours: otherwise all writes may
/// have become slower. Guess.
const STANDING_OUT: f64 = 0.33;
/// The number of neighbours on either side of a write. Guess.
const NEIGHBOURS: usize = 12;
/// At least this share of the later half of the writes must be fast. Guess.
const FAST_SHARE_MIN: f64 = 0.2;

/// Whether some writes are slow only if small steps count.
pub(super) fn has_small_steps(sequence: &WriteSequence<'_>) -> bool {
    let small = sequence.classifier.for_small_steps();
    let is_small = |latency: &Duration| small.is_slow(*latency) && !sequence.classifier.is_slow(*latency);
    let writes: Vec<Duration> = sequence.writes(Order::Linear).map(|(.., latency)| latency).collect();
    let later = &writes[writes.len() / 2..];
    let fast = later.iter().filter(|latency| !small.is_slow(**latency)).count();
    // If hardly a write is fast any more, all take longer than at first.
    let has_fast = count(fast) >= count(later.len()) * FAST_SHARE_MIN;
    let stands_out = |(index, latency): &(usize, &Duration)| {
        let neighbours = &writes[index.saturating_sub(NEIGHBOURS)..writes.len().min(*index + NEIGHBOURS)];
        let seconds: Vec<f64> = neighbours.iter().map(Duration::as_secs_f64).collect();
        let without_step = latency.as_secs_f64() / small.threshold_seconds() * small.typical_seconds();
        lower_quartile(&seconds).is_none_or(|neighbours| without_step > neighbours)
    };
    let steps: Vec<_> = writes.iter().enumerate().filter(|(_, latency)| is_small(latency)).collect();
    let standing_out = steps.iter().filter(|step| stands_out(step)).count();
    let without_merges = writes.iter().filter(|latency| !sequence.classifier.is_slow(**latency));
    let seconds: Vec<f64> = without_merges.map(Duration::as_secs_f64).collect();
    standing_out >= SEVERAL
        && count(standing_out) > count(steps.len()) * STANDING_OUT
        && has_fast
        && !drifts(&seconds)
}

/// Whether successive times drift up and down instead of in steps: by the mean square of successive
/// differences compared with twice the variance (J. von Neumann, "Distribution of the ratio of the mean
/// square successive difference to the variance", Annals of Mathematical Statistics 12, 1941), and by few
/// steps across the range.
#[must_use]
pub fn drifts(seconds: &[f64]) -> bool {
    let mean = seconds.iter().sum::<f64>() / count(seconds.len().max(1));
    let around: f64 = seconds.iter().map(|each| (each - mean).powi(2)).sum();
    let mut apart: Vec<f64> = seconds.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    let successive: f64 = apart.iter().map(|each| each.powi(2)).sum();
    apart.sort_by(|one, other| other.total_cmp(one));
    let at = |share: f64| quantile(seconds, share).unwrap_or(0.0);
    let is_step = |step: &f64| *step > (at(0.95) - at(0.05)) * STEP;
    successive < 2.0 * around * DRIFT_MAX && !apart.get(STEPS_MAX).is_some_and(is_step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_is_distinguished_from_steps() {
        let noise = |index: u32| 0.01 * f64::from(index * index % 7);
        let wave = |index: u32| 15.0 + 2.0 * (f64::from(index) * 0.05).sin() + noise(index);
        assert!(drifts(&(0..200).map(wave).collect::<Vec<_>>()));
        let steps = |index: u32| 13.5 + f64::from(index / 6 % 2) * 2.1 + noise(index);
        assert!(!drifts(&(0..200).map(steps).collect::<Vec<_>>()), "six writes each");
        let long = |index: u32| steps(index / 7);
        assert!(!drifts(&(0..300).map(long).collect::<Vec<_>>()), "42 writes each");
        assert!(!drifts(&(0..200).map(noise).collect::<Vec<_>>()), "only noise");
    }
}
