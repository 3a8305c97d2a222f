//! Detects short bursts of slow writes, as a controller causes when it merges erase blocks.
//!
//! The kernel does not count merges. It counts how long the disk was busy and how many writes completed
//! meanwhile. While the disk is busy with writes only, the busy time per write is the disk's own: neither
//! programs nor the queue in memory are part of it. A merge copies an erase block for one write, so writes
//! take many times as long for a moment. Background garbage collection and a bad cable look the same, so
//! the result is only a suspicion.

use std::collections::VecDeque;

use super::interval::Interval;
use crate::thresholds::NEARLY_ALL;

/// The writes (each the mean of one snapshot interval) that form the baseline: one minute of snapshots.
const WRITES_MAX: usize = 600;

/// The writes needed before there is a baseline. Guess: 5 are enough for a median.
const WRITES_MIN: usize = 5;

/// The slowdown that starts a burst. In the published tables of open units a merge takes 0.27 to 0.6 s for
/// any write size, and writing 120 KiB at 5 MB/s takes 24 ms: at least 11 times as long. Guess: a slowdown
/// below 4 is ordinary spread.
const SLOWER_MIN: f64 = 4.0;

/// Writes larger than this multiple of the baseline take longer anyway. Guess.
const LARGER_MAX: f64 = 2.0;

/// The longest burst, seconds. Slower writing that lasts longer has another cause, such as an exhausted SLC
/// cache. Guess.
const BURST_SECONDS_MAX: f64 = 10.0;
/// The largest share of other work (reads, flushes) in an interval that counts as write-only. Guess.
const OTHER_MAX: f64 = 0.1;

/// Detects bursts of slow writes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MergeDetector {
    baseline: VecDeque<Write>,
    /// Busy seconds of a write that has not completed.
    open_write_s: f64,
    /// Seconds of the current burst.
    burst_s: f64,
    bursts: u64,
}

/// The mean write between two snapshots.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Write {
    seconds: f64,
    bytes: f64,
}

impl MergeDetector {
    /// The number of bursts; `None` until there is a baseline.
    pub fn suspected(&self) -> Option<u64> {
        (self.bursts > 0 || self.baseline.len() >= WRITES_MIN).then_some(self.bursts)
    }

    /// Adds the next snapshot interval.
    pub fn add(&mut self, interval: &Interval) {
        if !is_write_only(interval) {
            (self.open_write_s, self.burst_s) = (0.0, 0.0);
            return;
        }
        self.open_write_s += interval.busy * interval.duration.as_secs_f64();
        if interval.written.requests > 0 {
            let seconds = std::mem::take(&mut self.open_write_s);
            self.take(seconds, interval.written.requests as f64, interval.written.bytes.as_f64());
        }
    }

    fn take(&mut self, seconds: f64, requests: f64, bytes: f64) {
        let write = Write { seconds: seconds / requests, bytes: bytes / requests };
        if self.is_slow(&write) {
            self.burst_s += seconds;
            if self.burst_s > BURST_SECONDS_MAX {
                // The slow speed becomes the new baseline.
                (self.burst_s, self.baseline) = (0.0, VecDeque::new());
            }
            return;
        }
        self.bursts += u64::from(self.burst_s > 0.0);
        self.burst_s = 0.0;
        self.baseline.push_back(write);
        if self.baseline.len() > WRITES_MAX {
            self.baseline.pop_front();
        }
    }

    fn is_slow(&self, write: &Write) -> bool {
        let median = |part: fn(&Write) -> f64| median(self.baseline.iter().map(part).collect());
        self.baseline.len() >= WRITES_MIN
            && write.seconds >= SLOWER_MIN * median(|write| write.seconds)
            && write.bytes <= LARGER_MAX * median(|write| write.bytes)
    }
}

fn is_write_only(interval: &Interval) -> bool {
    let flushing = interval.flush_seconds.unwrap_or(0.0) * interval.flushes as f64;
    interval.busy >= NEARLY_ALL
        && interval.discards == 0
        && interval.read.bytes.as_f64() <= OTHER_MAX * interval.written.bytes.as_f64()
        && flushing <= OTHER_MAX * interval.duration.as_secs_f64()
}

