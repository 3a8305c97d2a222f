//! The requests of a trace, asked of another device.
//!
//! They go out in the order in which they were submitted, and never with more of them in flight than there were then. Where
//! the traced device had nothing to do, the other one pauses as long.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::Duration;

use super::record::TraceRecord;
use crate::contract::{Device, DeviceError};
use crate::pattern::Pattern;
use crate::request::{Completion, Op, OpKind, Tag};
use crate::time::Instant;
use crate::units::Bytes;

/// How fast requests go out.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Leave out the times in which the traced device was idle.
    pub skips_idle: bool,
    /// How many requests may be in flight; `None`: as many as there were.
    pub queue_depth: Option<u32>,
}

/// A request that was played back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Played {
    /// As the trace has it.
    pub recorded: TraceRecord,
    /// How long the other device took.
    pub latency: Duration,
    /// Whether it succeeded there.
    pub succeeded: bool,
}

/// When one request goes out.
#[derive(Debug, Clone, Copy)]
struct Cue {
    record: TraceRecord,
    /// How many requests were in flight.
    in_flight: u32,
    /// How long the device had been idle.
    idle: Duration,
}

/// A trace, ready to be played back.
#[derive(Debug)]
pub struct Playback {
    cues: Vec<Cue>,
}

impl Playback {
    /// The requests of a trace, in any order. Pauses count as idle time.
    #[must_use]
    pub fn new(mut records: Vec<TraceRecord>) -> Self {
        records.retain(|record| record.kind != OpKind::Pause);
        records.sort_by_key(|record| record.submitted_at);
        let mut in_flight = BinaryHeap::new();
        let mut last_completed = records.first().map_or(Instant::ZERO, |record| record.submitted_at);
        let cues = records.into_iter().map(|record| {
            while in_flight.peek().is_some_and(|Reverse(completed_at)| *completed_at <= record.submitted_at) {
                in_flight.pop();
            }
            let idle = record.submitted_at.since(last_completed);
            let cue = Cue { record, in_flight: u32::try_from(in_flight.len()).unwrap_or(u32::MAX), idle };
            in_flight.push(Reverse(record.completed_at));
            last_completed = last_completed.max(record.completed_at);
            cue
        });
        Self { cues: cues.collect() }
    }

    /// How many requests there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.cues.len()
    }

    /// True if there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.cues.is_empty()
    }

    /// The end of the highest range: how large a device must be.
    #[must_use]
    pub fn reach(&self) -> Bytes {
        self.cues.iter().map(|cue| cue.record.range.end()).max().unwrap_or(Bytes::ZERO)
    }

    /// From the first submission to the last completion, as the trace has it.
    #[must_use]
    pub fn recorded_time(&self) -> Duration {
        let first = self.cues.first().map_or(Instant::ZERO, |cue| cue.record.submitted_at);
        let last = self.cues.iter().map(|cue| cue.record.completed_at).max().unwrap_or(first);
        last.since(first)
    }

    /// Asks everything of `device`; writes carry `pattern`, reads are for their time alone. The requests come back in the
    /// order in which they were submitted.
    ///
    /// # Errors
    /// [`DeviceError`] if the device failed. A failed request is in the result.
    pub fn run(
        &self,
        device: &mut impl Device,
        pace: Pace,
        pattern: Pattern,
    ) -> Result<Vec<Played>, DeviceError> {
        let mut stage = Stage { device, in_flight: HashMap::new(), played: Vec::with_capacity(self.len()) };
        for cue in &self.cues {
            let others = pace.queue_depth.map_or(cue.in_flight, |depth| depth.max(1) - 1);
            stage.wait_until(others)?;
            if !cue.idle.is_zero() && !pace.skips_idle {
                stage.pause(cue.idle)?;
            }
            stage.submit(cue, pattern)?;
        }
        stage.wait_until(0)?;
        Ok(stage.played)
    }
}

/// The device and what is in flight.
struct Stage<'device, D> {
    device: &'device mut D,
    in_flight: HashMap<Tag, usize>,
    played: Vec<Played>,
}

impl<D: Device> Stage<'_, D> {
    /// Waits until no more than `others` requests are in flight, and the device has room for another.
    fn wait_until(&mut self, others: u32) -> Result<(), DeviceError> {
        let most = others.min(self.device.capabilities().queue_depth.saturating_sub(1)) as usize;
        while self.in_flight.len() > most
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

    fn submit(&mut self, cue: &Cue, pattern: Pattern) -> Result<(), DeviceError> {
        let record = cue.record;
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

/// No request's tag.
const PAUSE: Tag = Tag(u64::MAX);
