//! Which threshold between fast and slow writes gives the highest evidence.

use flashscope_record::observation::Order;

use super::replay::replay;
use super::sequence::WriteSequence;
use super::small_steps::has_small_steps;
use crate::open_blocks::posterior::{OPEN_MAX, Posterior};
use crate::slow_classifier::SlowClassifier;
use crate::statistics::count;
use crate::thresholds::{LITTLE, NEARLY_ALL, STALLS_MAX};

/// The fewest switches between blocks for a judgement. Guess.
const SWITCHES_MIN: usize = 8;

/// The log Bayes factor of small steps on the first sequence, nats, if larger ones give no number. On a slow
/// link, or with large pages, a log completes in less than half the time of a write. Later requests below a
/// page take longer than that in another block. Guess.
const SMALL_STEPS_NATS: f64 = 5.0;
/// Higher thresholds are tried from this number of stalls per whole turn on. Then the threshold is at most
/// the geometric mean of writes without and with a merge. Guess.
const STALLS_PER_TURN_TRIED: f64 = 0.1;
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
    with_stall_thresholds(with_shorter_merges(posterior, sequences), sequences)
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

/// The same with shorter merges, if they have the higher evidence in random order: new blocks have little to
/// copy there.
fn with_shorter_merges(posterior: Posterior, sequences: &[WriteSequence<'_>]) -> Posterior {
    if posterior.order() != Order::Random || posterior.verdict().is_found(OPEN_MAX + 1) {
        return posterior;
    }
    let shorter = replay(&posterior, sequences, |classifier| classifier.for_shorter_merges());
    let (unshortened, other) = (posterior.verdict(), shorter.verdict());
    let fits = |number: u32| posterior.sequential_count().is_some_and(|sequential| number <= sequential);
    let is_found = other.is_found(OPEN_MAX + 1) && fits(other.number) && !fits(unshortened.number);
    let is_each = is_found && sequences.iter().any(|sequence| switches_cost(sequence, shorter.classifier()));
    let evidence = if is_found { 0.0 } else { posterior.log_bayes_factor() };
    if is_each || shorter.log_bayes_factor() > evidence + SMALL_STEPS_NATS { shorter } else { posterior }
}

/// Whether nearly every first of two writes into a block is slow and the second one is fast. If all switches
/// cost a merge, the Bayes factor is low, but a fast second write excludes writes that are slow by
/// themselves.
fn switches_cost(sequence: &WriteSequence<'_>, classifier: SlowClassifier) -> bool {
    let writes: Vec<(u32, bool)> = sequence
        .writes(Order::Random)
        .map(|(_, unit, latency)| (unit, classifier.is_slow(latency)))
        .collect();
    let pairs: Vec<_> = writes.windows(2).filter(|pair| pair[0].0 == pair[1].0).collect();
    let costly = pairs.iter().filter(|pair| pair[0].1 && !pair[1].1).count();
    pairs.len() >= SWITCHES_MIN && count(costly) >= count(pairs.len()) * NEARLY_ALL
}

/// The same with a higher threshold if the device stalls.
pub(super) fn with_stall_thresholds(best: Posterior, sequences: &[WriteSequence<'_>]) -> Posterior {
    // With a negative log Bayes factor, other events are taken for merges.
    let threshold_max = if best.stall_share() >= LITTLE || best.log_bayes_factor() < 0.0 {
        f64::INFINITY
    } else if best.stalls_per_turn() >= STALLS_PER_TURN_TRIED {
        best.merge_threshold()
    } else {
        return best;
    };
    best_of_thresholds(&best, sequences, threshold_max, |_| Some(THRESHOLD_NATS)).unwrap_or(best)
}

/// The posterior with the best of [`THRESHOLDS`] up to `threshold_max`; `None` if none is better. `nats_min`
/// is the least log Bayes factor of a posterior compared with the best so far, or `None` if it does not
/// count.
pub(super) fn best_of_thresholds(
    posterior: &Posterior,
    sequences: &[WriteSequence<'_>],
    threshold_max: f64,
    nats_min: impl Fn(&Posterior) -> Option<f64>,
) -> Option<Posterior> {
    let slow = posterior.slow_share();
    let mut best = None;
    let mut evidence = posterior.log_bayes_factor();
    for threshold in THRESHOLDS.into_iter().filter(|threshold| *threshold <= threshold_max) {
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
