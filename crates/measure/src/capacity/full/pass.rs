//! Sequential requests with several in flight.

use std::time::Duration;

use flashscope_device::{
    Buffer, ByteRange, Bytes, Capabilities, Device, DeviceError, DeviceExt, Instant, Op, OpKind, Pattern,
    ReadInto, RequestError, SECTOR, Success, Tag,
};
use flashscope_record::capacity::CapacityCost;
use flashscope_record::full_capacity::FullProgress;

use crate::contract::{Event, Observer};
use crate::limits::{ATTEMPTS, LARGE_REQUEST};

/// Requests in flight: the next is with the device while the data of another is made or checked.
const IN_FLIGHT_MAX: u32 = 4;
/// Failed requests in a row after which only the first request of each segment is tried. Guess: beyond the
/// real size every request may fail after seconds.
const FAILED_IN_A_ROW_MAX: u32 = 64;

/// The request size on this device.
pub fn request(capabilities: &Capabilities) -> Bytes {
    let unit = capabilities.logical_block.max(SECTOR);
    LARGE_REQUEST.min(capabilities.max_request).round_down(unit).max(unit)
}

/// The outcome of one request.
pub struct Done {
    /// Its range.
    pub range: ByteRange,
    /// What came of it.
    pub outcome: Result<Success, RequestError>,
}

/// The outcome of a segment.
pub struct SegmentDone {
    /// All requests, ascending.
    pub requests: Vec<Done>,
    /// Device time.
    pub time: Duration,
    /// Bytes of requests that succeeded.
    pub bytes: Bytes,
    /// Requests that failed once and worked when repeated.
    pub repeated: u64,
    /// The longest time between two completions.
    pub longest: Duration,
    /// Completions that took at least a second.
    pub slow: u64,
}

/// A completion after this time is slow. Guess: no stick needs it for 1 MiB unless it repeats reads itself.
const SLOW: Duration = Duration::from_secs(1);

/// The device, its observer and the cost.
pub struct Io<'a> {
    device: &'a mut dyn Device,
    observer: &'a mut dyn Observer,
    /// The stamps of the test.
    pub pattern: Pattern,
    /// The unit of addresses: one logical block.
    pub unit: Bytes,
    /// The size of requests.
    pub request: Bytes,
    in_flight_max: u32,
    started_at: Instant,
    cost: CapacityCost,
    time_before: Duration,
    writes: u64,
    failed_in_a_row: u32,
}

impl<'a> Io<'a> {
    /// Begins, or continues with the cost until now.
    pub fn begin(
        device: &'a mut dyn Device,
        progress: &FullProgress,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let capabilities = device.capabilities();
        Self {
            pattern: Pattern::new(progress.seed),
            unit: capabilities.logical_block.max(SECTOR),
            request: request(&capabilities),
            in_flight_max: capabilities.queue_depth.clamp(1, IN_FLIGHT_MAX),
            started_at: device.now(),
            device,
            observer,
            cost: progress.cost,
            time_before: progress.cost.device_time,
            writes: 0,
            failed_in_a_row: 0,
        }
    }

    /// The cost until now, earlier runs included.
    pub fn cost(&self) -> CapacityCost {
        CapacityCost { device_time: self.time_before + self.now().since(self.started_at), ..self.cost }
    }

    /// Device time.
    pub fn now(&self) -> Instant {
        self.device.now()
    }

    /// Tells the observer that it ended, after the requests in flight.
    pub fn end(&mut self) {
        while let Ok(Some(_)) = self.device.wait() {}
        self.observer.event(Event::End);
    }

    /// Makes everything durable. A device without flush has no write cache.
    pub fn flush(&mut self) -> Result<(), DeviceError> {
        self.device.run(Op::Flush)?;
        Ok(())
    }

    /// Makes one request. Whether it succeeded with the right data.
    pub fn is_right(&mut self, op: Op) -> Result<bool, DeviceError> {
        let range = op.range().unwrap_or(ByteRange::new(Bytes::ZERO, Bytes::ZERO));
        let kind = op.kind();
        let completion = self.device.run(op)?;
        self.count(kind, range.length);
        Ok(matches!(completion.outcome, Ok(Success::AllRight | Success::Done)))
    }

