//! Whether the controller is a log: writes over data, and groups of pages written backwards.

use std::time::Duration;

use flashscope_record::observation::{Group, OpenUnitsCell, OpenUnitsData, Order};

use super::sequence::write_sequences;
use crate::open_blocks::posterior::Posterior;
use crate::open_blocks::prior::Prior;
use crate::slow_classifier::SlowClassifier;
use crate::statistics::{count, median};
use crate::thresholds::{MOST, OF_THE_SAME_KIND, OPENING_WRITES, REPEATED};

/// The share of hidden merges over data: in a log that maps two or four pages at once, a run often stops at
/// the end of them, and nothing has to be copied. Guess.
const HIDDEN_OVER_DATA: f64 = 0.1;
/// A merge shows in a group if it takes more than this share of the time of the group. Guess.
const VISIBLE_SHARE: f64 = 0.1;
/// The first backward groups do not count: one may open the block, the other follows data that was just
/// written.
const GROUPS_SKIPPED: usize = 2;

/// The posterior after writes of a few pages over data.
#[must_use]
pub fn over_data_posterior(cells: &[OpenUnitsCell], classifier: SlowClassifier) -> Posterior {
    let classifier = classifier.for_small_steps();
    let mut posterior =
        Posterior::new(Order::Linear, classifier, Prior::Linear).with_hidden(HIDDEN_OVER_DATA);
    for (unit, latency) in cells.iter().flat_map(|cell| cell.writes()) {
        posterior.write(unit, latency);
    }
    posterior
}

/// Whether random writes into an open block are slow: then the controller maps less than a block at once.
/// They are compared with the control just before, since an exhausted cache makes all writes slower.
#[must_use]
pub fn is_slow_over_data(data: &OpenUnitsData, classifier: SlowClassifier) -> bool {
    let control = data
        .controls
        .first()
        .and_then(|times| median(&times.each().iter().map(Duration::as_secs_f64).collect::<Vec<_>>()));
    let at_start = write_sequences(data).first().map(|sequence| sequence.classifier.typical_seconds());
    let slower = control.zip(at_start).map_or(1.0, |(now, at_start)| (now / at_start).max(1.0));
    let classifier = classifier.scaled(slower);
    let after = data.out_of_order.get(OPENING_WRITES..).unwrap_or_default();
    let slow = after.iter().filter(|latency| classifier.is_slow(**latency)).count();
    !after.is_empty() && slow * 3 >= after.len() * 2
}

/// Whether the controller is no log, though its merges are short.
#[must_use]
pub fn is_no_log(data: &OpenUnitsData, linear: &Posterior) -> bool {
    linear.merge_seconds().and_then(|seconds| merges_whole_groups(&data.groups, seconds)) == Some(true)
}

/// Whether groups of pages as large as a log maps at once cost a merge if they are written backwards: a log
/// has nothing to copy there. `None` if there are too few, or if merges are too short to show. Remains of
/// older runs may have to be copied after some groups.
fn merges_whole_groups(groups: &[Group], merge_seconds: f64) -> Option<bool> {
    let seconds = |of: fn(&Group) -> Duration| groups.iter().map(move |group| of(group).as_secs_f64());
    // The fastest one contains no stall.
    let sequential = seconds(|group| group.in_order).reduce(f64::min)?;
    let backward: Vec<f64> = seconds(|group| group.backward).skip(GROUPS_SKIPPED).collect();
    let shows = backward.len() >= REPEATED && merge_seconds > sequential * VISIBLE_SHARE;
    let is_merged = |seconds: &&f64| **seconds - sequential > merge_seconds * OF_THE_SAME_KIND;
    let merged = backward.iter().filter(is_merged).count();
    shows.then(|| count(merged) >= count(backward.len()) * MOST)
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;
    use flashscope_record::observation::Times;

    use super::*;

    #[test]
    fn random_writes_into_an_open_block_are_compared_with_the_writes_just_before() {
        let milliseconds = Duration::from_millis;
        let is_slow = |control: Option<u64>, latency: u64| {
            let out_of_order = vec![milliseconds(latency); 8];
            let controls = control.map(|each| Times::Each(vec![milliseconds(each); 5])).into_iter().collect();
            let mut data = OpenUnitsData { out_of_order, controls, ..OpenUnitsData::default() };
            for _ in 0..6 {
                let kept = (Order::Linear, 1, Bytes::kib(16));
                OpenUnitsCell::keep(&mut data.cells, kept, 0, milliseconds(2));
            }
            is_slow_over_data(&data, write_sequences(&data)[0].classifier)
        };
        assert!(is_slow(None, 6) && is_slow(Some(2), 6));
        assert!(!is_slow(Some(6), 6), "every write takes three times as long as at first");
        assert!(is_slow(Some(6), 20));
        assert!(!is_slow(Some(1), 2), "no slower than at first");
    }

    #[test]
    fn groups_that_merge_when_written_backwards_exclude_a_log() {
        let milliseconds = |(in_order, backward)| Group {
            in_order: Duration::from_millis(in_order),
            backward: Duration::from_millis(backward),
        };
        // The last sequential group opens the block, the first backward one follows its opening.
        let merged = [(20, 36), (20, 20), (20, 36), (20, 36), (38, 36)].map(milliseconds);
        assert_eq!(merges_whole_groups(&merged, 0.019), Some(true));
        assert_eq!(merges_whole_groups(&merged[..3], 0.019), None);
        let stalled = [(52, 36), (20, 20), (20, 36), (41, 36), (38, 52)].map(milliseconds);
        assert_eq!(merges_whole_groups(&stalled, 0.019), Some(true), "most sequential groups stalled");
        let completed = [(20, 31), (20, 20), (20, 21), (20, 20), (38, 20)].map(milliseconds);
        assert_eq!(merges_whole_groups(&completed, 0.019), Some(false));
        let remains = [(25, 25), (26, 31), (26, 31), (26, 26), (26, 104), (25, 25)].map(milliseconds);
        assert_eq!(merges_whole_groups(&remains, 0.0065), Some(false), "two copied remains of older runs");
    }

    #[test]
    fn a_log_is_slow_in_two_thirds_of_its_random_writes_after_the_opening_ones() {
        let milliseconds = Duration::from_millis;
        let is_slow = |slow: usize| {
            let latencies = [[2; OPENING_WRITES].as_slice(), &[6; 6][..slow], &[2; 6][slow..]].concat();
            let out_of_order = latencies.into_iter().map(milliseconds).collect();
            let mut data = OpenUnitsData { out_of_order, ..OpenUnitsData::default() };
            for _ in 0..6 {
                let kept = (Order::Linear, 1, Bytes::kib(16));
                OpenUnitsCell::keep(&mut data.cells, kept, 0, milliseconds(2));
            }
            is_slow_over_data(&data, write_sequences(&data)[0].classifier)
        };
        assert_eq!([0, 3, 4, 6].map(is_slow), [false, false, true, true], "of six");
    }
}
