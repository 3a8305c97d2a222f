//! Whether the controller takes one sequential run only, and closes it as soon as another block is opened.

use std::collections::HashSet;

use flashscope_record::observation::{OpenUnitsData, OpeningPair, Order};

use super::sequence::{WriteSequence, write_sequences};
use crate::slow_classifier::SlowClassifier;
use crate::statistics::{count, median};
use crate::thresholds::{OF_THE_SAME_KIND, REPEATED, STALLS_MAX, THE_RULE};

/// The fewest continued blocks for a judgement. Guess.
const CONTINUED_MIN: usize = 8;

/// Whether pairs of blocks show that one sequential run is taken only. The threshold of the search may be far
/// above the time of closing a block, if one merge in many is far longer.
#[must_use]
pub fn takes_one_run(data: &OpenUnitsData, classifier: SlowClassifier) -> bool {
    let in_pairs = is_one_run(&data.opening_pairs, classifier)
        || (data.opening_pairs.len() >= REPEATED && may_take_one_run(data));
    in_pairs && !continues_as_slowly(data)
}

/// The same by the classifier of the first writes only.
#[must_use]
pub fn may_take_one_run(data: &OpenUnitsData) -> bool {
    write_sequences(data).first().is_some_and(|sequence| is_one_run(&data.opening_pairs, sequence.classifier))
}

/// Whether each second opening of a pair closes a block, though the slots of both were free.
fn is_one_run(opening_pairs: &[OpeningPair], classifier: SlowClassifier) -> bool {
    let is_closed = |pair: &OpeningPair| !classifier.is_slow(pair.alone) && classifier.is_slow(pair.second);
    !opening_pairs.is_empty() && opening_pairs.iter().all(is_closed)
}

/// The first sequence of the search, and the median extra time of the second opening of a pair, seconds.
fn second_opening(data: &OpenUnitsData) -> Option<(WriteSequence<'_>, f64)> {
    let sequence = write_sequences(data).first().copied()?;
    let second: Vec<f64> =
        data.opening_pairs.iter().map(|pair| sequence.extra_seconds(pair.second)).collect();
    Some((sequence, median(&second)?))
}

/// Whether continuing costs as much as the second opening of a pair. In a block opened before another one
/// this is frequent if each closes the other. In the same block it is rarer, if slow writes do not depend on
/// blocks.
fn continues_as_slowly(data: &OpenUnitsData) -> bool {
    let Some((sequence, second)) = second_opening(data) else { return false };
    let as_slow = second * OF_THE_SAME_KIND;
    let (mut opened, mut last) = (HashSet::new(), None);
    let (mut switched, mut continued) = (Vec::new(), Vec::new());
    for (_, unit, latency) in sequence.writes(Order::Linear) {
        let is_slow = sequence.extra_seconds(latency) > as_slow;
        match last.replace(unit) {
            Some(before) if before == unit => continued.push(is_slow),
            _ if opened.contains(&unit) => switched.push(is_slow),
            _ => {}
        }
        opened.insert(unit);
    }
    let are_slow = |writes: &[bool], share: f64| {
        let slow = writes.iter().filter(|slow| **slow).count();
        writes.len() >= CONTINUED_MIN && count(slow) > count(writes.len()) * share
    };
    // If writes in one block are slow as often, slow writes do not depend on blocks.
    are_slow(&switched, THE_RULE) || are_slow(&continued, STALLS_MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_device::Bytes;
    use flashscope_record::observation::OpenUnitsCell;

    use super::*;

    #[test]
    fn every_second_opening_is_slow_if_one_run_is_taken() {
        let classifier = SlowClassifier::from_baseline(&[Duration::from_millis(2); 5]).unwrap();
        let pair = |(alone, second)| OpeningPair {
            alone: Duration::from_millis(alone),
            second: Duration::from_millis(second),
        };
        assert!(is_one_run(&[(2, 174), (2, 170)].map(pair), classifier));
        assert!(!is_one_run(&[(2, 174), (90, 170)].map(pair), classifier), "both may close a block");
        assert!(!is_one_run(&[(2, 174), (2, 2)].map(pair), classifier));
        assert!(!is_one_run(&[], classifier));
    }

    #[test]
    fn blocks_that_close_at_every_switch_are_not_one_run() {
        let milliseconds = Duration::from_millis;
        let pair = OpeningPair { alone: milliseconds(3), second: milliseconds(6) };
        let is_one_run = |continued: u64| {
            let mut data = OpenUnitsData { opening_pairs: vec![pair; 2], ..OpenUnitsData::default() };
            let mut write = |number, unit, latency| {
                let kept = (Order::Linear, number, Bytes::kib(8));
                OpenUnitsCell::keep(&mut data.cells, kept, unit, milliseconds(latency));
            };
            (0..12).for_each(|_| write(1, 0, 3));
            (0..12).for_each(|index| write(2, (index + 1) % 2, if index == 0 { 6 } else { continued }));
            takes_one_run(&data, write_sequences(&data)[0].classifier)
        };
        assert!(is_one_run(3), "continuing costs nothing");
        assert!(!is_one_run(6));
    }

    #[test]
    fn pairs_show_one_run_below_the_threshold_of_the_search() {
        let milliseconds = Duration::from_millis;
        let write = |latency| (0, milliseconds(latency));
        let mut data = OpenUnitsData::default();
        for (unit, latency) in [2; 8].map(write) {
            OpenUnitsCell::keep(&mut data.cells, (Order::Linear, 1, Bytes::kib(16)), unit, latency);
        }
        let pair = OpeningPair { alone: milliseconds(2), second: milliseconds(59) };
        let far_slower = SlowClassifier::from_baseline(&[milliseconds(100); 5]).unwrap();
        data.opening_pairs.push(pair);
        assert!(may_take_one_run(&data) && !takes_one_run(&data, far_slower));
        data.opening_pairs.push(pair);
        assert!(takes_one_run(&data, far_slower), "two of them");
        data.opening_pairs.push(OpeningPair { alone: milliseconds(2), second: milliseconds(2) });
        assert!(!may_take_one_run(&data) && !takes_one_run(&data, far_slower));
    }
}