/// The median, the upper one of an even number of values; zero without values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use flashscope_record::activity::Snapshot;

    use super::super::fixtures::{snapshot, writes};
    use super::*;

    fn suspected(snapshots: &[Snapshot]) -> Option<u64> {
        let mut merges = MergeDetector::default();
        let intervals = snapshots.windows(2).map(|pair| Interval::between(&pair[0], &pair[1]));
        intervals.for_each(|interval| merges.add(&interval));
        merges.suspected()
    }

    /// Snapshots every 0.1 s: the writes that complete in each, with `queue` requests in the queue.
    fn completing(each: &[u64], queue: u64) -> Vec<Snapshot> {
        let sums = each.iter().scan((0, 0), |(writes, ms), more| {
            *writes += more;
            *ms += 100 * queue;
            Some((*writes, *ms, queue))
        });
        writes(0.1, &std::iter::once((0, 0, queue)).chain(sums).collect::<Vec<_>>())
    }

    const BASELINE: [u64; 12] = [6; 12];

    #[test]
    fn burst_of_slow_writes_is_counted_once_after_it_ends() {
        assert_eq!(suspected(&completing(&BASELINE[..4], 1)), None, "no baseline yet");
        assert_eq!(suspected(&completing(&BASELINE, 1)), Some(0));
        let stalled = [&BASELINE[..], &[0, 0, 1, 0, 0, 0, 1]].concat();
        assert_eq!(suspected(&completing(&stalled, 1)), Some(0), "the burst may continue");
        let ended = [&stalled[..], &BASELINE, &[0, 0, 0, 1], &BASELINE].concat();
        assert_eq!(suspected(&completing(&ended, 1)), Some(2));
    }

    #[test]
    fn permanently_slow_disk_is_not_a_burst() {
        let slow: Vec<u64> = BASELINE.iter().copied().chain([1; 120]).chain(BASELINE).collect();
        assert_eq!(suspected(&completing(&slow, 1)), Some(0));
    }

    #[test]
    fn longer_queue_is_not_a_slower_disk() {
        let mut snapshots = completing(&BASELINE, 1);
        for mut later in completing(&[6; 24], 60).split_off(12) {
            later.counters.writes.requests += 6;
            snapshots.push(later);
        }
        assert_eq!(suspected(&snapshots), Some(0));
    }

    #[test]
    fn intervals_with_other_work_are_not_suspected() {
        let baseline = completing(&BASELINE, 1);
        let then = |slow: [&str; 2]| {
            let mut snapshots = baseline.clone();
            snapshots.extend([snapshot(1.3, slow[0]), snapshot(1.8, slow[1])]);
            for (number, mut later) in completing(&BASELINE, 1).into_iter().enumerate() {
                let last = snapshots[14].counters;
                later.at = snapshot(1.9 + number as f64 / 10.0, "0 0 0 0 0 0 0 0 0 0 0").at;
                later.counters.writes.requests += last.writes.requests;
                later.counters.writes.bytes += last.writes.bytes;
                later.counters.busy_ms += last.busy_ms;
                (later.counters.reads, later.counters.discards) = (last.reads, last.discards);
                (later.counters.flushes, later.counters.flush_ms) = (last.flushes, last.flush_ms);
                snapshots.push(later);
            }
            suspected(&snapshots)
        };
        let baseline = "0 0 0 0 78 0 159744 1300 1 1300 1300";
        let slow = "0 0 0 0 79 0 161792 1800 1 1800 1800";
        assert_eq!(then([baseline, slow]), Some(1), "the same without other work");
        for (other, slow) in [
            ("reads", "90 0 9000 9 79 0 161792 1800 1 1800 1800"),
            ("an idle disk", "0 0 0 0 79 0 161792 1800 1 1350 1800"),
            ("discards", "0 0 0 0 79 0 161792 1800 1 1800 1800 9 0 900 9 0 0"),
            ("a flush", "0 0 0 0 79 0 161792 1800 1 1800 1800 0 0 0 0 1 400"),
            ("larger writes", "0 0 0 0 79 0 200000 1800 1 1800 1800"),
        ] {
            assert_eq!(then([baseline, slow]), Some(0), "{other}");
        }
    }
}
