//! Replies that wait for their instant, in the order of those instants.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use flashscope_device::{Buffer, ByteRange, Bytes, Instant, OpKind};
use rustix::io::Errno;

use super::request::Reply;
use super::statistics::{LatenessHistogram, ServeStatistics};
use crate::clock::Clock;

/// A request that the device has received.
#[derive(Debug)]
pub struct Job {
    /// Its kind.
    pub kind: OpKind,
    /// The requested range, which may be shorter than the blocks around it.
    pub range: ByteRange,
    /// Whether a flush follows before the reply.
    pub flush_after: bool,
    /// Where the reply goes.
    pub reply: Reply,
}

/// The outcome of a request: a read's whole blocks, nothing, or the error.
pub type Outcome = Result<Option<Buffer>, Errno>;

#[derive(Debug)]
struct QueuedReply {
    due: Instant,
    ready: Instant,
    /// Orders replies of the same instant by completion.
    number: u64,
    job: Job,
    outcome: Outcome,
}

impl PartialEq for QueuedReply {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for QueuedReply {}

impl PartialOrd for QueuedReply {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for QueuedReply {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.due, self.number).cmp(&(other.due, other.number))
    }
}

/// Waiting replies, and the statistics of those that were sent.
#[derive(Debug)]
pub struct ReplyQueue {
    clock: Clock,
    block: Bytes,
    waiting: BinaryHeap<Reverse<QueuedReply>>,
    count: u64,
    statistics: ServeStatistics,
    lateness: LatenessHistogram,
}

impl ReplyQueue {
    /// An empty queue. Reads come in whole blocks of `block`.
    pub fn new(clock: Clock, block: Bytes) -> Self {
        let (statistics, lateness) = (ServeStatistics::default(), LatenessHistogram::new());
        Self { clock, block, waiting: BinaryHeap::with_capacity(64), count: 0, statistics, lateness }
    }

    /// Queues a reply until the host's clock shows `due`.
    pub fn push(&mut self, job: Job, outcome: Outcome, due: Instant) {
        self.count += 1;
        let (ready, number) = (self.clock.now(), self.count);
        self.waiting.push(Reverse(QueuedReply { due, ready, number, job, outcome }));
    }

    /// When the next reply is due.
    pub fn next_due(&self) -> Option<Instant> {
        self.waiting.peek().map(|Reverse(reply)| reply.due)
    }

    /// Sends every reply that is due.
    pub fn send_due(&mut self) {
        while let Some(due) = self.next_due() {
            let now = self.clock.now();
            if due > now {
                return;
            }
            self.send_next(now);
        }
    }

    /// Sends every reply now.
    pub fn send_all(&mut self) {
        while !self.waiting.is_empty() {
            self.send_next(self.clock.now());
        }
    }

    fn send_next(&mut self, now: Instant) {
        let Some(Reverse(reply)) = self.waiting.pop() else { return };
        // A reply that is due at the clock's zero was never delayed.
        if reply.due > Instant::ZERO {
            self.lateness.note(reply.due, reply.ready, now);
        }
        self.send(reply.job, &reply.outcome);
    }

    /// Sends a reply that has no instant.
    pub fn send(&mut self, job: Job, outcome: &Outcome) {
        let Job { kind, range, reply, .. } = job;
        self.statistics.count(kind, range.length, outcome.is_err());
        let start = (range.offset % self.block).to_usize();
        let data = match outcome {
            Ok(Some(blocks)) if kind == OpKind::Read => Ok(&blocks[start..start + range.length.to_usize()]),
            Ok(_) => Ok(&[][..]),
            Err(errno) => Err(*errno),
        };
        reply.send(data, range.length);
    }

    /// The statistics of all replies sent.
    pub fn statistics(&self) -> ServeStatistics {
        ServeStatistics { error: self.lateness.summary(), ..self.statistics }
    }
}
