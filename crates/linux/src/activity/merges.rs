//! Bursts of slow writes, as a controller shows them that merges erase blocks.
//!
//! The kernel's counters do not show merges. They show how long the disk was busy, and how many writes it ended meanwhile. Where it
//! was busy with writes and nothing else, the time it took for each is its own: no program and no queue in memory is
//! part of it. A merge copies an erase block for one write, so writes take many times as long for a moment, and then as
//! long as before. Collection in the background looks the same, and so does a bad cable: a suspicion is all this is.

use std::collections::VecDeque;

use super::interval::Interval;

/// So many writes (means over a glance) say what is usual: a minute of glances.
const WRITES_MAX: usize = 600;

/// Before so many there is nothing to compare one with.
const WRITES_MIN: usize = 5;

/// Merges in the published tables of open units take 0.27 to 0.6 s, whatever the size of the write, and 120 KiB at 5 MB/s 24 ms;
/// less than four times is ordinary spread.
const SLOWER_MIN: f64 = 4.0;

/// Larger writes take longer by themselves.
const LARGER_MAX: f64 = 2.0;

/// What is slow for longer than so many seconds is no burst, but another place or a spent cache.
const BURST_SECONDS_MAX: f64 = 10.0;

/// The disk was as good as always busy.
const BUSY_MIN: f64 = 0.9;

/// So large a share of what it did may have been something else.
const OTHER_MAX: f64 = 0.1;

/// Looks for bursts of slow writes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Merges {
    usual: VecDeque<Write>,
    /// Seconds of a write that has not ended.
    begun: f64,
    /// Seconds of the burst that is going on.
    slow: f64,
    bursts: u64,
}

/// The mean of the writes between two glances.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Write {
    seconds: f64,
    bytes: f64,
}

impl Merges {
    /// How many bursts there were; `None` until enough was written to know what is usual.
    pub fn suspected(&self) -> Option<u64> {
        (self.bursts > 0 || self.usual.len() >= WRITES_MIN).then_some(self.bursts)
    }

    /// Takes the next glance's interval.
    pub fn add(&mut self, interval: &Interval) {
        if !does_nothing_but_write(interval) {
            (self.begun, self.slow) = (0.0, 0.0);
            return;
        }
        self.begun += interval.busy * interval.duration.as_secs_f64();
        if interval.written.requests > 0 {
            let seconds = std::mem::take(&mut self.begun);
            self.take(seconds, interval.written.requests as f64, interval.written.bytes.as_f64());
        }
    }

    fn take(&mut self, seconds: f64, requests: f64, bytes: f64) {
        let write = Write { seconds: seconds / requests, bytes: bytes / requests };
        if self.is_slow(&write) {
            self.slow += seconds;
            if self.slow > BURST_SECONDS_MAX {
                // From now on this is usual.
                (self.slow, self.usual) = (0.0, VecDeque::new());
            }
            return;
        }
        self.bursts += u64::from(self.slow > 0.0);
        self.slow = 0.0;
        self.usual.push_back(write);
        if self.usual.len() > WRITES_MAX {
            self.usual.pop_front();
        }
    }

    fn is_slow(&self, write: &Write) -> bool {
        let median = |part: fn(&Write) -> f64| median(self.usual.iter().map(part).collect());
        self.usual.len() >= WRITES_MIN
            && write.seconds >= SLOWER_MIN * median(|write| write.seconds)
            && write.bytes <= LARGER_MAX * median(|write| write.bytes)
    }
}

fn does_nothing_but_write(interval: &Interval) -> bool {
    let flushing = interval.flush_seconds.unwrap_or(0.0) * interval.flushes as f64;
    interval.busy >= BUSY_MIN
        && interval.discards == 0
        && interval.read.bytes.as_f64() <= OTHER_MAX * interval.written.bytes.as_f64()
        && flushing <= OTHER_MAX * interval.duration.as_secs_f64()
}

