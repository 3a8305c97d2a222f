//! The time that a run of several experiments will still take: from what is expected of each, and from the
//! speed of this device so far.

use std::collections::VecDeque;
use std::time::Duration;

use flashscope_device::Bytes;

use crate::contract::{Estimate, Event, Expected, Experiment};

/// The write and read speed before any is measured, in bytes per second. Guess: an everyday card; USB 2.0
/// reads.
const WRITE_SPEED: f64 = 10e6;
const READ_SPEED: f64 = 20e6;
/// An assumed speed counts like a measurement over this many bytes: the first writes may meet a stall. Guess.
const ASSUMED_BYTES: f64 = 4e6;
/// Smaller requests say nothing about the speed of a transfer. Guess.
const LARGE: Bytes = Bytes::kib(512);
/// A speed is the mean over this part of its time so far: caches end, and stalls are waited out. Guess.
const RECENT_PART: f64 = 0.25;
/// It is the mean over at least this time. Guess.
const RECENT_MIN_S: f64 = 5.0;
/// After a transfer that moved everything, an experiment goes on for this part of the time since then. Guess.
const MOVED_PART: u32 = 4;
/// Before any transfer, small writes that take less than this show a fast device: others merge an erase block
/// for each. Guess: the virtual sticks.
const SMALL_WRITE_S: f64 = 0.08;
/// Fewer small writes tell nothing. Guess.
const SMALL_WRITES_MIN: u32 = 8;
/// No device is this many times as fast as [`WRITE_SPEED`]. Guess.
const FACTOR_MAX: f64 = 10.0;
/// An experiment that has taken longer than expected will go on for this part of its time so far. Guess: of
/// the virtual sticks, none whose experiment is nearly at its end then has three times as much left.
const OVERRUN_PART: u32 = 15;

/// An experiment that is planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// Its name.
    pub name: &'static str,
    /// Its cost.
    pub estimate: Estimate,
}

impl Stage {
    /// The stage of an experiment on a device.
    #[must_use]
    pub fn of(experiment: &dyn Experiment, device: &dyn flashscope_device::Device) -> Self {
        Self { name: experiment.name(), estimate: experiment.estimate(device) }
    }
}

/// The time left of a run. It learns from the events of the experiments.
#[derive(Debug, Clone, Default)]
pub struct Forecast {
    planned: VecDeque<Stage>,
    time_max: Option<Duration>,
    /// The time of the stages that ended.
    ended: Duration,
    current: Option<Current>,
    writes: Speed,
    reads: Speed,
    small_writes: SmallWrites,
}

/// The number and time of small writes, with the flushes after them.
#[derive(Debug, Clone, Copy, Default)]
struct SmallWrites {
    count: u32,
    time: Duration,
}

impl SmallWrites {
    /// The speed of large writes on such a device.
    fn speed(&self) -> f64 {
        if self.count < SMALL_WRITES_MIN {
            return WRITE_SPEED;
        }
        let mean = self.time.as_secs_f64() / f64::from(self.count);
        WRITE_SPEED * (SMALL_WRITE_S / mean.max(1e-6)).clamp(1.0, FACTOR_MAX)
    }
}

/// Requests, bytes and time of a stage until an event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    requests: u64,
    written: Bytes,
    read: Bytes,
    time: Duration,
}

/// The stage that runs.
#[derive(Debug, Clone, Copy)]
struct Current {
    expected: Expected,
    requests_max: u64,
    now: Counts,
    /// When `expected` was said.
    since: Counts,
    /// The last request: a flush after it belongs to it.
    last: Option<Moved>,
    /// The device time when a transfer had moved all that was expected.
    moved_at: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moved {
    Written,
    WrittenSmall,
    Read,
}

/// A recent mean.
#[derive(Debug, Clone, Copy, Default)]
struct Speed {
    bytes: f64,
    seconds: f64,
    seconds_total: f64,
}

impl Speed {
    fn add(&mut self, bytes: Bytes, time: Duration) {
        let seconds = time.as_secs_f64();
        self.seconds_total += seconds;
        let kept = (-seconds / (self.seconds_total * RECENT_PART).max(RECENT_MIN_S)).exp();
        self.bytes = self.bytes * kept + bytes.as_f64();
        self.seconds = self.seconds * kept + seconds;
    }

    /// Bytes per second; a few requests hardly change what was `assumed`.
    fn get(&self, assumed: f64) -> f64 {
        (self.bytes + ASSUMED_BYTES) / (self.seconds + ASSUMED_BYTES / assumed)
    }
}

impl Forecast {
    /// Of a run with these experiments, which ends after `time_max` at the latest.
    #[must_use]
    pub fn new(planned: impl IntoIterator<Item = Stage>, time_max: Option<Duration>) -> Self {
        Self { planned: planned.into_iter().collect(), time_max, ..Self::default() }
    }

    /// Learns from an event.
    pub fn event(&mut self, event: &Event<'_>) {
        match *event {
            Event::Begin { name, estimate } => self.begin(name, estimate),
            Event::Expect { expected } => {
                if let Some(current) = &mut self.current {
                    (current.expected, current.since, current.moved_at) = (expected, current.now, None);
                }
            }
            Event::Progress { requests, bytes_written, bytes_read, device_time, .. } => {
                let now = Counts { requests, written: bytes_written, read: bytes_read, time: device_time };
                self.progress(now);
            }
            Event::End => self.end(),
            Event::SecondLook | Event::Remark { .. } => {}
        }
    }

