//! Estimates how long until no writes are pending.

use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_record::activity::PendingWrites;

use super::interval::Interval;

/// The windows for the write throughput, in intervals with write load. A stick's throughput comes in bursts;
/// the spread between short and long windows is its uncertainty. Guess.
const WINDOWS: [usize; 3] = [3, 10, 30];

/// The uncertainty factor with fewer intervals than the shortest window. Guess: errors of a factor of two
/// were seen in the first seconds of a copy.
const FEW_SPREAD: f64 = 2.0;
/// The smallest busy share of an interval that shows the disk's throughput. Below it, the throughput is that
/// of the programs. Guess.
const BUSY_MIN: f64 = 0.5;

/// When all pending writes will have reached the disk, if no program writes more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum UnplugEstimate {
    /// Now: nothing is pending and nothing is in flight.
    Now,
    /// Almost now: the pending bytes are below the error of the kernel's count.
    AlmostNow,
    /// After this time, at the throughput of the last intervals with write load, stalls included.
    In {
        /// The shortest time; `None` where the pending bytes are only an upper bound.
        low: Option<Duration>,
        /// The longest time; `None` where the disk has completed nothing for some intervals.
        high: Option<Duration>,
    },
    /// Unknown.
    Unknown(UnplugUnknown),
}

/// Why the time is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnplugUnknown {
    /// Writes are pending, and the disk has not yet written long enough to know its throughput.
    NothingWritten,
    /// Writes are pending on this machine, and the disk is idle: they may all be for other disks.
    MaybeOtherDisks,
    /// No writes are pending in memory, but the disk has requests in flight.
    InFlight,
    /// The disk has requests in flight and has completed none for some intervals.
    NoProgress,
    /// The pending writes cannot be read.
    Unreadable,
}

impl UnplugUnknown {
    /// The reason as text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NothingWritten => {
                "too little was written so far to know the speed; the kernel continues within 30 s, or at once with sync"
            }
            Self::MaybeOtherDisks => {
                "the data in memory may all be for other disks; sync waits until all is written"
            }
            Self::InFlight => "no data is left in memory, but the disk still has requests in flight",
            Self::NoProgress => "it has requests in flight and completes none at the moment",
            Self::Unreadable => "the amount of data in memory cannot be read",
        }
    }
}

/// The estimate from the pending writes at the end of `intervals`.
pub(super) fn of<'a>(
    pending: PendingWrites,
    intervals: impl DoubleEndedIterator<Item = &'a Interval> + Clone,
) -> UnplugEstimate {
    let last = intervals.clone().next_back();
    let in_flight = last.map_or(0, |last| last.in_flight[1]);
    let is_idle = in_flight == 0 && last.is_none_or(|last| last.written.bytes.is_zero());
    let Some(bytes) = pending.bytes_max() else { return UnplugEstimate::Unknown(UnplugUnknown::Unreadable) };
    match (pending.is_nothing(), pending.is_below_error()) {
        (true, _) if in_flight == 0 => return UnplugEstimate::Now,
        (_, true) if in_flight == 0 => return UnplugEstimate::AlmostNow,
        // No throughput predicts how long the last requests take.
        (true, _) | (_, true) => return UnplugEstimate::Unknown(UnplugUnknown::InFlight),
        (false, false) => {}
    }
    let is_bound = matches!(pending, PendingWrites::AtMost(..));
    if is_bound && is_idle {
        return UnplugEstimate::Unknown(UnplugUnknown::MaybeOtherDisks);
    }
    let Some([slowest, fastest]) = speeds(intervals) else {
        return UnplugEstimate::Unknown(UnplugUnknown::NothingWritten);
    };
    if fastest == 0.0 || is_bound && slowest == 0.0 {
        return UnplugEstimate::Unknown(UnplugUnknown::NoProgress);
    }
    // Durations too long for the type become None; so does zero throughput.
    let seconds = |bytes: Bytes, speed: f64| Duration::try_from_secs_f64(bytes.as_f64() / speed).ok();
    let (low, high) = (seconds(bytes, fastest), seconds(bytes + pending.error(), slowest));
    UnplugEstimate::In { low: low.filter(|_| !is_bound), high }
}

