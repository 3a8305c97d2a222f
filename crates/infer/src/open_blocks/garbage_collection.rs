//! Garbage collection among sequential writes: how long it takes, and how regular it is.

use flashscope_record::observation::{OpenUnitsCell, Order};

use crate::copying::ERASE_SECONDS;
use crate::open_blocks::evidence::WriteSequence;
use crate::slow_classifier::SlowClassifier;
use crate::statistics::{count, lower_quartile, median, quantile};
use crate::thresholds::{CLEARLY_LONGER, SEVERAL};

/// A slow write with less than this share of the median slow write is no collection. Guess.
const SHARE_OF_MEDIAN_MIN: f64 = 0.25;
/// Numbers of distances between slow writes, and the largest range of their middle half in twentieths of the
/// median, that show garbage collection: for random events the range is at least twenty twentieths. Guess.
const EVEN: [(usize, u64); 3] = [(8, 1), (20, 5), (96, 10)];
/// At most one distance in this number is shorter than half the median: under random eviction a block may be
/// evicted again at once. Guess.
const SHORT: usize = 20;
/// The fewest writes from one collection to the next. Guess.
const WRITES_APART_MIN: u64 = 4;

/// The extra time of each collection among sequential writes, seconds. The first write into a block does not
/// count: it may evict another one.
#[must_use]
pub fn collection_times_s<'a>(cells: impl IntoIterator<Item = &'a OpenUnitsCell>) -> Vec<f64> {
    cells.into_iter().flat_map(of_size).map(|(_, seconds)| seconds).collect()
}

/// The range of the middle half of the bytes between collections, as a share of their median; 1.6 for random
/// events. `None` if there are too few.
#[must_use]
pub fn unevenness(cells: &[OpenUnitsCell]) -> Option<f64> {
    let mut written = 0.0;
    let mut at = Vec::new();
    for cell in cells {
        at.extend(of_size(cell).into_iter().map(|(index, _)| written + count(index) * cell.request.as_f64()));
        written += count(cell.writes().count()) * cell.request.as_f64();
    }
    let apart: Vec<f64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    if apart.len() < SEVERAL {
        return None;
    }
    let at = |share: f64| quantile(&apart, share);
    Some((at(0.75)? - at(0.25)?) / at(0.5)?)
}

/// Each collection among writes of one size: the index of the write, and its extra time, seconds.
fn of_size(cell: &OpenUnitsCell) -> Vec<(usize, f64)> {
    let writes: Vec<(u32, f64)> =
        cell.writes().map(|(unit, latency)| (unit, latency.as_secs_f64())).collect();
    let seconds: Vec<f64> = writes.iter().map(|(_, seconds)| *seconds).collect();
    let Some(typical) = lower_quartile(&seconds) else { return Vec::new() };
    let successive = (1..).zip(writes.windows(2));
    let within =
        successive.filter(|(_, pair)| pair[0].0 == pair[1].0).map(|(index, pair)| (index, pair[1].1));
    let is_slow = |seconds: f64| seconds > typical * CLEARLY_LONGER && seconds > typical + ERASE_SECONDS;
    within
        .filter(|(_, seconds)| is_slow(*seconds))
        .map(|(index, seconds)| (index, seconds - typical))
        .collect()
}

/// Whether slow sequential writes come too regularly to depend on the blocks written. Under random eviction,
/// or with one block too many, merges are irregular.
#[must_use]
pub fn is_evenly_slow(sequence: &WriteSequence<'_>, classifier: SlowClassifier) -> bool {
    let writes = || sequence.writes(Order::Linear).map(|(.., latency)| latency);
    let seconds: Vec<f64> = writes()
        .filter(|latency| classifier.is_slow(*latency))
        .map(|latency| latency.as_secs_f64())
        .collect();
    // Stalls may come in between.
    let slow_min_s = median(&seconds).unwrap_or(0.0) * SHARE_OF_MEDIAN_MIN;
    let is_slow = writes().map(|latency| classifier.is_slow(latency) && latency.as_secs_f64() >= slow_min_s);
    let slow: Vec<u64> = (0..).zip(is_slow).filter_map(|(at, slow)| slow.then_some(at)).collect();
    let apart: Vec<u64> = slow.windows(2).map(|pair| pair[1] - pair[0]).collect();
    EVEN.into_iter().any(|even| evenly(&apart, even).is_some())
}

/// The median of the last `number` distances, if they are that regular.
fn evenly(apart: &[u64], (number, twentieths): (usize, u64)) -> Option<u64> {
    let mut last = apart[apart.len().checked_sub(number)?..].to_vec();
    last.sort_unstable();
    let (typical, spread) = (last[number / 2], last[number * 3 / 4] - last[number / 4]);
    let is_rarely_short = last[number / SHORT] * 2 >= typical;
    (typical >= WRITES_APART_MIN && is_rarely_short && spread * 20 <= typical * twentieths).then_some(typical)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_device::Bytes;

    use super::*;

    /// Writes of this size into one block, of 2 ms, and of 40 ms for the `slow` ones.
    fn writes(request: Bytes, number: u32, slow: &[u32]) -> OpenUnitsCell {
        let mut cells = Vec::new();
        for index in 0..number {
            let milliseconds = if slow.contains(&index) { 40 } else { 2 };
            let kept = (Order::Linear, 1, request);
            OpenUnitsCell::keep(&mut cells, kept, 0, Duration::from_millis(milliseconds));
        }
        cells.remove(0)
    }

    fn one_run(slow: &[u32]) -> OpenUnitsCell {
        writes(Bytes::kib(16), 200, slow)
    }

    #[test]
    fn random_distances_are_uneven() {
        let even = unevenness(&[one_run(&[20, 41, 60, 82, 100, 121])]).unwrap();
        let random = unevenness(&[one_run(&[7, 9, 60, 63, 64, 140])]).unwrap();
        assert!(even < 0.1 && random > 1.2, "{even} {random}");
        let fewest = unevenness(&[one_run(&[20, 40, 60, 80, 100])]).unwrap();
        assert!(fewest.abs() < 1e-9, "{fewest}");
        assert_eq!(unevenness(&[one_run(&[20, 40, 60, 80])]), None, "three distances are too few");
    }

    #[test]
    fn distances_are_those_in_bytes_across_writes_of_several_sizes() {
        // A collection once in 320 KiB.
        let small = || writes(Bytes::kib(16), 40, &[10, 30]);
        let even = unevenness(&[small(), writes(Bytes::kib(32), 20, &[5, 15]), small()]).unwrap();
        assert!(even.abs() < 1e-9, "{even}");
    }

    #[test]
    fn regular_distances_are_distinguished_from_random_ones() {
        let [_, few, many] = EVEN;
        let even: Vec<u64> = (0..20).map(|at| 7 + at % 2).collect();
        assert_eq!(evenly(&even, few), Some(8));
        let rough: Vec<u64> = (0..120).map(|at| 5 + at * 3 % 7).collect();
        assert_eq!((evenly(&rough, few), evenly(&rough, many)), (None, Some(8)));
        // With one block too many, merges occur anywhere in a round-robin turn.
        let random: Vec<u64> = (0..120).map(|at| 1 + at * 37 % 40).collect();
        assert_eq!((evenly(&random, few), evenly(&random, many)), (None, None));
        assert_eq!(evenly(&[1; 20], few), None, "every write merges");
        assert_eq!(evenly(&even[..11], few), None);
    }
}
