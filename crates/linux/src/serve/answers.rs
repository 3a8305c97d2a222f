//! Answers that wait for their instant, in the order of those instants.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use flashscope_device::{Buffer, ByteRange, Bytes, Instant, OpKind};
use rustix::io::Errno;

use super::ledger::{Errors, Served};
use super::request::Reply;
use crate::clock::Clock;

/// A request, from the moment the device has it.
#[derive(Debug)]
pub struct Job {
    /// What it is.
    pub kind: OpKind,
    /// What was asked for, which may be less than the blocks it lies in.
    pub range: ByteRange,
    /// Whether a flush is still to come before it is answered.
    pub then_flush: bool,
    /// Where the answer goes.
    pub reply: Reply,
}

/// What became of a request: a read's whole blocks, nothing, or the error.
pub type Outcome = Result<Option<Buffer>, Errno>;

#[derive(Debug)]
struct Answer {
    due: Instant,
    ready: Instant,
    /// Keeps answers of one instant in the order in which the device completed them.
    number: u64,
    job: Job,
    outcome: Outcome,
}

impl PartialEq for Answer {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Answer {}

impl PartialOrd for Answer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Answer {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.due, self.number).cmp(&(other.due, other.number))
    }
}

/// Answers that wait, and the account of those that were given.
#[derive(Debug)]
pub struct Answers {
    clock: Clock,
    block: Bytes,
    waiting: BinaryHeap<Reverse<Answer>>,
    made: u64,
    served: Served,
    errors: Errors,
}

impl Answers {
    /// None yet. Reads come in whole blocks of `block`.
    pub fn new(clock: Clock, block: Bytes) -> Self {
        let (served, errors) = (Served::default(), Errors::new());
        Self { clock, block, waiting: BinaryHeap::with_capacity(64), made: 0, served, errors }
    }

    /// Keeps an answer until the host's clock shows `due`.
    pub fn keep(&mut self, job: Job, outcome: Outcome, due: Instant) {
        self.made += 1;
        let (ready, number) = (self.clock.now(), self.made);
        self.waiting.push(Reverse(Answer { due, ready, number, job, outcome }));
    }

    /// When the next answer is due.
    pub fn next_due(&self) -> Option<Instant> {
        self.waiting.peek().map(|Reverse(answer)| answer.due)
    }

    /// Gives every answer whose instant has come.
    pub fn give_due(&mut self) {
        while let Some(due) = self.next_due() {
            let now = self.clock.now();
            if due > now {
                return;
            }
            self.give_next(now);
        }
    }

    /// Gives every answer now.
    pub fn give_all(&mut self) {
        while !self.waiting.is_empty() {
            self.give_next(self.clock.now());
        }
    }

    fn give_next(&mut self, now: Instant) {
        let Some(Reverse(answer)) = self.waiting.pop() else { return };
        // An answer that is due at the clock's zero was never to wait.
        if answer.due > Instant::ZERO {
            self.errors.note(answer.due, answer.ready, now);
        }
        self.give(answer.job, &answer.outcome);
    }

    /// Gives an answer that has no instant.
    pub fn give(&mut self, job: Job, outcome: &Outcome) {
        let Job { kind, range, reply, .. } = job;
        self.served.count(kind, range.length, outcome.is_err());
        let start = (range.offset % self.block).to_usize();
        let data = match outcome {
            Ok(Some(blocks)) if kind == OpKind::Read => Ok(&blocks[start..start + range.length.to_usize()]),
            Ok(_) => Ok(&[][..]),
            Err(errno) => Err(*errno),
        };
        reply.answer(data, range.length);
    }

    /// The account of all answers given.
    pub fn account(&self) -> Served {
        Served { error: self.errors.summary(), ..self.served }
    }
}
