//! Detects stalls: times in which requests were pending and none completed.

use std::collections::VecDeque;
use std::time::Duration;

use flashscope_device::Instant;
use flashscope_record::activity::Snapshot;

use super::interval::Interval;

/// The shortest stall. The SD specification lets a card be busy with one write for 250 ms (SDXC: 500 ms;
/// Physical Layer Simplified Specification, 4.6.2.2).
const STALL_MIN: Duration = Duration::from_millis(500);

/// The stalls that are kept. Guess: it bounds the memory of a long `watch`.
const STALLS_MAX: usize = 100;

/// A time in which requests were pending and none completed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stall {
    /// When it started, on the sampler's clock; late by at most the time between two snapshots.
    pub started_at: Instant,
    /// Its length, or its length so far.
    pub duration: Duration,
    /// What the requests waited for.
    pub cause: StallCause,
}

/// What the requests waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StallCause {
    /// The disk: it had requests and completed none.
    Device,
    /// A flush of the disk's own cache, without data transfer meanwhile. Until the flush ends, it looks
    /// like one of the others.
    Flush,
    /// The kernel: data was in writeback, and the disk had no request.
    Writeback,
}

impl StallCause {
    /// The cause as one word for scripts.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Device => "device busy",
            Self::Flush => "flush",
            Self::Writeback => "writeback",
        }
    }
}

impl Stall {
    /// When it ended, or the time of the last snapshot.
    #[must_use]
    pub fn ended_at(&self) -> Instant {
        self.started_at + self.duration
    }

    fn is_long(&self) -> bool {
        self.duration >= STALL_MIN
    }

    /// Whether more than half of `other` lies in it.
    fn covers(&self, other: &Self) -> bool {
        let (from, to) = (self.started_at.max(other.started_at), self.ended_at().min(other.ended_at()));
        to.since(from) * 2 > other.duration
    }
}

/// Collects stalls from snapshots.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StallDetector {
    past: VecDeque<Stall>,
    /// The end of the last interval with data transfer. Nothing is known of the time before the first
    /// snapshot.
    last_data_at: Instant,
}

impl StallDetector {
    /// The stalls of at least 500 ms, the latest last.
    pub fn long(&self) -> impl Iterator<Item = &Stall> {
        self.past.iter().filter(|stall| stall.is_long())
    }

    /// Adds the next two snapshots.
    pub fn add(&mut self, before: &Snapshot, after: &Snapshot) {
        let interval = Interval::between(before, after);
        if let Some(flush) = self.flush_stall(&interval) {
            // Until the flush ended, it was counted with another cause.
            self.past.retain(|stall| !flush.covers(stall));
            self.remember(flush);
        } else if let Some(cause) = cause(&interval, before, after) {
            self.remember(Stall { started_at: interval.started_at, duration: interval.duration, cause });
        }
        if interval.has_data_transfer() {
            self.last_data_at = interval.ended_at();
        }
    }

    /// The stall that ended with a flush. A flush that waits for earlier writes delays nothing while they
    /// complete, so only the time after the last data transfer counts. Requests that completed together
    /// with the flush may have waited for it.
    fn flush_stall(&self, interval: &Interval) -> Option<Stall> {
        let duration = Duration::try_from_secs_f64(interval.flush_seconds?).ok()?;
        if interval.has_data_transfer() && interval.duration >= STALL_MIN {
            // The interval is too long to know when the data was transferred.
            return None;
        }
        let ended_at = interval.ended_at();
        let requested_at = Instant::ZERO + ended_at.since(Instant::ZERO).saturating_sub(duration);
        let started_at = requested_at.max(self.last_data_at);
        Some(Stall { started_at, duration: ended_at.since(started_at), cause: StallCause::Flush })
            .filter(Stall::is_long)
    }

    /// Adjacent stalls with the same cause become one.
    fn remember(&mut self, stall: Stall) {
        match self.past.back_mut() {
            Some(last) if last.cause == stall.cause && last.ended_at() == stall.started_at => {
                last.duration += stall.duration;
            }
            Some(last) if !last.is_long() => *last = stall,
            _ => self.past.push_back(stall),
        }
        if self.past.len() > STALLS_MAX {
            self.past.pop_front();
        }
    }
}

