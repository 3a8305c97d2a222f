//! The thread that owns the device: takes requests as they arrive, and replies to each at its completion
//! instant.

use std::collections::VecDeque;
use std::sync::mpsc::Receiver;

use flashscope_device::{
    Buffer, ByteRange, Bytes, Completion, Device, DeviceError, DeviceExt, Instant, Op, Payload, ReadInto, Tag,
};
use rustix::io::Errno;

use super::overhead::{GapMeter, Overhead};
use super::reply_queue::{Job, Outcome, ReplyQueue};
use super::request::{Message, Operation, Request, errno_of};
use super::statistics::ServeStatistics;
use super::timing::{ClockMapping, PreciseWait, ServeSpeed, WaitEnd};
use crate::clock::Clock;

/// A device that is being served.
#[derive(Debug)]
pub struct Server<D> {
    device: D,
    block: Bytes,
    clock: Clock,
    clock_mapping: ClockMapping,
    overhead: Overhead,
    gap_meter: GapMeter,
    arrived: VecDeque<Request>,
    in_flight: Vec<Option<Job>>,
    in_flight_count: usize,
    replies: ReplyQueue,
    failure: Option<DeviceError>,
}

/// The state after serving has ended.
#[derive(Debug)]
pub struct Ended<D> {
    /// The device.
    pub device: D,
    /// The statistics.
    pub statistics: ServeStatistics,
    /// The error after which the device took no more requests.
    pub failure: Option<DeviceError>,
}

impl<D: Device> Server<D> {
    /// A server for `device` with this clock.
    pub fn new(device: D, speed: ServeSpeed, clock: Clock) -> Self {
        let capabilities = device.capabilities();
        let depth = capabilities.queue_depth.max(1) as usize;
        Self {
            clock_mapping: ClockMapping::new(speed, device.now(), clock.now()),
            device,
            block: capabilities.logical_block,
            clock,
            overhead: Overhead::default(),
            gap_meter: GapMeter::default(),
            arrived: VecDeque::with_capacity(depth),
            in_flight: std::iter::repeat_with(|| None).take(depth).collect(),
            in_flight_count: 0,
            replies: ReplyQueue::new(clock, capabilities.logical_block),
            failure: None,
        }
    }

    /// Serves until the message to stop, or until all senders are gone.
    pub fn run(mut self, messages: &Receiver<Message>) -> Ended<D> {
        let mut wait = PreciseWait::new(self.clock);
        while let Some(message) = self.next_message(&mut wait, messages) {
            if !self.take(message) || !messages.try_iter().all(|message| self.take(message)) {
                break;
            }
        }
        self.replies.send_all();
        self.refuse_remaining();
        Ended { statistics: self.replies.statistics(), device: self.device, failure: self.failure }
    }

    /// Works and replies until a message arrives; `None` if all senders are gone.
    fn next_message(&mut self, wait: &mut PreciseWait, messages: &Receiver<Message>) -> Option<Message> {
        loop {
            self.replies.send_due();
            if self.is_device_free() && self.advance() {
                match messages.try_recv() {
                    Ok(message) => return Some(message),
                    Err(_) => continue,
                }
            }
            let Some(due) = self.replies.next_due() else { return messages.recv().ok() };
            match wait.until(due, messages) {
                WaitEnd::Arrival(message) => return Some(message),
                WaitEnd::OnTime => {}
                WaitEnd::Disconnected => return None,
            }
        }
    }

    /// Handles a message. False for the message to stop.
    fn take(&mut self, message: Message) -> bool {
        match message {
            Message::Request(request) => {
                let request = self.subtract_overhead(request);
                self.arrived.push_back(request);
            }
            Message::Calibration(request) => self.reply_to_calibration(request),
            Message::CalibrationDone(sample) => self.gap_meter.learn(sample, &mut self.overhead),
            Message::Stop => return false,
        }
        true
    }

    /// Moves the arrival earlier by the host's overhead, as if the host cost nothing.
    fn subtract_overhead(&self, request: Request) -> Request {
        let cost = self.overhead.of(request.operation.kind(), request.operation.range().length);
        let arrived_at = Instant::ZERO + request.arrived_at.since(Instant::ZERO + cost);
        Request { arrived_at, ..request }
    }

    fn reply_to_calibration(&mut self, request: Request) {
        self.gap_meter.request_arrived(request.arrived_at);
        let length = request.operation.range().length;
        let zeros = Buffer::zeroed(length);
        self.gap_meter.reply_sent(self.clock.now());
        request.reply.send(Ok(&zeros), length);
    }

    /// Whether the host's clock has reached the instant that the device's clock shows. Until then, arriving
    /// requests can still join the device's queue.
    fn is_device_free(&self) -> bool {
        self.clock_mapping.host_time(self.device.now()) <= self.clock.now()
    }

