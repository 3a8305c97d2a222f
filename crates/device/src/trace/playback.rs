//! Replays the requests of a trace on another device.
//!
//! Requests are submitted in their original order, with at most the original queue depth. Where the traced
//! device was idle, the other device pauses for the same time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::Duration;

use super::record::TraceRecord;
use crate::contract::{Device, DeviceError};
use crate::pattern::Pattern;
use crate::request::{Completion, Op, OpKind, Tag};
use crate::time::Instant;
use crate::units::Bytes;

/// Idle time and queue depth of a playback.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct PlaybackOptions {
    /// Skip the idle times of the traced device.
    pub skips_idle: bool,
    /// The largest queue depth; `None`: the recorded one.
    pub queue_depth: Option<u32>,
}

/// A replayed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Played {
    /// The request in the trace.
    pub recorded: TraceRecord,
    /// Its latency on the other device.
    pub latency: Duration,
    /// Whether it succeeded on the other device.
    pub succeeded: bool,
}

/// One request, and when to submit it.
#[derive(Debug, Clone, Copy)]
struct ScheduledRequest {
    record: TraceRecord,
    /// The number of other requests in flight at its submission.
    in_flight: u32,
    /// The idle time of the device before its submission.
    idle: Duration,
}

/// A trace, ready for playback.
#[derive(Debug)]
pub struct Playback {
    schedule: Vec<ScheduledRequest>,
}

impl Playback {
    /// A playback of these requests, given in any order. Pauses count as idle time.
    #[must_use]
    pub fn new(mut records: Vec<TraceRecord>) -> Self {
        records.retain(|record| record.kind != OpKind::Pause);
        records.sort_by_key(|record| record.submitted_at);
        let mut in_flight = BinaryHeap::new();
        let mut last_completed = records.first().map_or(Instant::ZERO, |record| record.submitted_at);
        let schedule = records.into_iter().map(|record| {
            while in_flight.peek().is_some_and(|Reverse(completed_at)| *completed_at <= record.submitted_at) {
                in_flight.pop();
            }
            let idle = record.submitted_at.since(last_completed);
            let scheduled = ScheduledRequest {
                record,
                in_flight: u32::try_from(in_flight.len()).unwrap_or(u32::MAX),
                idle,
            };
            in_flight.push(Reverse(record.completed_at));
            last_completed = last_completed.max(record.completed_at);
            scheduled
        });
        Self { schedule: schedule.collect() }
    }

    /// The number of requests.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.schedule.len()
    }

    /// True without requests.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.schedule.is_empty()
    }

    /// The end of the highest range: the smallest capacity of a device for this playback.
    #[must_use]
    pub fn required_capacity(&self) -> Bytes {
        self.schedule.iter().map(|scheduled| scheduled.record.range.end()).max().unwrap_or(Bytes::ZERO)
    }

    /// The time from the first submission to the last completion in the trace.
    #[must_use]
    pub fn recorded_time(&self) -> Duration {
        let first = self.schedule.first().map_or(Instant::ZERO, |scheduled| scheduled.record.submitted_at);
        let last = self.schedule.iter().map(|scheduled| scheduled.record.completed_at).max().unwrap_or(first);
        last.since(first)
    }

    /// Replays all requests on `device`. Writes carry `pattern`; reads return no data. The results are in
    /// order of submission.
    ///
    /// # Errors
    /// [`DeviceError`] if the device failed. A failed request is a result.
    pub fn run(
        &self,
        device: &mut impl Device,
        options: PlaybackOptions,
        pattern: Pattern,
    ) -> Result<Vec<Played>, DeviceError> {
        let mut player = Player { device, in_flight: HashMap::new(), played: Vec::with_capacity(self.len()) };
        for scheduled in &self.schedule {
            let others = options.queue_depth.map_or(scheduled.in_flight, |depth| depth.max(1) - 1);
            player.wait_until(others)?;
            if !scheduled.idle.is_zero() && !options.skips_idle {
                player.pause(scheduled.idle)?;
            }
            player.submit(scheduled, pattern)?;
        }
        player.wait_until(0)?;
        Ok(player.played)
    }
}

/// The device, and the requests in flight on it.
struct Player<'device, D> {
    device: &'device mut D,
    in_flight: HashMap<Tag, usize>,
    played: Vec<Played>,
}

impl<D: Device> Player<'_, D> {
    /// Waits until at most `others` requests are in flight and the device accepts another one.
    fn wait_until(&mut self, others: u32) -> Result<(), DeviceError> {
        let others = others.min(self.device.capabilities().queue_depth.saturating_sub(1)) as usize;
        while self.in_flight.len() > others
            && let Some(completion) = self.device.wait()?
        {
            self.settle(&completion);
        }
        Ok(())
    }

    fn pause(&mut self, idle: Duration) -> Result<(), DeviceError> {
        self.wait_until(0)?;
        self.device.submit(PAUSE, Op::Pause { duration: idle })?;
        self.device.wait().map(drop)
    }

    fn submit(&mut self, scheduled: &ScheduledRequest, pattern: Pattern) -> Result<(), DeviceError> {
        let record = scheduled.record;
        let op = match record.kind {
            OpKind::Read => Op::read(record.range),
            OpKind::Write => Op::write(record.range, pattern),
            OpKind::Discard => Op::Discard { range: record.range },
            OpKind::Flush | OpKind::Pause => Op::Flush,
        };
        let tag = Tag(self.played.len() as u64);
        self.device.submit(tag, op)?;
        self.in_flight.insert(tag, self.played.len());
        self.played.push(Played { recorded: record, latency: Duration::ZERO, succeeded: false });
        Ok(())
    }

    fn settle(&mut self, completion: &Completion) {
        let index = self.in_flight.remove(&completion.tag);
        if let Some(played) = index.and_then(|index| self.played.get_mut(index)) {
            played.latency = completion.latency();
            played.succeeded = completion.outcome.is_ok();
        }
    }
}

/// The tag of pauses. No other request has it.
const PAUSE: Tag = Tag(u64::MAX);