    fn begin(&mut self, name: &str, estimate: Estimate) {
        self.end();
        if let Some(index) = self.planned.iter().position(|stage| stage.name == name) {
            self.planned.drain(..=index);
        }
        let (now, since) = (Counts::default(), Counts::default());
        let Estimate { requests, expected, .. } = estimate;
        self.current =
            Some(Current { expected, requests_max: requests, now, since, last: None, moved_at: None });
    }

    fn end(&mut self) {
        self.ended += self.current.take().map_or(Duration::ZERO, |current| current.now.time);
    }

    fn progress(&mut self, now: Counts) {
        let Some(current) = &mut self.current else { return };
        let before = std::mem::replace(&mut current.now, now);
        let written = now.written.saturating_sub(before.written);
        let read = now.read.saturating_sub(before.read);
        let is_pause = now.requests == before.requests;
        current.last = match (written.is_zero(), read.is_zero()) {
            (true, true) => current.last.filter(|_| !is_pause),
            (false, _) if written >= LARGE => Some(Moved::Written),
            (false, _) => Some(Moved::WrittenSmall),
            (true, false) => (read >= LARGE).then_some(Moved::Read),
        };
        let time = now.time.saturating_sub(before.time);
        match current.last {
            Some(Moved::Written) => self.writes.add(written, time),
            Some(Moved::WrittenSmall) => {
                self.small_writes.count += u32::from(!written.is_zero());
                self.small_writes.time += time;
            }
            Some(Moved::Read) => self.reads.add(read, time),
            None => {}
        }
        if current.moved_at.is_none() && current.has_moved_all() {
            current.moved_at = Some(now.time);
        }
    }

    /// The device time so far.
    #[must_use]
    pub fn spent(&self) -> Duration {
        self.ended + self.current.map_or(Duration::ZERO, |current| current.now.time)
    }

    /// The device time that is expected to be left.
    #[must_use]
    pub fn left(&self) -> Duration {
        let current = self.current.map_or(Duration::ZERO, |current| self.left_of(&current));
        let planned: Duration = self.planned.iter().map(|stage| self.whole(stage.estimate.expected)).sum();
        let most = self.time_max.map_or(Duration::MAX, |most| most.saturating_sub(self.spent()));
        current.saturating_add(planned).min(most)
    }

    /// The time of a stage that has not begun.
    fn whole(&self, expected: Expected) -> Duration {
        match expected {
            Expected::Most => Duration::ZERO,
            Expected::Transfer { written, read, time_max, pauses } => {
                (self.transfer(written, read) + pauses).min(time_max.unwrap_or(Duration::MAX))
            }
            Expected::Time { most, written } => {
                written.map_or(most, |written| self.transfer(written, Bytes::ZERO).min(most))
            }
        }
    }

    fn left_of(&self, current: &Current) -> Duration {
        let elapsed = current.now.time.saturating_sub(current.since.time);
        match current.expected {
            Expected::Most => current.left_at_most(),
            Expected::Time { .. } => {
                self.whole(current.expected).saturating_sub(elapsed).max(elapsed / OVERRUN_PART)
            }
            Expected::Transfer { time_max, pauses, .. } => {
                let (written, read) = current.left_to_move();
                let paused =
                    current.moved_at.map_or(Duration::ZERO, |at| current.now.time.saturating_sub(at));
                let left = self.transfer(written, read) + pauses.saturating_sub(paused);
                let left = if left.is_zero() { paused.saturating_sub(pauses) / MOVED_PART } else { left };
                left.min(time_max.map_or(Duration::MAX, |most| most.saturating_sub(elapsed)))
            }
        }
    }

    /// The time of moving these bytes.
    fn transfer(&self, written: Bytes, read: Bytes) -> Duration {
        let write = self.writes.get(self.small_writes.speed());
        let read_speed = self.reads.get(write.max(READ_SPEED));
        Duration::try_from_secs_f64(written.as_f64() / write + read.as_f64() / read_speed)
            .unwrap_or(Duration::MAX)
    }
}

impl Current {
    /// What a transfer has still to write and to read.
    fn left_to_move(&self) -> (Bytes, Bytes) {
        let Expected::Transfer { written, read, .. } = self.expected else {
            return (Bytes::ZERO, Bytes::ZERO);
        };
        let left = |whole: Bytes, now: Bytes, since: Bytes| whole.saturating_sub(now.saturating_sub(since));
        (left(written, self.now.written, self.since.written), left(read, self.now.read, self.since.read))
    }

    fn has_moved_all(&self) -> bool {
        let (written, read) = self.left_to_move();
        written.is_zero() && read.is_zero()
    }

    /// All requests that are allowed, each as long as those so far.
    fn left_at_most(&self) -> Duration {
        let left = self.requests_max.saturating_sub(self.now.requests);
        let mean = self.now.time.as_secs_f64() / self.now.requests.max(1) as f64;
        Duration::try_from_secs_f64(mean * left as f64).unwrap_or(Duration::MAX)
    }
}
