//! A virtual stick whose requests are delayed by a law.

use std::fmt::Debug;
use std::time::Duration;

use flashscope_device::{ByteRange, Capabilities, Completion, Device, DeviceError, Instant, Op, OpKind, Tag};
use flashscope_sim::VirtualStick;

/// A request as a law sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    pub(super) kind: OpKind,
    /// The range of a read, write or discard.
    pub(super) range: Option<ByteRange>,
    /// The time of a pause.
    pub(super) pause: Duration,
    /// Pages that the stick copied for it.
    pub(super) pages_copied: u64,
    /// Erase blocks that the stick erased for it.
    pub(super) erases: u64,
}

impl Request {
    /// A request without a range that the stick serves without copies.
    #[cfg(test)]
    pub(super) const fn of(kind: OpKind) -> Self {
        Self { kind, range: None, pause: Duration::ZERO, pages_copied: 0, erases: 0 }
    }

    /// The range of a write.
    pub(super) fn written(&self) -> Option<ByteRange> {
        self.range.filter(|_| self.kind == OpKind::Write)
    }
}

/// A law that delays requests.
pub(super) trait Delay: CloneDelay + Debug + Send + Sync + 'static {
    /// The time that this request takes in addition.
    fn delay(&mut self, request: &Request) -> Duration;

    /// Its parameters, for people.
    fn describe(&self) -> String;
}

/// Copies of a law whose type is not known. Every law that can be cloned has them.
pub(super) trait CloneDelay {
    /// A copy with the same state.
    fn clone_delay(&self) -> Box<dyn Delay>;
}

impl<Law: Delay + Clone> CloneDelay for Law {
    fn clone_delay(&self) -> Box<dyn Delay> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Delay> {
    fn clone(&self) -> Self {
        (**self).clone_delay()
    }
}

/// A stick with a law. Its requests must complete in order of submission.
#[derive(Debug)]
pub(super) struct Delayed {
    stick: VirtualStick,
    delay: Box<dyn Delay>,
    /// The sum of all delays.
    delayed: Duration,
    in_flight: Vec<(Tag, Instant, Duration)>,
}

impl Delayed {
    pub(super) const fn new(stick: VirtualStick, delay: Box<dyn Delay>) -> Self {
        Self { stick, delay, delayed: Duration::ZERO, in_flight: Vec::new() }
    }
}

impl Device for Delayed {
    fn capabilities(&self) -> Capabilities {
        self.stick.capabilities()
    }

    fn now(&self) -> Instant {
        self.stick.now() + self.delayed
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        let (kind, range) = (op.kind(), op.range());
        let pause = if let Op::Pause { duration } = op { duration } else { Duration::ZERO };
        let (before, submitted_at) = (self.stick.statistics(), self.now());
        self.stick.submit(tag, op)?;
        let after = self.stick.statistics();
        let delay = self.delay.delay(&Request {
            kind,
            range,
            pause,
            pages_copied: after.pages_copied - before.pages_copied,
            erases: after.erases - before.erases,
        });
        self.in_flight.push((tag, submitted_at, delay));
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        let Some(mut completion) = self.stick.wait()? else { return Ok(None) };
        let index = self.in_flight.iter().position(|(tag, ..)| *tag == completion.tag);
        if let Some((_, submitted_at, delay)) = index.map(|index| self.in_flight.remove(index)) {
            self.delayed += delay;
            completion.submitted_at = submitted_at;
            completion.completed_at = self.now();
        }
        Ok(Some(completion))
    }
}