    /// Advances the device to its next completion. False if there is nothing to do.
    fn advance(&mut self) -> bool {
        if self.failure.is_some() {
            self.refuse_remaining();
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
        while self.in_flight_count < self.in_flight.len() {
            let Some(request) = self.arrived.pop_front() else { break };
            if self.in_flight_count > 0 && self.is_partial_write(&request.operation) {
                // A partial write reads, modifies and writes its blocks, so no other request may run in
                // between.
                self.arrived.push_front(request);
                break;
            }
            if self.in_flight_count == 0
                && let Err(failure) = self.idle_until(request.arrived_at)
            {
                self.arrived.push_front(request);
                return Err(failure);
            }
            self.submit(request)?;
        }
        Ok(())
    }

    /// Lets the device idle until `host`, for its background work.
    fn idle_until(&mut self, host: Instant) -> Result<(), DeviceError> {
        let Some(until) = self.clock_mapping.device_time(host) else { return Ok(()) };
        let idle = until.since(self.device.now());
        if idle.is_zero() { Ok(()) } else { self.device.pause(idle) }
    }

    fn submit(&mut self, request: Request) -> Result<(), DeviceError> {
        let Request { operation, reply, .. } = request;
        let flush_after = matches!(operation, Operation::Write { flush_after: true, .. });
        let job = Job { kind: operation.kind(), range: operation.range(), flush_after, reply };
        match self.op(operation) {
            Ok(Ok(op)) => return self.submit_job(job, op),
            Ok(Err(errno)) => self.finish(job, Err(errno), self.device.now()),
            Err(failure) => {
                self.replies.send(job, &Err(Errno::IO));
                return Err(failure);
            }
        }
        Ok(())
    }

    /// The operation in whole blocks. A partial write first reads the bytes it keeps.
    fn op(&mut self, operation: Operation) -> Result<Result<Op, Errno>, DeviceError> {
        let range = self.blocks_around(operation.range());
        Ok(Ok(match operation {
            Operation::Read(_) => Op::Read { range, into: ReadInto::Bytes(Buffer::zeroed(range.length)) },
            Operation::Flush => Op::Flush,
            Operation::Discard(range) => Op::Discard { range },
            Operation::Write { offset, data, .. } if range.length != data.length() => {
                let mut whole = match self.device.read_bytes(range)? {
                    Ok(whole) => whole,
                    Err(error) => return Ok(Err(errno_of(error.cause))),
                };
                let start = (offset - range.offset).to_usize();
                whole[start..start + data.len()].copy_from_slice(&data);
                Op::Write { range, payload: Payload::Bytes(whole) }
            }
            Operation::Write { data, .. } => Op::Write { range, payload: Payload::Bytes(data) },
        }))
    }

    fn submit_job(&mut self, job: Job, op: Op) -> Result<(), DeviceError> {
        let slot = self.in_flight.iter().position(Option::is_none).unwrap_or_default();
        self.in_flight[slot] = Some(job);
        self.in_flight_count += 1;
        self.device.submit(Tag(slot as u64), op)
    }

    fn complete(&mut self, completion: Completion) {
        let slot = Bytes::new(completion.tag.0).to_usize();
        let Some(job) = self.in_flight.get_mut(slot).and_then(Option::take) else { return };
        self.in_flight_count -= 1;
        let outcome = completion.outcome.map_err(|error| errno_of(error.cause));
        if job.flush_after && outcome.is_ok() {
            self.failure = self.submit_job(Job { flush_after: false, ..job }, Op::Flush).err();
            return;
        }
        self.finish(job, outcome.map(|_| completion.buffer), completion.completed_at);
    }

    fn finish(&mut self, job: Job, outcome: Outcome, completed_at: Instant) {
        self.replies.push(job, outcome, self.clock_mapping.host_time(completed_at));
    }

    /// Refuses all remaining requests, because the device is gone or serving ends.
    fn refuse_remaining(&mut self) {
        let refused = Err(Errno::IO);
        for job in self.in_flight.iter_mut().filter_map(Option::take) {
            self.replies.send(job, &refused);
        }
        self.in_flight_count = 0;
        for Request { operation, reply, .. } in self.arrived.drain(..) {
            let job = Job { kind: operation.kind(), range: operation.range(), flush_after: false, reply };
            self.replies.send(job, &refused);
        }
    }

    /// The whole blocks around a range.
    fn blocks_around(&self, range: ByteRange) -> ByteRange {
        let offset = range.offset.round_down(self.block);
        ByteRange::new(offset, range.end().round_up(self.block) - offset)
    }

    fn is_partial_write(&self, operation: &Operation) -> bool {
        matches!(operation, Operation::Write { .. })
            && self.blocks_around(operation.range()) != operation.range()
    }
}

#[cfg(test)]
mod tests;
