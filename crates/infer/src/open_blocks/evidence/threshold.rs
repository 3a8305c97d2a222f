//! Which threshold between fast and slow writes gives the highest evidence.

use flashscope_record::observation::Order;

use super::replay::replay;
use super::sequence::WriteSequence;
use super::small_steps::has_small_steps;
use crate::open_blocks::posterior::{OPEN_MAX, Posterior};
use crate::slow_classifier::SlowClassifier;
use crate::thresholds::{LITTLE, STALLS_MAX};

/// The log Bayes factor of small steps on the first sequence, nats, if larger ones give no number. On a slow
/// link, or with large pages, a log completes in less than half the time of a write. Later requests below a
/// page take longer than that in another block. Guess.
const SMALL_STEPS_NATS: f64 = 5.0;
/// The thresholds tried, in multiples of the baseline. Guess.
const THRESHOLDS: [f64; 3] = [6.0, 15.0, 40.0];
/// The least log Bayes factor of another threshold, nats. Guess.
pub(super) const THRESHOLD_NATS: f64 = 2.0;

/// The posterior with the threshold of the highest evidence. Merges may be shorter than the default
/// threshold, or far longer than stalls. A threshold in the middle of the slow writes does not count.
#[must_use]
pub fn with_best_threshold(posterior: Posterior, sequences: &[WriteSequence<'_>]) -> Posterior {
    let is_unchanged = sequences.last().is_none_or(|sequence| posterior.classifier() == sequence.classifier);
    // An undecided posterior may be decided by the writes since.
    let posterior =
        if is_unchanged { posterior } else { replay(&posterior, sequences, SlowClassifier::clone) };
    let posterior = with_small_steps(posterior, sequences);
    with_stall_thresholds(posterior, sequences)
}

/// The same with small steps, if they have the higher evidence in sequential order.
fn with_small_steps(posterior: Posterior, sequences: &[WriteSequence<'_>]) -> Posterior {
    let is_sequential = posterior.order() == Order::Linear;
    let Some(first) = sequences.first().filter(|first| is_sequential && has_small_steps(first)) else {
        return posterior;
    };
    let of_first = |classifier| {
        let mut sequence = *first;
        sequence.classifier = classifier;
        replay(&posterior, &[sequence], SlowClassifier::clone)
    };
    let first_size = if sequences.len() == 1 { posterior.clone() } else { of_first(first.classifier) };
    let is_found =
        first_size.log_bayes_factor() > SMALL_STEPS_NATS && first_size.verdict().is_found(OPEN_MAX + 1);
    let small = || of_first(first.classifier.for_small_steps()).log_bayes_factor();
    if !is_found && small() > first_size.log_bayes_factor() + SMALL_STEPS_NATS {
        replay(&posterior, sequences, |classifier| classifier.for_small_steps())
    } else {
        posterior
    }
}

/// The same with a higher threshold if the device stalls.
fn with_stall_thresholds(best: Posterior, sequences: &[WriteSequence<'_>]) -> Posterior {
    // With a negative log Bayes factor, other events are taken for merges.
    if best.stall_share() < LITTLE && best.log_bayes_factor() >= 0.0 {
        return best;
    }
    best_of_thresholds(&best, sequences, |_| Some(THRESHOLD_NATS)).unwrap_or(best)
}

/// The posterior with the best of [`THRESHOLDS`]; `None` if none is better. `nats_min` is the least log Bayes
/// factor of a posterior compared with the best so far, or `None` if it does not count.
pub(super) fn best_of_thresholds(
    posterior: &Posterior,
    sequences: &[WriteSequence<'_>],
    nats_min: impl Fn(&Posterior) -> Option<f64>,
) -> Option<Posterior> {
    let slow = posterior.slow_share();
    let mut best = None;
    let mut evidence = posterior.log_bayes_factor();
    for threshold in THRESHOLDS {
        let other = replay(posterior, sequences, |classifier| classifier.with_threshold_min(threshold));
        let stalls = slow - other.slow_share();
        let is_plausible = stalls < STALLS_MAX && other.undecided_share() <= other.slow_share();
        let Some(more) = Some(&other).filter(|_| is_plausible).and_then(&nats_min) else { continue };
        let log_bayes_factor = other.log_bayes_factor();
        if log_bayes_factor > evidence + more {
            evidence = log_bayes_factor;
            best = Some(other);
        }
    }
    best
}