/// The cause, if the interval has no progress.
fn cause(interval: &Interval, before: &Snapshot, after: &Snapshot) -> Option<StallCause> {
    if interval.has_no_progress() {
        return Some(StallCause::Device);
    }
    let is_being_written = before.pending.is_being_written() && after.pending.is_being_written();
    let is_idle = interval.ended == 0 && interval.in_flight == [0, 0];
    (is_idle && is_being_written).then_some(StallCause::Writeback)
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{counted, snapshot, writes};
    use super::*;

    fn stalls(snapshots: &[Snapshot]) -> Vec<(StallCause, u128, u128)> {
        let mut stalls = StallDetector::default();
        snapshots.windows(2).for_each(|pair| stalls.add(&pair[0], &pair[1]));
        let figures = |stall: &Stall| {
            let started = stall.started_at.since(Instant::ZERO);
            (stall.cause, started.as_millis(), stall.duration.as_millis())
        };
        stalls.long().map(figures).collect()
    }

    #[test]
    fn disk_without_completions_stalls_until_the_next_one() {
        let mut rows = vec![(0, 0, 1), (8, 80, 2)];
        rows.extend([(8, 80, 2); 7]);
        rows.push((9, 900, 2));
        assert_eq!(stalls(&writes(0.1, &rows)), [(StallCause::Device, 100, 700)]);
        rows.truncate(5);
        assert_eq!(stalls(&writes(0.1, &rows)), [], "a card may be busy that long");
        assert_eq!(stalls(&writes(1.0, &[(8, 80, 0), (8, 80, 0), (8, 80, 0)])), [], "the disk is idle");
        assert_eq!(stalls(&writes(1.0, &[(8, 80, 0), (8, 80, 1)])), [], "the start is unknown");
    }

    #[test]
    fn writeback_without_requests_is_a_stall_of_the_kernel() {
        let mut snapshots = writes(0.1, &[(8, 80, 0); 8]);
        for (snapshot, writeback) in snapshots.iter_mut().zip([1, 1, 1, 1, 1, 1, 1, 0]) {
            snapshot.pending = counted(0, writeback);
        }
        assert_eq!(stalls(&snapshots), [(StallCause::Writeback, 0, 600)]);
        snapshots.iter_mut().for_each(|snapshot| snapshot.pending = counted(4, 0));
        assert_eq!(stalls(&snapshots), [], "dirty data that nobody flushes is no stall");
    }

    #[test]
    fn writeback_stall_becomes_a_flush_stall_when_the_flush_ends() {
        let mut snapshots = writes(0.1, &[(8, 80, 0); 9]);
        snapshots.iter_mut().for_each(|snapshot| snapshot.pending = counted(0, 1));
        assert_eq!(stalls(&snapshots), [(StallCause::Writeback, 0, 800)]);
        let mut ended = snapshot(0.9, "0 0 0 0 8 0 16384 80 0 0 80 0 0 0 0 1 850");
        ended.pending = counted(0, 1);
        snapshots.push(ended);
        assert_eq!(stalls(&snapshots), [(StallCause::Flush, 50, 850)]);
    }

    /// Counters of a loop device under Linux 6.18 whose file did not respond for a while. A flush alone is
    /// in flight as a write without data.
    #[test]
    fn device_stall_becomes_a_flush_stall_when_the_flush_ends() {
        let mut snapshots: Vec<Snapshot> =
            (0..16).map(|tenth| snapshot(f64::from(tenth) / 10.0, "0 0 0 0 7 0 0 80 1 0 80")).collect();
        assert_eq!(stalls(&snapshots), [(StallCause::Device, 0, 1500)]);
        snapshots.push(snapshot(1.6, "0 0 0 0 8 0 0 1673 0 1593 3266 0 0 0 0 1 1593"));
        assert_eq!(stalls(&snapshots), [(StallCause::Flush, 7, 1593)]);
    }

    #[test]
    fn long_flush_is_a_stall_and_short_flush_is_not() {
        let with_flush = |ms: u32| {
            let after = format!("0 0 0 0 8 0 8 9 0 0 0 0 0 0 0 1 {ms}");
            [snapshot(1.0, "0 0 0 0 8 0 8 9 0 0 0"), snapshot(3.0, &after)]
        };
        assert_eq!(stalls(&with_flush(1500)), [(StallCause::Flush, 1500, 1500)]);
        assert_eq!(stalls(&with_flush(100)), []);
    }

    /// Snapshots during 1 MiB writes, two in flight, followed by a flush of `flush_ms`.
    fn writes_and_then_a_flush(rows: &[u64], flush_ms: u64) -> Vec<Snapshot> {
        let (last, rows) = rows.split_last().unwrap();
        let rows: Vec<(u64, u64, u64)> = rows.iter().map(|writes| (*writes, writes * 50, 2)).collect();
        let mut snapshots = writes(0.1, &rows);
        let at = rows.len() as f64 / 10.0;
        let sectors = last * 2048;
        snapshots.push(snapshot(at, &format!("0 0 0 0 {last} 0 {sectors} 0 1 0 0 0 0 0 0 1 {flush_ms}")));
        snapshots
    }

    /// A regression: watching a copy to a stick reported stalls of 1.5 s although it wrote 13 to 16 MB/s
    /// all the time. Its flushes waited for the writes before them.
    #[test]
    fn flush_that_waits_for_completing_writes_is_no_stall() {
        let steady: Vec<u64> = (0..20).map(|tenth| tenth * 2).collect();
        assert_eq!(stalls(&writes_and_then_a_flush(&steady, 1500)), []);
        let writes_first: Vec<u64> = (0..20_u64).map(|tenth| tenth.min(10) * 2).collect();
        assert_eq!(stalls(&writes_and_then_a_flush(&writes_first, 1500)), [(StallCause::Flush, 1000, 900)]);
        let released: Vec<u64> = writes_first.into_iter().take(19).chain([24]).collect();
        assert_eq!(stalls(&writes_and_then_a_flush(&released, 1500)), [(StallCause::Flush, 1000, 900)]);
    }

    #[test]
    fn flush_with_writes_in_one_long_interval_is_no_known_stall() {
        let apart = |writes: u64| {
            let after = format!("0 0 0 0 {writes} 0 {} 9 0 0 0 0 0 0 0 1 1500", writes * 2048);
            [snapshot(1.0, "0 0 0 0 8 0 16384 9 2 0 0"), snapshot(3.0, &after)]
        };
        assert_eq!(stalls(&apart(40)), []);
        assert_eq!(stalls(&apart(8)), [(StallCause::Flush, 1500, 1500)]);
    }

    #[test]
    fn short_waits_do_not_displace_long_stalls() {
        let mut rows = vec![(0, 0, 1); 8];
        for write in 1..400 {
            rows.extend([(write, 100, 1); 3]);
        }
        assert_eq!(stalls(&writes(0.1, &rows)), [(StallCause::Device, 0, 700)]);
    }

    #[test]
    fn writeback_that_reaches_the_disk_is_no_stall() {
        let during_writeback = |rows: &[(u64, u64, u64)], seconds: f64| {
            let mut snapshots = writes(seconds, rows);
            snapshots.iter_mut().for_each(|snapshot| snapshot.pending = counted(0, 1));
            stalls(&snapshots)
        };
        // No request is in flight whenever the counters are read, but writes complete in between.
        let completing: Vec<(u64, u64, u64)> = (0..10).map(|tenth| (tenth * 2, tenth * 20, 0)).collect();
        assert_eq!(during_writeback(&completing, 0.1), []);
        assert_eq!(during_writeback(&[(8, 80, 0), (8, 80, 1)], 1.0), [], "a request arrived meanwhile");
        assert_eq!(during_writeback(&[(8, 80, 1), (8, 80, 0)], 1.0), [], "a request was withdrawn meanwhile");
    }
}