/// The lowest and the highest throughput over the windows, bytes per second; `None` without write load.
fn speeds<'a>(intervals: impl DoubleEndedIterator<Item = &'a Interval> + Clone) -> Option<[f64; 2]> {
    let before = std::iter::once(None).chain(intervals.clone().map(Some));
    let mut loaded: Vec<&Interval> = before
        .zip(intervals)
        .filter(|(before, this)| has_write_load(*before, this))
        .map(|(_, this)| this)
        .collect();
    loaded.reverse();
    let windows = WINDOWS.into_iter().filter_map(|length| loaded.get(..length.min(loaded.len())));
    let speeds: Vec<f64> = windows.filter(|window| !window.is_empty()).map(speed).collect();
    let (slowest, fastest) =
        (speeds.iter().copied().reduce(f64::min)?, speeds.iter().copied().reduce(f64::max)?);
    let spread = if loaded.len() < WINDOWS[0] { FEW_SPREAD } else { 1.0 };
    Some([slowest / spread, fastest * spread])
}

/// Whether the disk had enough to write during the whole interval, so that its throughput shows. Excluded
/// are small writes in an idle interval, the interval in which a load starts, and intervals with reads
/// only.
fn has_write_load(before: Option<&Interval>, this: &Interval) -> bool {
    let goes_on = this.in_flight[0] > 0 || before.is_some_and(|before| before.busy >= BUSY_MIN);
    this.has_no_progress() || goes_on && this.shows_write_throughput()
}

impl Interval {
    /// Whether its throughput of writes is that of the disk, and not that of the programs.
    #[must_use]
    pub fn shows_write_throughput(&self) -> bool {
        self.busy >= BUSY_MIN && !self.written.bytes.is_zero()
    }
}

