//! The activity of a disk since the watch started.

use std::collections::VecDeque;

use flashscope_record::activity::{PendingWrites, Process, Sample, Snapshot};

use super::interval::Interval;
use super::merges::MergeDetector;
use super::stall::{Stall, StallDetector};
use super::unplug::{self, UnplugEstimate};

/// The intervals that are kept: one for each column of a wide terminal. Guess.
const INTERVALS_MAX: usize = 240;

/// The activity of a disk since the watch started.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    intervals: VecDeque<Interval>,
    stalls: StallDetector,
    merges: MergeDetector,
}

/// The activity of a disk in the last interval, and the conclusions from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Activity {
    /// The last interval.
    pub interval: Interval,
    /// The pending writes at its end.
    pub pending: PendingWrites,
    /// When the pending writes will have been written.
    pub unplug: UnplugEstimate,
    /// The number of short bursts in which the disk was busy with writes only and each write took at least
    /// four times the baseline. The controller may have merged erase blocks. `None` until there is a
    /// baseline.
    pub merges_suspected: Option<u64>,
    /// The stalls so far, the latest last.
    pub stalls: Vec<Stall>,
    /// The processes with files open on the disk.
    pub writers: Vec<Writer>,
    /// The number of processes that may not be inspected.
    pub hidden_processes: u32,
}

/// A process with files open on the disk, and its write throughput.
#[derive(Debug, Clone, PartialEq)]
pub struct Writer {
    /// The process.
    pub process: Process,
    /// Bytes per second it wrote in the interval, to any disk; `None` where that is unknown.
    pub bytes_per_s: Option<f64>,
}

impl History {
    /// Adds the next two snapshots, for events shorter than an interval.
    pub fn snapshot(&mut self, before: &Snapshot, after: &Snapshot) {
        self.stalls.add(before, after);
        self.merges.add(&Interval::between(before, after));
    }

    /// Adds the next two samples and returns the activity. The snapshots between them must have been added
    /// before.
    pub fn add(&mut self, before: &Sample, after: &Sample) -> Activity {
        let interval = Interval::between(&before.snapshot, &after.snapshot);
        self.intervals.push_back(interval);
        if self.intervals.len() > INTERVALS_MAX {
            self.intervals.pop_front();
        }
        Activity {
            interval,
            pending: after.snapshot.pending,
            unplug: unplug::of(after.snapshot.pending, self.intervals.iter()),
            merges_suspected: self.merges.suspected(),
            stalls: self.stalls.long().copied().collect(),
            writers: writers(before, after, &interval),
            hidden_processes: after.processes.hidden,
        }
    }

    /// The intervals so far, the latest last; at most 240.
    pub fn intervals(&self) -> impl DoubleEndedIterator<Item = &Interval> + ExactSizeIterator {
        self.intervals.iter()
    }
}

/// The fastest writers first, then those with most writable files.
fn writers(before: &Sample, after: &Sample, interval: &Interval) -> Vec<Writer> {
    let seconds = interval.duration.as_secs_f64();
    let speed = |process: &Process| {
        let is_same = |old: &&Process| old.pid == process.pid && old.name == process.name;
        let old = before.processes.seen.iter().find(is_same)?.written_bytes?;
        let written = process.written_bytes?.saturating_sub(old);
        (seconds > 0.0).then(|| written as f64 / seconds)
    };
    let mut writers: Vec<Writer> = after
        .processes
        .seen
        .iter()
        .map(|process| Writer { bytes_per_s: speed(process), process: process.clone() })
        .collect();
    let key = |writer: &Writer| (writer.bytes_per_s.unwrap_or(0.0), writer.process.files_to_write);
    writers.sort_by(|one, other| {
        let ((one_speed, one_files), (other_speed, other_files)) = (key(one), key(other));
        other_speed.total_cmp(&one_speed).then(other_files.cmp(&one_files))
    });
    writers
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;

    use super::super::fixtures::{sample, writes};
    use super::*;

    #[test]
    fn writers_are_sorted_by_throughput() {
        let mut samples: Vec<Sample> =
            writes(1.0, &[(0, 0, 0), (8, 80, 0)]).into_iter().map(sample).collect();
        let process = |pid: u32, written_bytes: Option<u64>| Process {
            pid,
            name: "cp".to_owned(),
            files: 1,
            files_to_write: 1,
            written_bytes,
        };
        samples[0].processes.seen = vec![process(1, None), process(2, Some(100)), process(4, Some(9))];
        samples[1].processes.seen =
            vec![process(1, None), process(2, Some(600)), process(3, Some(9)), process(4, Some(9000))];
        samples[1].processes.seen[3].name = "another process with that number".to_owned();
        let activity = History::default().add(&samples[0], &samples[1]);
        let rates: Vec<_> =
            activity.writers.iter().map(|writer| (writer.process.pid, writer.bytes_per_s)).collect();
        assert_eq!(rates, [(2, Some(500.0)), (1, None), (3, None), (4, None)]);
        assert_eq!(activity.interval.written.bytes, Bytes::mib(8));
    }

    #[test]
    fn only_the_last_intervals_are_kept() {
        let mut history = History::default();
        let rows: Vec<(u64, u64, u64)> = (0..300).map(|second| (second, second, 1)).collect();
        let samples: Vec<Sample> = writes(1.0, &rows).into_iter().map(sample).collect();
        for pair in samples.windows(2) {
            history.add(&pair[0], &pair[1]);
        }
        assert_eq!(history.intervals().len(), INTERVALS_MAX);
        assert_eq!(history.intervals().last().unwrap().ended_at(), samples[299].snapshot.at);
    }
}
