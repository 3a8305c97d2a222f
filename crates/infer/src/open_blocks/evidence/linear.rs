//! The posterior of the search in sequential order.

use flashscope_record::observation::{OpenUnitsData, Order};

use super::replay::replay;
use super::sequence::{WriteSequence, write_sequences};
use super::threshold::{THRESHOLD_NATS, best_of_thresholds, with_best_threshold};
use crate::open_blocks::posterior::{OPEN_MAX, Posterior};
use crate::open_blocks::prior::Prior;
use crate::slow_classifier::SlowClassifier;
use crate::thresholds::GRANTED;

/// The posterior after all writes of the search in sequential order; `None` without any.
#[must_use]
pub fn sequential_posterior(data: &OpenUnitsData) -> Option<Posterior> {
    let sequences = write_sequences(data);
    let classifier = sequences.first()?.classifier;
    let prior = Posterior::new(Order::Linear, classifier, Prior::Linear).with_erase_block(data.erase_block);
    let posterior = replay(&prior, &sequences, SlowClassifier::clone);
    let mut posterior = with_best_threshold(posterior, &sequences);
    if posterior.verdict().probability < GRANTED {
        posterior = with_surer_threshold(&posterior, &sequences).unwrap_or(posterior);
    }
    Some(posterior)
}

/// The posterior with a threshold that makes the number more probable, if there is one. Stalls that called
/// for it during the search may be rare among all writes. If the number stays, no higher evidence is needed.
fn with_surer_threshold(posterior: &Posterior, sequences: &[WriteSequence<'_>]) -> Option<Posterior> {
    let known = posterior.verdict();
    let nats_min = |other: &Posterior| {
        let verdict = other.verdict();
        let nats = if verdict.number == known.number { 0.0 } else { THRESHOLD_NATS };
        (verdict.is_found(OPEN_MAX + 1) && verdict.probability > known.probability).then_some(nats)
    };
    best_of_thresholds(posterior, sequences, nats_min)
}

/// The same posterior for further requests as large as at the start, if the search used smaller ones.
#[must_use]
pub fn with_whole_requests(mut linear: Posterior, data: &OpenUnitsData) -> Posterior {
    if let Some(sequence) = write_sequences(data).first().filter(|_| data.led) {
        let classifier = sequence.classifier.at_least_as_strict_as(linear.classifier());
        linear.continue_with(classifier, sequence.request);
    }
    linear
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_device::Bytes;
    use flashscope_record::observation::OpenUnitsCell;

    use super::*;

    /// Round-robin turns of 54 blocks with 50 slots, random eviction and merges of 300 ms. One write in
    /// `stalls_once_in` stalls for 8 ms.
    fn turns_among_stalls(turns: u32, stalls_once_in: u32) -> OpenUnitsData {
        let (mut state, mut open) = (5_u32, Vec::new());
        let mut draw = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % below
        };
        let mut cells = Vec::new();
        for _ in 0..12 {
            OpenUnitsCell::keep(&mut cells, (Order::Linear, 1, Bytes::kib(4)), 0, Duration::from_millis(2));
        }
        for unit in (0..turns).flat_map(|_| 0..54) {
            let is_open = open.contains(&unit);
            let merges = !is_open && open.len() == 50;
            if merges {
                open.swap_remove(draw(50) as usize);
            }
            if !is_open {
                open.push(unit);
            }
            let milliseconds = match draw(stalls_once_in) {
                _ if merges => 300,
                0 => 8,
                _ => 2,
            };
            let kept = (Order::Linear, 54, Bytes::kib(4));
            OpenUnitsCell::keep(&mut cells, kept, unit, Duration::from_millis(milliseconds));
        }
        OpenUnitsData { erase_block: Bytes::mib(64), cells, ..OpenUnitsData::default() }
    }

    #[test]
    fn a_number_stays_probable_despite_rare_stalls() {
        let verdict = sequential_posterior(&turns_among_stalls(40, 80)).unwrap().verdict();
        // With the lower threshold alone it has 84 %.
        assert!(verdict.number == 50 && verdict.probability > 0.9, "{verdict:?}");
    }
}
