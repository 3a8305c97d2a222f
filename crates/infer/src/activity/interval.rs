//! The I/O of a disk between two snapshots.

use std::time::Duration;

use flashscope_device::{Bytes, Instant};

use flashscope_record::activity::{Counters, RequestCounters, Snapshot};

/// The I/O of a disk between two snapshots. The counters are sums, so latencies are means without a spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// When it started.
    pub started_at: Instant,
    /// Its length.
    pub duration: Duration,
    /// Reads.
    pub read: Transfers,
    /// Writes.
    pub written: Transfers,
    /// Completed requests of any kind, flushes and discards included.
    pub ended: u64,
    /// Completed discards.
    pub discards: u64,
    /// Completed flushes.
    pub flushes: u64,
    /// The mean duration of a flush, seconds; `None` without any.
    pub flush_seconds: Option<f64>,
    /// The mean number of requests queued or in flight. Since Linux 5.0 a request's time is counted when it
    /// completes, so it is `None` if requests were in flight and none completed.
    pub queue: Option<f64>,
    /// The share of the time with requests in flight, from 0 to 1.
    pub busy: f64,
    /// Requests in flight at the start and at the end.
    pub in_flight: [u64; 2],
}

/// Requests of one kind in an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transfers {
    /// Completed requests.
    pub requests: u64,
    /// Bytes transferred.
    pub bytes: Bytes,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Requests per second (IOPS).
    pub requests_per_s: f64,
    /// The mean time from queueing to completion, seconds; `None` if no request completed.
    pub latency_seconds: Option<f64>,
}

impl Interval {
    /// From two snapshots of the same disk, the earlier first. Counters that decrease count as unchanged.
    #[must_use]
    pub fn between(before: &Snapshot, after: &Snapshot) -> Self {
        let (old, new) = (&before.counters, &after.counters);
        let duration = after.at.since(before.at);
        let flushes = new.flushes.saturating_sub(old.flushes);
        let ended = ended(new).saturating_sub(ended(old));
        let in_flight = [old.in_flight, new.in_flight];
        // The kernel counts a request's time when it completes (before Linux 5.17 also the busy time).
        let queue = share_of(milliseconds(old.queue_ms, new.queue_ms), duration);
        let busy = share_of(milliseconds(old.busy_ms, new.busy_ms), duration).min(1.0);
        let is_stuck = ended == 0 && !in_flight.contains(&0);
        Self {
            started_at: before.at,
            duration,
            read: Transfers::between(&old.reads, &new.reads, duration),
            written: Transfers::between(&old.writes, &new.writes, duration),
            ended,
            discards: new.discards.requests.saturating_sub(old.discards.requests),
            flushes,
            flush_seconds: mean_seconds(milliseconds(old.flush_ms, new.flush_ms), flushes),
            queue: (ended > 0 || in_flight == [0, 0]).then_some(queue),
            busy: if is_stuck { 1.0 } else { busy },
            in_flight,
        }
    }

    /// When it ended.
    #[must_use]
    pub fn ended_at(&self) -> Instant {
        self.started_at + self.duration
    }

    /// Whether the disk had requests all the time and completed none.
    #[must_use]
    pub fn has_no_progress(&self) -> bool {
        self.ended == 0 && !self.in_flight.contains(&0)
    }

    /// Whether data was transferred. A flush may count as a write without data.
    #[must_use]
    pub const fn has_data_transfer(&self) -> bool {
        !self.read.bytes.is_zero() || !self.written.bytes.is_zero() || self.discards > 0
    }
}

impl Transfers {
    fn between(old: &RequestCounters, new: &RequestCounters, duration: Duration) -> Self {
        let requests = new.requests.saturating_sub(old.requests);
        let bytes = Bytes::new(new.bytes.get().saturating_sub(old.bytes.get()));
        Self {
            requests,
            bytes,
            bytes_per_s: per_second(bytes.get(), duration),
            requests_per_s: per_second(requests, duration),
            latency_seconds: mean_seconds(milliseconds(old.milliseconds, new.milliseconds), requests),
        }
    }
}

const fn ended(counters: &Counters) -> u64 {
    let requests = counters.reads.requests.saturating_add(counters.writes.requests);
    requests.saturating_add(counters.discards.requests).saturating_add(counters.flushes)
}

