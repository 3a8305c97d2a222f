//! The posterior of the search in random order.

use flashscope_record::observation::{OpenUnitsCell, Order};

use super::replay::replay;
use super::sequence::WriteSequence;
use super::threshold::with_best_threshold;
use crate::open_blocks::posterior::{OPEN_MAX, Posterior};
use crate::slow_classifier::SlowClassifier;

/// The fewest open units that openings into freed slots can show: with fewer, maybe no slot was freed.
const FREED_SLOTS_MIN: u32 = 2;
/// The last openings of which all but one must be slow, so that one unit too many was tried. Guess.
const SLOW_OPENINGS: u32 = 2;

/// The posterior after all writes of the search in random order. The sequential search before tried up to
/// `units_max` units.
#[must_use]
pub fn random_posterior(cells: &[OpenUnitsCell], linear: &Posterior, units_max: u32) -> Posterior {
    replay_random(cells, random_prior(linear, units_max))
}

/// The posterior after openings in random order, each into a slot that was freed by filling another unit.
#[must_use]
pub fn posterior_with_freed_slots(cells: &[OpenUnitsCell], linear: &Posterior, units_max: u32) -> Posterior {
    replay_random(cells, random_prior(linear, units_max).with_freed_slots())
}

/// The same if it shows the number of open units: at least [`FREED_SLOTS_MIN`], and one more was too many.
#[must_use]
pub fn found_with_freed_slots(
    cells: &[OpenUnitsCell],
    linear: &Posterior,
    units_max: u32,
) -> Option<Posterior> {
    let cells = Some(cells).filter(|cells| !cells.is_empty())?;
    let posterior = posterior_with_freed_slots(cells, linear, units_max);
    let verdict = posterior.verdict();
    // If only the first openings were slow, later ones need no merge: then they show no number.
    let is_exceeded = posterior.written_units() > verdict.number && !posterior.stalls_too_often();
    let is_found = verdict.is_found(OPEN_MAX + 1)
        && verdict.number >= FREED_SLOTS_MIN
        && is_exceeded
        && posterior.openings_were_slow(SLOW_OPENINGS);
    is_found.then_some(posterior)
}

/// The classifier of slow random writes after the sequential search. The duration of merges is known from
/// there, or at least that a random write takes longer by itself.
fn random_classifier(linear: &Posterior, units_max: u32) -> SlowClassifier {
    let classifier = linear.classifier();
    if linear.verdict().is_found(units_max) {
        classifier.for_merges(linear.merge_seconds())
    } else {
        classifier.for_random_order()
    }
}

/// The posterior before the first write in random order.
fn random_prior(linear: &Posterior, units_max: u32) -> Posterior {
    Posterior::new(Order::Random, random_classifier(linear, units_max), linear.random_prior())
}

/// The same after all writes of these cells.
fn replay_random(cells: &[OpenUnitsCell], before: Posterior) -> Posterior {
    let sequences = [WriteSequence::new(cells, before.classifier())];
    with_best_threshold(replay(&before, &sequences, SlowClassifier::clone), &sequences)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_device::Bytes;

    use super::*;
    use crate::open_blocks::prior::Prior;

    /// Two random writes into each unit, the second one with these latencies, milliseconds.
    fn twice_each(milliseconds: impl Iterator<Item = u64>) -> Vec<OpenUnitsCell> {
        let mut cells = Vec::new();
        for (unit, second) in (0..).zip(milliseconds) {
            for latency in [2, second] {
                let kept = (Order::Random, unit + 1, Bytes::kib(4));
                OpenUnitsCell::keep(&mut cells, kept, unit, Duration::from_millis(latency));
            }
        }
        cells
    }

    /// Openings of `fast` and then `slow` units.
    fn openings(fast: u32, slow: u32) -> Vec<OpenUnitsCell> {
        twice_each((0..fast + slow).map(|unit| if unit < fast { 2 } else { 40 }))
    }

    #[test]
    fn as_many_units_are_open_as_openings_into_freed_slots_are_fast() {
        let classifier = SlowClassifier::from_baseline(&[Duration::from_millis(2); 5]).unwrap();
        let linear = Posterior::new(Order::Linear, classifier, Prior::Linear);
        let number = |fast, slow| {
            let found = found_with_freed_slots(&openings(fast, slow), &linear, OPEN_MAX);
            found.map(|posterior| posterior.verdict().number)
        };
        assert_eq!(number(12, 4), Some(12));
        assert_eq!(number(90, 4), Some(90));
        assert_eq!(number(12, 0), None, "there may be more");
        assert_eq!(number(0, 4), None, "no slot was freed");
        assert_eq!(number(0, 0), None);
    }
}