/// The upper one of two in the middle; zero of nothing.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::super::canned::{glance, writes};
    use super::super::sample::Glance;
    use super::*;

    fn suspected(glances: &[Glance]) -> Option<u64> {
        let mut merges = Merges::default();
        let intervals = glances.windows(2).map(|pair| Interval::between(&pair[0], &pair[1]));
        intervals.for_each(|interval| merges.add(&interval));
        merges.suspected()
    }

    /// Writes that end in each tenth of a second, with so many in the queue.
    fn ending(each: &[u64], queue: u64) -> Vec<Glance> {
        let sums = each.iter().scan((0, 0), |(writes, ms), more| {
            *writes += more;
            *ms += 100 * queue;
            Some((*writes, *ms, queue))
        });
        writes(0.1, &std::iter::once((0, 0, queue)).chain(sums).collect::<Vec<_>>())
    }

    const USUAL: [u64; 12] = [6; 12];

    #[test]
    fn a_burst_of_slow_writes_counts_once_when_it_is_over() {
        assert_eq!(suspected(&ending(&USUAL[..4], 1)), None, "too early to say");
        assert_eq!(suspected(&ending(&USUAL, 1)), Some(0));
        let stalled = [&USUAL[..], &[0, 0, 1, 0, 0, 0, 1]].concat();
        assert_eq!(suspected(&ending(&stalled, 1)), Some(0), "it may go on like that");
        let over = [&stalled[..], &USUAL, &[0, 0, 0, 1], &USUAL].concat();
        assert_eq!(suspected(&ending(&over, 1)), Some(2));
    }

    #[test]
    fn a_disk_that_stays_slow_does_not_merge_for_a_moment() {
        let spent: Vec<u64> = USUAL.iter().copied().chain([1; 120]).chain(USUAL).collect();
        assert_eq!(suspected(&ending(&spent, 1)), Some(0));
    }

    #[test]
    fn a_longer_queue_is_no_slower_disk() {
        let mut glances = ending(&USUAL, 1);
        for mut later in ending(&[6; 24], 60).split_off(12) {
            later.counters.writes.requests += 6;
            glances.push(later);
        }
        assert_eq!(suspected(&glances), Some(0));
    }

    #[test]
    fn what_the_counters_cannot_tell_from_other_work_is_not_suspected() {
        let usual = ending(&USUAL, 1);
        let then = |slow: [&str; 2]| {
            let mut glances = usual.clone();
            glances.extend([glance(1.3, slow[0]), glance(1.8, slow[1])]);
            for (number, mut later) in ending(&USUAL, 1).into_iter().enumerate() {
                let last = glances[14].counters;
                later.at = glance(1.9 + number as f64 / 10.0, "0 0 0 0 0 0 0 0 0 0 0").at;
                later.counters.writes.requests += last.writes.requests;
                later.counters.writes.bytes += last.writes.bytes;
                later.counters.busy_ms += last.busy_ms;
                (later.counters.reads, later.counters.discards) = (last.reads, last.discards);
                (later.counters.flushes, later.counters.flush_ms) = (last.flushes, last.flush_ms);
                glances.push(later);
            }
            suspected(&glances)
        };
        let usual = "0 0 0 0 78 0 159744 1300 1 1300 1300";
        let slow = "0 0 0 0 79 0 161792 1800 1 1800 1800";
        assert_eq!(then([usual, slow]), Some(1), "the same without other work");
        for (other, slow) in [
            ("reads", "90 0 9000 9 79 0 161792 1800 1 1800 1800"),
            ("an idle disk", "0 0 0 0 79 0 161792 1800 1 1350 1800"),
            ("discards", "0 0 0 0 79 0 161792 1800 1 1800 1800 9 0 900 9 0 0"),
            ("a flush", "0 0 0 0 79 0 161792 1800 1 1800 1800 0 0 0 0 1 400"),
            ("larger writes", "0 0 0 0 79 0 200000 1800 1 1800 1800"),
        ] {
            assert_eq!(then([usual, slow]), Some(0), "{other}");
        }
    }
}
