//! The writes of a search, as sequences of one request size each, with their classifiers.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::observation::{OpenUnitsCell, OpenUnitsData, Order};

use crate::copying::COPY_BYTES_PER_S_MAX;
use crate::slow_classifier::SlowClassifier;
use crate::thresholds::REPEATED;

/// The number of units in a round-robin baseline, for devices on which only a continued write is faster.
pub const ROUND_ROBIN_UNITS: u32 = 2;

/// Hardly a stick copies faster than [`COPY_BYTES_PER_S_MAX`], or than this many times its write speed:
/// copying uses several dies, and no link. Guess.
const COPIED_FASTER: f64 = 20.0;

/// The classifier by the writes into one unit at the start, which contain no merge. The first of them, which
/// may evict another block, does not count. `None` if there are too few.
#[must_use]
pub fn baseline_classifier(cells: &[OpenUnitsCell]) -> Option<SlowClassifier> {
    baseline_round_robin(cells, 1)
}

/// The same by round-robin writes into this number of units at the start.
fn baseline_round_robin(cells: &[OpenUnitsCell], units: u32) -> Option<SlowClassifier> {
    let first = cells.first().filter(|cell| cell.order == Order::Linear && cell.open_units == units)?;
    let times: Vec<Duration> = first.writes().skip(units as usize).map(|(_, latency)| latency).collect();
    SlowClassifier::from_baseline(&times).filter(|_| times.len() >= REPEATED)
}

/// Whether a merge with this extra time, seconds, hardly copies an erase block: then it is worth testing
/// whether more blocks take far longer.
#[must_use]
pub fn hardly_copies_block(
    seconds: f64,
    classifier: SlowClassifier,
    request: Bytes,
    erase_block: Bytes,
) -> bool {
    let writes = request.as_f64() / classifier.typical_seconds();
    seconds * (writes * COPIED_FASTER).max(COPY_BYTES_PER_S_MAX) < erase_block.as_f64()
}

/// Writes of a search with requests of one size.
#[derive(Debug, Clone, Copy)]
pub struct WriteSequence<'a> {
    /// The classifier of slow writes of that size.
    pub classifier: SlowClassifier,
    /// That size.
    pub request: Bytes,
    cells: &'a [OpenUnitsCell],
    /// Whether these writes only tried which requests merge, with two writes into each fresh unit, of which
    /// the slower one counts.
    is_trial: bool,
}

impl<'a> WriteSequence<'a> {
    /// The cells whose requests are as large as in the first cell of the same order.
    #[must_use]
    pub fn new(cells: &'a [OpenUnitsCell], classifier: SlowClassifier) -> Self {
        let request = cells.first().map_or(Bytes::ZERO, |cell| cell.request);
        Self { classifier, request, cells, is_trial: false }
    }

    /// The cells in this order.
    fn of_order(self, order: Order) -> impl Iterator<Item = &'a OpenUnitsCell> {
        let of_order = self.cells.iter().filter(move |cell| cell.order == order);
        let request = of_order.clone().next().map(|cell| cell.request);
        of_order.filter(move |cell| Some(cell.request) == request)
    }

    /// The units that became full in this order, each with the number of writes before that.
    pub(super) fn full_units(self, order: Order) -> impl Iterator<Item = (usize, u32)> + 'a {
        let mut writes = 0;
        let cells = self.of_order(order).filter(move |_| !self.is_trial).map(move |cell| {
            let before = writes;
            writes += cell.writes().count();
            (before, cell)
        });
        cells.flat_map(|(before, cell)| {
            cell.passed_over.iter().map(move |each| (before + each.after, each.unit))
        })
    }

    /// The writes in this order: the number of round-robin units, the unit, and the latency.
    pub fn writes(self, order: Order) -> Box<dyn Iterator<Item = (u32, u32, Duration)> + 'a> {
        if self.is_trial {
            let fresh = self.cells.iter().filter(|cell| cell.open_units > 1);
            return Box::new(fresh.filter_map(|cell| {
                let (unit, latency) = cell.writes().max_by_key(|(_, latency)| *latency)?;
                Some((cell.open_units, unit, latency))
            }));
        }
        Box::new(
            self.of_order(order)
                .flat_map(|cell| cell.writes().map(|(unit, latency)| (cell.open_units, unit, latency))),
        )
    }

    /// The extra time of a write compared with the baseline, seconds.
    pub(super) fn extra_seconds(&self, latency: Duration) -> f64 {
        latency.as_secs_f64() - self.classifier.typical_seconds()
    }
}

/// The sequences of the search in sequential order: larger requests first, if there were any, then the trials
/// of smaller ones, then the search itself. A sequence without a complete baseline is left out.
#[must_use]
pub fn write_sequences(data: &OpenUnitsData) -> Vec<WriteSequence<'_>> {
    let mut sizes = data.larger.chunk_by(|one, other| one.request == other.request);
    let first = sizes.next().into_iter().map(|cells| (cells, false));
    let all = first.chain(sizes.map(|cells| (cells, true))).chain([(data.cells.as_slice(), false)]);
    let units = if data.appended.is_empty() { 1 } else { ROUND_ROBIN_UNITS };
    all.filter_map(|(cells, is_trial)| {
        baseline_round_robin(cells, units)
            .map(|classifier| WriteSequence { is_trial, ..WriteSequence::new(cells, classifier) })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merge_faster_than_200_mb_a_second_and_20_times_the_writes_hardly_copies_a_block() {
        let hardly_copies = |kib: u64, merge_s: f64| {
            let classifier = SlowClassifier::from_baseline(&[Duration::from_millis(2); 4]).unwrap();
            hardly_copies_block(merge_s, classifier, Bytes::kib(kib), Bytes::mib(4))
        };
        // Writes of 2 MB/s: 4 MiB take 21 ms at 200 MB/s.
        assert!(hardly_copies(4, 0.020) && !hardly_copies(4, 0.022));
        // Writes of 16.4 MB/s: 4 MiB take 12.8 ms at 20 times that.
        assert!(hardly_copies(32, 0.012) && !hardly_copies(32, 0.0135));
    }

    #[test]
    fn in_trials_of_smaller_requests_the_slower_of_two_writes_into_each_fresh_block_counts() {
        let cells = |kib: u64, later: &[(u32, u32, u64)]| {
            let mut cells = Vec::new();
            for (number, unit, milliseconds) in [(1, 0, 2); 4].iter().chain(later) {
                let kept = (Order::Linear, *number, Bytes::kib(kib));
                OpenUnitsCell::keep(&mut cells, kept, *unit, Duration::from_millis(*milliseconds));
            }
            cells
        };
        let later = [(2, 1, 2), (2, 1, 40), (3, 2, 41), (3, 2, 2)];
        let data = OpenUnitsData {
            larger: [cells(32, &later), cells(4, &later)].concat(),
            cells: cells(8, &later),
            ..OpenUnitsData::default()
        };
        let sequences = write_sequences(&data);
        let sizes: Vec<Bytes> = sequences.iter().map(|sequence| sequence.request).collect();
        assert_eq!(sizes, [32, 4, 8].map(Bytes::kib));
        let written = |index: usize| sequences[index].writes(Order::Linear).collect::<Vec<_>>();
        let latency = |(number, unit, milliseconds)| (number, unit, Duration::from_millis(milliseconds));
        let all: Vec<(u32, u32, Duration)> = [(1, 0, 2); 4].into_iter().chain(later).map(latency).collect();
        assert_eq!((written(0), written(2)), (all.clone(), all));
        assert_eq!(written(1), [(2, 1, 40), (3, 2, 41)].map(latency));
    }
}
