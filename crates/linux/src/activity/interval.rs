//! What a disk did between two samples.

use std::time::Duration;

use flashscope_device::{Bytes, Instant};

use super::counters::{Counters, Requests, milliseconds};
use super::sample::Glance;

/// What a disk did between two samples. The counters hold sums, so latencies are means; nothing tells their spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// When it began.
    pub began_at: Instant,
    /// How long it was.
    pub duration: Duration,
    /// What was read.
    pub read: Moved,
    /// What was written.
    pub written: Moved,
    /// Requests of any kind that ended, flushes and discards too.
    pub ended: u64,
    /// Discards that ended.
    pub discards: u64,
    /// Flushes that ended.
    pub flushes: u64,
    /// How long one of them took, seconds; `None` without any.
    pub flush_seconds: Option<f64>,
    /// How many requests waited or were in flight, on average. Since Linux 5.0 the time of a request counts when it ends:
    /// `None` where some were in flight and none ended.
    pub queue: Option<f64>,
    /// The share of the time in which the disk had requests, from 0 to 1.
    pub busy: f64,
    /// Requests that were in flight when it began and when it ended.
    pub in_flight: [u64; 2],
}

/// Requests of one kind in an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moved {
    /// How many ended.
    pub requests: u64,
    /// What they moved.
    pub bytes: Bytes,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Requests per second.
    pub requests_per_s: f64,
    /// Seconds from queue to end, the mean; `None` if none ended.
    pub latency_seconds: Option<f64>,
}

impl Interval {
    /// From two glances at the same disk, the earlier one first. Counters that go back count as standing still.
    #[must_use]
    pub fn between(before: &Glance, after: &Glance) -> Self {
        let (old, new) = (&before.counters, &after.counters);
        let duration = after.at.since(before.at);
        let flushes = new.flushes.saturating_sub(old.flushes);
        let ended = ended(new).saturating_sub(ended(old));
        let in_flight = [old.in_flight, new.in_flight];
        // The kernel tells of a request's time only when it ends (of busy time, before 5.17).
        let queue = share_of(milliseconds(old.queue_ms, new.queue_ms), duration);
        let busy = share_of(milliseconds(old.busy_ms, new.busy_ms), duration).min(1.0);
        let is_stuck = ended == 0 && !in_flight.contains(&0);
        Self {
            began_at: before.at,
            duration,
            read: Moved::between(&old.reads, &new.reads, duration),
            written: Moved::between(&old.writes, &new.writes, duration),
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
        self.began_at + self.duration
    }

    /// Whether the disk had requests all the time and ended none.
    #[must_use]
    pub fn stands_still(&self) -> bool {
        self.ended == 0 && !self.in_flight.contains(&0)
    }

    /// Whether the disk got on with data: a flush may count as a write without any.
    #[must_use]
    pub const fn moves_data(&self) -> bool {
        !self.read.bytes.is_zero() || !self.written.bytes.is_zero() || self.discards > 0
    }
}

impl Moved {
    fn between(old: &Requests, new: &Requests, duration: Duration) -> Self {
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

/// Zero for an interval without length.
fn per_second(count: u64, duration: Duration) -> f64 {
    if duration.is_zero() { 0.0 } else { count as f64 / duration.as_secs_f64() }
}

fn share_of(milliseconds: u64, duration: Duration) -> f64 {
    per_second(milliseconds, duration) / 1e3
}

fn mean_seconds(milliseconds: u64, requests: u64) -> Option<f64> {
    (requests > 0).then(|| milliseconds as f64 / 1e3 / requests as f64)
}

#[cfg(test)]
mod tests {
    use super::super::canned::glance;
    use super::*;

    #[test]
    fn rates_are_differences_over_time() {
        let before = glance(1.0, "10 0 80 5 20 0 160 40 3 100 200");
        let after = glance(3.0, "12 0 112 9 120 0 32160 4040 1 1600 8200");
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
    fn an_idle_disk_a_clock_that_stands_and_counters_that_go_back_give_no_speed() {
        let (low, high) = ("1 0 8 1 1 0 8 1 0 1 1", "2 0 16 2 2 0 16 2 0 2 2");
        for (before, after) in [
            (glance(1.0, low), glance(2.0, low)),
            (glance(1.0, low), glance(1.0, high)),
            (glance(1.0, high), glance(2.0, low)),
        ] {
            let interval = Interval::between(&before, &after);
            assert_eq!((interval.written.bytes_per_s, interval.read.requests_per_s), (0.0, 0.0));
            assert_eq!((interval.queue, interval.busy), (Some(0.0), 0.0));
        }
    }

    #[test]
    fn a_disk_that_ends_nothing_is_busy_and_its_queue_unknown() {
        let before = glance(1.0, "1 0 8 1 1 0 8 1 2 1 1");
        let interval = Interval::between(&before, &glance(2.0, "1 0 8 1 1 0 8 1 2 1 1"));
        assert_eq!((interval.queue, interval.busy, interval.stands_still()), (None, 1.0, true));
        let interval = Interval::between(&before, &glance(2.0, "1 0 8 1 1 0 8 1 0 1 1"));
        assert!(!interval.stands_still(), "its requests were taken back");
    }
}