    /// Reads and checks a range against this pattern.
    pub fn check(&mut self, range: ByteRange, pattern: Pattern) -> Result<bool, DeviceError> {
        self.is_right(Op::Read { range, into: ReadInto::Check(pattern) })
    }

    /// Reads a range as bytes; `None` if that fails.
    pub fn read_bytes(&mut self, range: ByteRange) -> Result<Option<Buffer>, DeviceError> {
        let read = self.device.read_bytes(range)?.ok();
        self.count(OpKind::Read, range.length);
        Ok(read)
    }

    /// Makes all requests of a segment. Failed ones are repeated once. After too many failures in a row the
    /// rest of the segment counts as failed.
    pub fn segment(
        &mut self,
        segment: ByteRange,
        op: &dyn Fn(ByteRange) -> Op,
    ) -> Result<SegmentDone, DeviceError> {
        let ranges = self.split(segment);
        let mut done: Vec<Option<Result<Success, RequestError>>> = ranges.iter().map(|_| None).collect();
        let mut attempts = vec![0_u8; ranges.len()];
        let started_at = self.now();
        let mut total = SegmentDone {
            requests: Vec::new(),
            time: Duration::ZERO,
            bytes: Bytes::ZERO,
            repeated: 0,
            longest: Duration::ZERO,
            slow: 0,
        };
        let (mut next, mut in_flight, mut last) = (0, 0, started_at);
        let mut again: Vec<usize> = Vec::new();
        loop {
            while in_flight < self.in_flight_max {
                let may_begin = next < ranges.len() && (next == 0 || !self.is_hopeless());
                let Some(index) = again.pop().or_else(|| may_begin.then_some(next)) else { break };
                next = next.max(index + 1);
                attempts[index] += 1;
                self.device.submit(Tag(index as u64), op(ranges[index]))?;
                in_flight += 1;
                if self.is_hopeless() {
                    break;
                }
            }
            let Some(completion) = self.device.wait()? else { break };
            in_flight -= 1;
            let index = usize::try_from(completion.tag.0).unwrap_or_default();
            let range = ranges[index];
            let took = completion.completed_at.since(last);
            last = completion.completed_at.max(last);
            total.longest = total.longest.max(took);
            total.slow += u64::from(took >= SLOW);
            self.count(op(range).kind(), range.length);
            let is_error = completion.outcome.is_err();
            if is_error && u32::from(attempts[index]) < ATTEMPTS {
                again.push(index);
                continue;
            }
            self.failed_in_a_row = if is_error { self.failed_in_a_row + 1 } else { 0 };
            if !is_error {
                total.bytes += range.length;
                total.repeated += u64::from(attempts[index] > 1);
            }
            done[index] = Some(completion.outcome);
        }
        total.time = last.since(started_at);
        let kind = op(segment).kind();
        let untried = |range| RequestError::new(kind, Some(range), flashscope_device::FailureCause::Medium);
        let outcomes = ranges.into_iter().zip(done);
        total.requests = outcomes
            .map(|(range, outcome)| Done { range, outcome: outcome.unwrap_or_else(|| Err(untried(range))) })
            .collect();
        Ok(total)
    }

    /// Whether at least 64 requests failed in a row: trying each could take days.
    const fn is_hopeless(&self) -> bool {
        self.failed_in_a_row >= FAILED_IN_A_ROW_MAX
    }

    /// The requests of a range.
    pub fn split(&self, range: ByteRange) -> Vec<ByteRange> {
        let mut ranges = Vec::new();
        let mut at = range.offset;
        while at < range.end() {
            let length = (self.request - at % self.request).min(range.end() - at);
            ranges.push(ByteRange::new(at, length));
            at += length;
        }
        ranges
    }

    fn count(&mut self, kind: OpKind, length: Bytes) {
        self.cost.requests += 1;
        match kind {
            OpKind::Write => {
                self.cost.bytes_written += length;
                self.writes += 1;
            }
            _ => self.cost.bytes_read += length,
        }
        let requests = self.cost.requests;
        self.observer.event(Event::Progress {
            requests,
            writes: self.writes,
            bytes_written: self.cost.bytes_written,
            bytes_read: self.cost.bytes_read,
            device_time: self.cost().device_time,
        });
    }
}
