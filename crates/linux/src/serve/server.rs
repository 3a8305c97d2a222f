//! The thread that owns the device: takes requests as they arrive, and answers each at its completion instant.

use std::collections::VecDeque;
use std::sync::mpsc::Receiver;

use flashscope_device::{
    Buffer, ByteRange, Bytes, Completion, Device, DeviceError, DeviceExt, Instant, Op, Payload, ReadInto, Tag,
};
use rustix::io::Errno;

use super::answers::{Answers, Job, Outcome};
use super::ledger::Served;
use super::overhead::{Overhead, Watch};
use super::request::{Ask, Message, Request, errno_of};
use super::timing::{Pace, PunctualWait, Timetable, Woken};
use crate::clock::Clock;

/// A device that is being served.
#[derive(Debug)]
pub struct Server<D> {
    device: D,
    block: Bytes,
    clock: Clock,
    timetable: Timetable,
    overhead: Overhead,
    watch: Watch,
    arrived: VecDeque<Request>,
    in_flight: Vec<Option<Job>>,
    flying: usize,
    answers: Answers,
    failure: Option<DeviceError>,
}

/// What is left when serving has ended.
#[derive(Debug)]
pub struct Ended<D> {
    /// The device.
    pub device: D,
    /// What was served.
    pub served: Served,
    /// Why the device took no more requests, if it did not.
    pub failure: Option<DeviceError>,
}

impl<D: Device> Server<D> {
    /// Serves `device` by this clock.
    pub fn new(device: D, pace: Pace, clock: Clock) -> Self {
        let capabilities = device.capabilities();
        let depth = capabilities.queue_depth.max(1) as usize;
        Self {
            timetable: Timetable::new(pace, device.now(), clock.now()),
            device,
            block: capabilities.logical_block,
            clock,
            overhead: Overhead::default(),
            watch: Watch::default(),
            arrived: VecDeque::with_capacity(depth),
            in_flight: std::iter::repeat_with(|| None).take(depth).collect(),
            flying: 0,
            answers: Answers::new(clock, capabilities.logical_block),
            failure: None,
        }
    }

    /// Serves until told to stop, or until nobody can ask any more.
    pub fn run(mut self, messages: &Receiver<Message>) -> Ended<D> {
        let mut wait = PunctualWait::new(self.clock);
        while let Some(message) = self.next_message(&mut wait, messages) {
            if !self.take(message) || !messages.try_iter().all(|message| self.take(message)) {
                break;
            }
        }
        self.answers.give_all();
        self.refuse_the_rest();
        Ended { served: self.answers.account(), device: self.device, failure: self.failure }
    }

    /// Works and answers until a message comes; `None` if none can come any more.
    fn next_message(&mut self, wait: &mut PunctualWait, messages: &Receiver<Message>) -> Option<Message> {
        loop {
            self.answers.give_due();
            if self.is_device_free() && self.advance() {
                match messages.try_recv() {
                    Ok(message) => return Some(message),
                    Err(_) => continue,
                }
            }
            let Some(due) = self.answers.next_due() else { return messages.recv().ok() };
            match wait.until(due, messages) {
                Woken::By(message) => return Some(message),
                Woken::OnTime => {}
                Woken::Alone => return None,
            }
        }
    }

    /// False for the message to stop.
    fn take(&mut self, message: Message) -> bool {
        match message {
            Message::Request(request) => {
                let request = self.without_overhead(request);
                self.arrived.push_back(request);
            }
            Message::Calibration(request) => self.answer_without_device(request),
            Message::Learn(sample) => self.watch.learn(sample, &mut self.overhead),
            Message::Stop => return false,
        }
        true
    }

    /// As if the host cost nothing: by what it costs on the way here and back, the request came earlier.
    fn without_overhead(&self, request: Request) -> Request {
        let cost = self.overhead.of(request.ask.kind(), request.ask.range().length);
        let arrived_at = Instant::ZERO + request.arrived_at.since(Instant::ZERO + cost);
        Request { arrived_at, ..request }
    }

    fn answer_without_device(&mut self, request: Request) {
        self.watch.asked(request.arrived_at);
        let length = request.ask.range().length;
        let zeros = Buffer::zeroed(length);
        self.watch.answered(self.clock.now());
        request.reply.answer(Ok(&zeros), length);
    }

    /// The device can go on: the host's clock has reached the instant that the device's shows. What arrives until then can
    /// still join its queue.
    fn is_device_free(&self) -> bool {
        self.timetable.host_time(self.device.now()) <= self.clock.now()
    }

    /// Brings the device to its next completion. False if there is nothing to do.
    fn advance(&mut self) -> bool {
        if self.failure.is_some() {
            self.refuse_the_rest();
            return false;
        }
        match self.submit_what_fits().and_then(|()| self.device.wait()) {
            Ok(Some(completion)) => self.complete(completion),
            Ok(None) => return false,
            Err(failure) => self.failure = Some(failure),
        }
        true
    }