/// Zero for an interval of zero length.
fn per_second(count: u64, duration: Duration) -> f64 {
    if duration.is_zero() { 0.0 } else { count as f64 / duration.as_secs_f64() }
}

fn share_of(milliseconds: u64, duration: Duration) -> f64 {
    per_second(milliseconds, duration) / 1e3
}

/// Milliseconds from one reading to the next. The kernel shows 32 bits, which overflow after 49 days. Any
/// other decrease counts as zero.
const fn milliseconds(before: u64, after: u64) -> u64 {
    /// One more than the largest value of the 32-bit counter.
    const FULL: u64 = 1 << 32;
    match after.checked_sub(before) {
        Some(difference) => difference,
        None if before < FULL && before - after > FULL / 2 => after + FULL - before,
        None => 0,
    }
}

fn mean_seconds(milliseconds: u64, requests: u64) -> Option<f64> {
    (requests > 0).then(|| milliseconds as f64 / 1e3 / requests as f64)
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::snapshot;
    use super::*;

    #[test]
    fn rates_are_counter_differences_over_time() {
        let before = snapshot(1.0, "10 0 80 5 20 0 160 40 3 100 200");
        let after = snapshot(3.0, "12 0 112 9 120 0 32160 4040 1 1600 8200");
        let interval = Interval::between(&before, &after);
        assert_eq!(interval.duration, Duration::from_secs(2));
        assert_eq!((interval.read.bytes, interval.read.requests), (Bytes::kib(16), 2));
        assert_eq!(interval.read.latency_seconds, Some(0.002));
        assert_eq!((interval.written.bytes_per_s, interval.written.requests_per_s), (8_192_000.0, 50.0));
        assert_eq!(interval.written.latency_seconds, Some(0.04));
        assert_eq!((interval.queue, interval.busy), (Some(4.0), 0.75));
        assert_eq!((interval.in_flight, interval.ended, interval.discards), ([3, 1], 102, 0));
    }

    #[test]
    fn milliseconds_survive_overflow_and_never_decrease() {
        assert_eq!((milliseconds(10, 30), milliseconds((1 << 32) - 5, 20)), (20, 25));
        assert_eq!((milliseconds(30, 10), milliseconds(u64::MAX, 10)), (0, 0));
        assert_eq!(milliseconds(1 << 32, 10), 0, "a counter of more than 32 bits does not overflow");
    }

    #[test]
    fn idle_disk_stopped_clock_and_decreasing_counters_give_zero_speed() {
        let (low, high) = ("1 0 8 1 1 0 8 1 0 1 1", "2 0 16 2 2 0 16 2 0 2 2");
        for (before, after) in [
            (snapshot(1.0, low), snapshot(2.0, low)),
            (snapshot(1.0, low), snapshot(1.0, high)),
            (snapshot(1.0, high), snapshot(2.0, low)),
        ] {
            let interval = Interval::between(&before, &after);
            assert_eq!((interval.written.bytes_per_s, interval.read.requests_per_s), (0.0, 0.0));
            assert_eq!((interval.queue, interval.busy), (Some(0.0), 0.0));
        }
    }

    /// A few log lines on an idle disk say nothing about how fast it writes.
    #[test]
    fn only_a_busy_disk_shows_its_write_throughput() {
        let before = snapshot(1.0, "1 0 8 1 1 0 8 1 0 1 1");
        let idle = Interval::between(&before, &snapshot(2.0, "1 0 8 1 2 0 80 3 0 11 3"));
        assert!(idle.written.bytes_per_s > 0.0 && !idle.shows_write_throughput());
        let busy = Interval::between(&before, &snapshot(2.0, "1 0 8 1 60 0 20480 900 1 901 900"));
        assert!(busy.shows_write_throughput());
    }

    #[test]
    fn disk_without_completions_is_busy_and_its_queue_is_unknown() {
        let before = snapshot(1.0, "1 0 8 1 1 0 8 1 2 1 1");
        let interval = Interval::between(&before, &snapshot(2.0, "1 0 8 1 1 0 8 1 2 1 1"));
        assert_eq!((interval.queue, interval.busy, interval.has_no_progress()), (None, 1.0, true));
        let interval = Interval::between(&before, &snapshot(2.0, "1 0 8 1 1 0 8 1 0 1 1"));
        assert!(!interval.has_no_progress(), "its requests were withdrawn");
    }
}