fn speed(window: &[&Interval]) -> f64 {
    let bytes: f64 = window.iter().map(|interval| interval.written.bytes.as_f64()).sum();
    let seconds: f64 = window.iter().map(|interval| interval.duration.as_secs_f64()).sum();
    if seconds > 0.0 { bytes / seconds } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use flashscope_record::activity::{BoundReason, Snapshot};

    use super::super::fixtures::{counted, snapshot, writes};
    use super::*;

    fn when(pending: PendingWrites, snapshots: &[Snapshot]) -> UnplugEstimate {
        let intervals = snapshots.windows(2).map(|pair| Interval::between(&pair[0], &pair[1]));
        of(pending, intervals.collect::<Vec<_>>().iter())
    }

    /// Writes of 1 MiB that complete in each second.
    fn work(writes_each: &[u64]) -> Vec<Snapshot> {
        let sums = writes_each.iter().scan(0, |sum, writes| {
            *sum += writes;
            Some((*sum, *sum, 1))
        });
        writes(1.0, &std::iter::once((0, 0, 1)).chain(sums).collect::<Vec<_>>())
    }

    const fn seconds(seconds: u64) -> Option<Duration> {
        Some(Duration::from_secs(seconds))
    }

    #[test]
    fn pending_bytes_over_throughput_give_the_time() {
        let steady = work(&[8, 8, 8]);
        assert_eq!(when(counted(24, 8), &steady), UnplugEstimate::In { low: seconds(4), high: seconds(4) });
        let slower = work(&[8, 8, 8, 8, 8, 8, 8, 4, 4, 4]);
        let (low, high) = (Duration::from_secs_f64(32.0 / 6.8), seconds(8));
        assert_eq!(when(counted(24, 8), &slower), UnplugEstimate::In { low: Some(low), high });
        let bound = PendingWrites::AtMost(Bytes::mib(32), BoundReason::Hidden);
        assert_eq!(when(bound, &slower), UnplugEstimate::In { low: None, high });
        assert_eq!(when(PendingWrites::Unknown, &slower), UnplugEstimate::Unknown(UnplugUnknown::Unreadable));
    }

    #[test]
    fn few_intervals_double_the_uncertainty_and_the_first_does_not_count() {
        let short = work(&[8, 8]);
        assert_eq!(when(counted(24, 8), &short), UnplugEstimate::In { low: seconds(2), high: seconds(8) });
        let mut begins = work(&[1, 8, 8, 8]);
        begins[0].counters.in_flight = 0;
        assert_eq!(when(counted(24, 8), &begins), UnplugEstimate::In { low: seconds(4), high: seconds(4) });
    }

    #[test]
    fn stalls_count_and_a_long_stall_leaves_the_longest_time_open() {
        let stalled = work(&[8, 0, 8]);
        assert_eq!(when(counted(16, 0), &stalled), UnplugEstimate::In { low: seconds(3), high: seconds(3) });
        let stuck = work(&[8, 8, 0, 0, 0]);
        assert_eq!(when(counted(16, 0), &stuck), UnplugEstimate::In { low: seconds(5), high: None });
        let never = work(&[0, 0]);
        assert_eq!(when(counted(16, 0), &never), UnplugEstimate::Unknown(UnplugUnknown::NoProgress));
        let bound = PendingWrites::AtMost(Bytes::mib(32), BoundReason::ControlGroups);
        assert_eq!(when(bound, &stuck), UnplugEstimate::Unknown(UnplugUnknown::NoProgress));
    }

    #[test]
    fn small_write_in_an_idle_interval_does_not_count() {
        let snapshots = [
            snapshot(0.0, "0 0 0 0 0 0 0 0 0 0 0"),
            snapshot(1.0, "0 0 0 0 1 0 8 1 1 2 2"),
            snapshot(2.0, "0 0 0 0 9 0 16392 90 1 990 990"),
        ];
        assert_eq!(
            when(counted(32, 0), &snapshots),
            UnplugEstimate::In { low: seconds(2), high: seconds(8) }
        );
        assert_eq!(
            when(counted(32, 0), &snapshots[..2]),
            UnplugEstimate::Unknown(UnplugUnknown::NothingWritten)
        );
    }

    #[test]
    fn intervals_with_reads_only_do_not_count() {
        let mut snapshots = work(&[8, 8, 8]);
        snapshots.push(snapshot(4.0, "900 0 8000 900 24 0 49152 24 1 4000 924"));
        assert_eq!(
            when(counted(32, 0), &snapshots),
            UnplugEstimate::In { low: seconds(4), high: seconds(4) }
        );
    }

    #[test]
    fn nothing_is_pending_only_when_nothing_is_in_flight() {
        assert_eq!(when(counted(0, 0), &writes(1.0, &[(0, 0, 0), (8, 80, 0)])), UnplugEstimate::Now);
        let busy = writes(1.0, &[(0, 0, 1), (8, 80, 1), (16, 160, 1)]);
        assert_eq!(when(counted(0, 0), &busy), UnplugEstimate::Unknown(UnplugUnknown::InFlight));
        assert_eq!(when(PendingWrites::AtMost(Bytes::ZERO, BoundReason::Hidden), &[]), UnplugEstimate::Now);
        let (dirty, writeback, error) = (Bytes::kib(8), Bytes::ZERO, Bytes::kib(64));
        let little = PendingWrites::Counted { dirty, writeback, error };
        assert_eq!(when(little, &writes(1.0, &[(0, 0, 0), (8, 80, 0)])), UnplugEstimate::AlmostNow);
        let in_flight = UnplugEstimate::Unknown(UnplugUnknown::InFlight);
        assert_eq!(when(little, &writes(1.0, &[(0, 0, 0), (8, 80, 1)])), in_flight);
    }

    #[test]
    fn idle_disk_gets_no_estimate_from_an_upper_bound() {
        let idle = writes(1.0, &[(8, 80, 0), (8, 80, 0)]);
        let bound = PendingWrites::AtMost(Bytes::mib(32), BoundReason::Hidden);
        assert_eq!(when(bound, &idle), UnplugEstimate::Unknown(UnplugUnknown::MaybeOtherDisks));
        assert_eq!(when(counted(32, 0), &idle), UnplugEstimate::Unknown(UnplugUnknown::NothingWritten));
    }
}