    fn submit_what_fits(&mut self) -> Result<(), DeviceError> {
        while self.flying < self.in_flight.len() {
            let Some(request) = self.arrived.pop_front() else { break };
            if self.flying > 0 && self.is_partial_write(&request.ask) {
                // It reads, changes and writes its blocks, and nothing may come between.
                self.arrived.push_front(request);
                break;
            }
            if self.flying == 0
                && let Err(failure) = self.idle_until(request.arrived_at)
            {
                self.arrived.push_front(request);
                return Err(failure);
            }
            self.submit(request)?;
        }
        Ok(())
    }

    /// The device has had nothing to do since its last completion; its background work goes on all the same.
    fn idle_until(&mut self, host: Instant) -> Result<(), DeviceError> {
        let Some(until) = self.timetable.device_time(host) else { return Ok(()) };
        let idle = until.since(self.device.now());
        if idle.is_zero() { Ok(()) } else { self.device.pause(idle) }
    }

    fn submit(&mut self, request: Request) -> Result<(), DeviceError> {
        let Request { ask, reply, .. } = request;
        let then_flush = matches!(ask, Ask::Write { then_flush: true, .. });
        let job = Job { kind: ask.kind(), range: ask.range(), then_flush, reply };
        match self.op(ask) {
            Ok(Ok(op)) => return self.fly(job, op),
            Ok(Err(errno)) => self.finish(job, Err(errno), self.device.now()),
            Err(failure) => {
                self.answers.give(job, &Err(Errno::IO));
                return Err(failure);
            }
        }
        Ok(())
    }

    /// The request in whole blocks. What a partial write leaves as it was is read first.
    fn op(&mut self, ask: Ask) -> Result<Result<Op, Errno>, DeviceError> {
        let range = self.blocks_around(ask.range());
        Ok(Ok(match ask {
            Ask::Read(_) => Op::Read { range, into: ReadInto::Bytes(Buffer::zeroed(range.length)) },
            Ask::Flush => Op::Flush,
            Ask::Discard(range) => Op::Discard { range },
            Ask::Write { offset, data, .. } if range.length != data.length() => {
                let mut whole = match self.device.read_bytes(range)? {
                    Ok(whole) => whole,
                    Err(error) => return Ok(Err(errno_of(error.cause))),
                };
                let start = (offset - range.offset).to_usize();
                whole[start..start + data.len()].copy_from_slice(&data);
                Op::Write { range, payload: Payload::Bytes(whole) }
            }
            Ask::Write { data, .. } => Op::Write { range, payload: Payload::Bytes(data) },
        }))
    }

    fn fly(&mut self, job: Job, op: Op) -> Result<(), DeviceError> {
        let slot = self.in_flight.iter().position(Option::is_none).unwrap_or_default();
        self.in_flight[slot] = Some(job);
        self.flying += 1;
        self.device.submit(Tag(slot as u64), op)
    }

    fn complete(&mut self, completion: Completion) {
        let slot = Bytes::new(completion.tag.0).to_usize();
        let Some(job) = self.in_flight.get_mut(slot).and_then(Option::take) else { return };
        self.flying -= 1;
        let outcome = completion.outcome.map_err(|error| errno_of(error.cause));
        if job.then_flush && outcome.is_ok() {
            self.failure = self.fly(Job { then_flush: false, ..job }, Op::Flush).err();
            return;
        }
        self.finish(job, outcome.map(|_| completion.buffer), completion.completed_at);
    }

    fn finish(&mut self, job: Job, outcome: Outcome, completed_at: Instant) {
        self.answers.keep(job, outcome, self.timetable.host_time(completed_at));
    }

    /// The device is gone, or serving ends: nobody is to wait for ever.
    fn refuse_the_rest(&mut self) {
        let refused = Err(Errno::IO);
        for job in self.in_flight.iter_mut().filter_map(Option::take) {
            self.answers.give(job, &refused);
        }
        self.flying = 0;
        for Request { ask, reply, .. } in self.arrived.drain(..) {
            let job = Job { kind: ask.kind(), range: ask.range(), then_flush: false, reply };
            self.answers.give(job, &refused);
        }
    }

    /// The whole blocks that a range lies in.
    fn blocks_around(&self, range: ByteRange) -> ByteRange {
        let offset = range.offset.round_down(self.block);
        ByteRange::new(offset, range.end().round_up(self.block) - offset)
    }

    fn is_partial_write(&self, ask: &Ask) -> bool {
        matches!(ask, Ask::Write { .. }) && self.blocks_around(ask.range()) != ask.range()
    }
}

#[cfg(test)]
mod tests;
