//! A run of an experiment on a device: makes requests, times, counts and reports them, and ends the run when
//! a limit is reached.

use std::time::Duration;

use flashscope_device::layer::{Budget, Cost, Meter};
use flashscope_device::{
    Buffer, ByteRange, Bytes, Capabilities, CheckReport, Completion, Device, DeviceError, DeviceExt,
    FailureCause, Instant, Op, OpKind, Pattern, ReadInto, RequestError, Success, Tag,
};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use flashscope_record::finding::WouldDecide;
use flashscope_record::observation::{
    Cause, Conditions, Data, Ended, Observations, ReadBack, Refusal, Source, StopReason,
};

use crate::contract::{Estimate, Event, Expected, Observer};
use crate::limits::{LARGE_REQUEST, TRIES};

/// No part of a device.
pub const NOTHING: ByteRange = ByteRange::new(Bytes::ZERO, Bytes::ZERO);

/// Failed requests in a row that end an experiment. A bad sector is tolerated, a dying device is left alone.
const ERRORS_MAX: u32 = 8;

/// Why no further request makes sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// One sentence.
    pub reason: StopReason,
    /// Its cause.
    pub cause: Cause,
}

impl From<DeviceError> for Stop {
    fn from(error: DeviceError) -> Self {
        Self { reason: StopReason::from(&error), cause: Cause::from(&error) }
    }
}

/// One run of an experiment on a device.
pub struct Session<'a> {
    device: Meter<&'a mut dyn Device>,
    observer: &'a mut dyn Observer,
    random: Xoshiro256PlusPlus,
    pattern: Pattern,
    sample: ByteRange,
    seed: u64,
    requests: u64,
    errors_in_a_row: u32,
    /// Where writes failed: nothing is expected there.
    not_written: Vec<ByteRange>,
    /// Whether others have written to the device since it was last asked.
    others_wrote: bool,
}

impl<'a> Session<'a> {
    /// Begins an experiment and tells the observer.
    pub fn begin(
        name: &str,
        estimate: Estimate,
        device: &'a mut dyn Device,
        budget: &Budget,
        observer: &'a mut dyn Observer,
        seed: u64,
    ) -> Self {
        observer.event(Event::Begin { name, estimate });
        Self {
            device: Meter::new(device, *budget),
            observer,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            pattern: Pattern::new(seed),
            sample: NOTHING,
            seed,
            requests: 0,
            errors_in_a_row: 0,
            not_written: Vec::new(),
            others_wrote: false,
        }
    }

    /// Reads `range` and returns the latency. `None` if the read failed.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn read(&mut self, range: ByteRange) -> Result<Option<Duration>, Stop> {
        self.run(Op::read(range))
    }

    /// Whether `range` holds only 0x00, or only 0xFF. `None` if the read failed.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn is_blank(&mut self, range: ByteRange) -> Result<Option<bool>, Stop> {
        Ok(self.blank_byte(range)?.map(|byte| byte.is_some()))
    }

    /// The byte that fills `range`, if it is 0x00 or 0xFF throughout. `None` if the read failed.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn blank_byte(&mut self, range: ByteRange) -> Result<Option<Option<u8>>, Stop> {
        let read = self.device.read_bytes(range)?;
        self.requests += 1;
        let bytes = read.inspect_err(|error| self.note_failure(error)).ok();
        let fills = |buffer: &Buffer, value: u8| buffer.iter().all(|byte| *byte == value);
        Ok(bytes.map(|buffer| [0x00, 0xFF].into_iter().find(|value| fills(&buffer, *value))))
    }

    /// Whether `range` holds data that this run wrote there, now or earlier. `None` if the read failed.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn is_kept(&mut self, range: ByteRange) -> Result<Option<bool>, Stop> {
        Ok(self.check(range)?.map(|found| !is_other_data(&found)))
    }

    /// Reads these ranges back, each of which this run wrote, until this time is spent. Data is lost if two
    /// reads find other data; a write that failed lost none. An error ends it: what was measured before keeps
    /// its meaning.
    pub fn read_back(
        &mut self,
        ranges: &[ByteRange],
        time_max: Duration,
        is_lost: impl Fn(&CheckReport) -> bool,
    ) -> Vec<Option<bool>> {
        let started = self.now();
        let mut lost = Vec::with_capacity(ranges.len());
        let mut wrong = Vec::new();
        for range in ranges {
            if self.now().since(started) >= time_max {
                break;
            }
            if self.not_written.iter().any(|failed| failed.overlaps(*range)) {
                lost.push(None);
                continue;
            }
            let Ok(report) = self.check(*range) else { break };
            let is_lost = report.as_ref().map(&is_lost);
            if is_lost == Some(true) {
                wrong.push(lost.len());
            }
            lost.push(is_lost);
        }
        for index in wrong {
            let (Some(range), Some(found)) = (ranges.get(index), lost.get_mut(index)) else { continue };
            match self.check(*range) {
                Ok(Some(report)) => *found = Some(is_lost(&report)),
                Ok(None) => {}
                Err(_) => break,
            }
        }
        lost
    }

    /// The sectors of `range` that do not hold what this run wrote there. `None` if the read failed.
    fn check(&mut self, range: ByteRange) -> Result<Option<CheckReport>, Stop> {
        let completion = self.complete(Op::Read { range, into: ReadInto::Check(self.pattern) })?;
        Ok(match completion.outcome {
            Ok(Success::Wrong(report)) => Some(*report),
            Ok(_) => Some(CheckReport::default()),
            Err(error) => {
                self.note_failure(&error);
                None
            }
        })
    }

    /// What this run reads back of what it writes from now on: [`NOTHING`] at first. A layer below may write
    /// other data elsewhere, see [`Payload::Pattern`](flashscope_device::Payload::Pattern).
    pub const fn reads_back(&mut self, sample: ByteRange) {
        self.sample = sample;
    }

    /// Writes fresh data to `range` and returns the latency. `None` if the write failed.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn write(&mut self, range: ByteRange) -> Result<Option<Duration>, Stop> {
        let write = self.op_to_write(range);
        self.run(write)
    }

    fn op_to_write(&mut self, range: ByteRange) -> Op {
        self.pattern = self.pattern.next_generation();
        Op::write_sampled(range, self.pattern, self.sample)
    }

    /// Flushes the device's write buffer and returns the latency. `None` if that failed. A device without
    /// flush is assumed to have no such buffer.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn flush(&mut self) -> Result<Option<Duration>, Stop> {
        let completion = self.complete(Op::Flush)?;
        match &completion.outcome {
            // A flush that succeeds does not reset the count of failed writes before it.
            Ok(_) => Ok(Some(completion.latency())),
            Err(error) if error.cause == FailureCause::Unsupported => Ok(Some(Duration::ZERO)),
            Err(_) => self.latency(&completion),
        }
    }

    /// Lets the device idle.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn pause(&mut self, duration: Duration) -> Result<(), Stop> {
        self.device.pause(duration)?;
        self.report();
        Ok(())
    }

    /// Writes like [`write`](Self::write), flushes, and returns the sum of both latencies: the time until the
    /// data is in flash. `None` if either failed.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn write_through(&mut self, range: ByteRange) -> Result<Option<Duration>, Stop> {
        let Some(latency) = self.write(range)? else { return Ok(None) };
        Ok(self.flush()?.map(|flushed| latency + flushed))
    }

    /// Submits a write of fresh data, without waiting for it.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn submit_write(&mut self, range: ByteRange) -> Result<(), Stop> {
        let write = self.op_to_write(range);
        debug_assert!(self.is_within(&write), "{write:?} reaches beyond the device");
        Ok(self.device.submit(Tag::default(), write)?)
    }

    /// Submits a read, without waiting for it.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn submit_read(&mut self, range: ByteRange) -> Result<(), Stop> {
        Ok(self.device.submit(Tag::default(), Op::read(range))?)
    }

    /// Waits for the next submitted request: its end, and its latency or `None` if it failed. `None` if none
    /// is in flight.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn wait(&mut self) -> Result<Option<(Instant, Option<Duration>)>, Stop> {
        let Some(completion) = self.device.wait()? else { return Ok(None) };
        self.others_wrote |= completion.others_wrote;
        self.count();
        Ok(Some((completion.completed_at, self.latency(&completion)?)))
    }

    /// Waits for all requests in flight and discards their results. Failed ones are reported.
    pub fn drain(&mut self) {
        while let Ok(Some(completion)) = self.device.wait() {
            self.others_wrote |= completion.others_wrote;
            if let Err(error) = &completion.outcome {
                self.note_failure(error);
            }
        }
    }

    /// Whether others have written to the device since the last call, as far as the device tells.
    pub const fn take_others_wrote(&mut self) -> bool {
        std::mem::replace(&mut self.others_wrote, false)
    }

    /// The device time that the budget leaves; `None` without a limit.
    pub fn time_left(&self) -> Option<Duration> {
        self.device.left().device_time
    }

    /// The device's own time.
    pub fn now(&self) -> Instant {
        self.device.now()
    }

    /// Makes a request and returns the latency. `None` if it failed.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn run(&mut self, op: Op) -> Result<Option<Duration>, Stop> {
        let completion = self.complete(op)?;
        self.latency(&completion)
    }

    /// Makes a request, counts and reports it.
    fn complete(&mut self, op: Op) -> Result<Completion, Stop> {
        debug_assert!(self.is_within(&op), "{op:?} reaches beyond the device");
        let completion = self.device.run(op)?;
        self.others_wrote |= completion.others_wrote;
        self.count();
        Ok(completion)
    }

    /// Whether the device has the range of this request. Else its failure would be blamed on the device.
    fn is_within(&self, op: &Op) -> bool {
        op.range().is_none_or(|range| self.device.capabilities().whole().contains(range))
    }

    /// Counts and reports a completed request.
    fn count(&mut self) {
        self.requests += 1;
        self.report();
    }

    /// Reports the requests and the time so far.
    fn report(&mut self) {
        let Cost { writes, bytes_written, bytes_read, device_time, .. } = self.device.cost();
        let requests = self.requests;
        self.observer.event(Event::Progress { requests, writes, bytes_written, bytes_read, device_time });
    }

    /// Tells the observer what the rest of the experiment is now expected to take.
    pub fn expect(&mut self, expected: Expected) {
        self.observer.event(Event::Expect { expected });
    }

    /// The latency of a request. `None` if it failed.
    fn latency(&mut self, completion: &Completion) -> Result<Option<Duration>, Stop> {
        match &completion.outcome {
            Ok(_) => {
                self.errors_in_a_row = 0;
                Ok(Some(completion.latency()))
            }
            Err(error) => {
                self.note_failure(error);
                self.errors_in_a_row += 1;
                if self.errors_in_a_row >= ERRORS_MAX {
                    let reason = StopReason::RequestsFailed { number: ERRORS_MAX, last: error.to_string() };
                    return Err(Stop { reason, cause: Cause::Device });
                }
                Ok(None)
            }
        }
    }

    /// Reports a failed request, also the last one before the experiment ends.
    fn note_failure(&mut self, error: &RequestError) {
        self.observer.event(Event::Remark { text: &error.to_string() });
        if error.kind == OpKind::Write {
            self.not_written.extend(error.range);
        }
    }

    /// The device time since the experiment began.
    pub fn device_time(&self) -> Duration {
        self.device.cost().device_time
    }

    /// The bytes written since then.
    pub fn bytes_written(&self) -> Bytes {
        self.device.cost().bytes_written
    }

    /// A uniform random number below `below`; 0 if `below` is 0.
    pub fn draw(&mut self, below: u64) -> u64 {
        // The bias of the multiply method is below 2^-40 for the small ranges used here.
        let product = u128::from(self.random.next_u64()) * u128::from(below);
        (product >> 64).try_into().unwrap_or(0)
    }

    /// Shuffles in place (Fisher and Yates; Knuth, TAOCP 2, 3.4.2, algorithm P).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = usize::try_from(self.draw(last as u64 + 1)).unwrap_or(0);
            items.swap(last, other);
        }
    }

    /// Ends the experiment and returns its observations.
    pub fn end(self, result: Result<(), Stop>, data: Data) -> Observations {
        self.observer.event(Event::End);
        let ended = match result {
            Ok(()) => Ended::Complete,
            Err(Stop { reason, cause }) => Ended::Early { reason, cause },
        };
        Observations { data, conditions: conditions(&self.device, self.seed), ended }
    }
}

/// Why an experiment cannot start, and what would let it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub reason: Refusal,
    /// What would let it start: any one of these.
    pub would_decide: Vec<WouldDecide>,
}

impl Refused {
    /// A refusal, and what would let the experiment start.
    pub fn new(reason: Refusal, would_decide: impl Into<Vec<WouldDecide>>) -> Self {
        Self { reason, would_decide: would_decide.into() }
    }
}

/// The capabilities of a writable device, or the reason why an experiment that writes cannot begin.
pub fn to_write(device: &dyn Device) -> Result<Capabilities, Refused> {
    let capabilities = device.capabilities();
    if capabilities.writable {
        return Ok(capabilities);
    }
    Err(Refused::new(Refusal::ReadOnly, [WouldDecide::WriteTests]))
}

/// The observations of an experiment that could not begin.
pub fn not_started(device: &dyn Device, seed: u64, data: Data, refused: Refused) -> Observations {
    let Refused { reason, would_decide } = refused;
    let ended = Ended::NotStarted { reason, would_decide };
    Observations { data, conditions: conditions(device, seed), ended }
}

/// The conditions of a measurement on the whole of `device`.
pub fn conditions(device: &dyn Device, seed: u64) -> Conditions {
    let capabilities = device.capabilities();
    Conditions {
        source: Source::Measured,
        capacity: Some(capabilities.capacity),
        region: Some(capabilities.whole()),
        is_in_file: false,
        seed,
    }
}

/// Writes the whole range sequentially. Whether that succeeded.
///
/// # Errors
/// [`Stop`] if no further request makes sense.
pub fn fill(session: &mut Session<'_>, whole: ByteRange) -> Result<bool, Stop> {
    let mut offset = whole.offset;
    let mut is_whole = true;
    while offset < whole.end() {
        let piece = range(offset, LARGE_REQUEST.min(whole.end() - offset));
        let mut is_written = false;
        for _ in 0..TRIES {
            is_written = session.write_through(piece)?.is_some();
            if is_written {
                break;
            }
        }
        is_whole &= is_written;
        offset = piece.end();
    }
    Ok(is_whole)
}

/// Whether a range holds other data than this run wrote there, now or earlier.
pub const fn is_other_data(found: &CheckReport) -> bool {
    found.misplaced + found.blank + found.corrupt > 0
}

/// Whether a range holds neither data that this run wrote there nor data it wrote elsewhere: the write was
/// dropped.
pub const fn is_dropped(found: &CheckReport) -> bool {
    found.misplaced == 0 && found.blank + found.corrupt > 0
}

/// At most this many of what was written is read back, and at most this long. Policy: a bad part of 3 % is
/// found, and a slow stick is not kept for longer than a row of requests.
pub const READ_BACK_PLACES: usize = 64;
/// The most time for reading back. Guess.
pub const READ_BACK_TIME_MAX: Duration = Duration::from_secs(10);

/// The sums of what was read back.
pub fn read_back_of(lost: &[Option<bool>]) -> ReadBack {
    let count = |wanted: fn(&bool) -> bool| {
        u32::try_from(lost.iter().flatten().filter(|lost| wanted(lost)).count()).unwrap_or(u32::MAX)
    };
    ReadBack { places: count(|_| true), lost: count(|lost| *lost) }
}

/// `length` bytes at `offset`.
pub const fn range(offset: Bytes, length: Bytes) -> ByteRange {
    ByteRange::new(offset, length)
}

#[cfg(test)]
mod tests {
    use flashscope_device::layer::{Faulty, Trace};
    use flashscope_device::memory::MemoryDevice;
    use flashscope_device::{OpKind, SECTOR};

    use super::*;
    use crate::contract::Silent;

    /// Fills 8 MiB on a device with this fault. Whether that succeeded, and the number of writes.
    fn filled(fault: &str) -> (bool, usize) {
        let faulty = Faulty::new(MemoryDevice::new(Bytes::mib(16)), &[fault.parse().unwrap()], 1).unwrap();
        let mut device = Trace::new(faulty);
        let estimate = Estimate { requests: 8, bytes_written: Bytes::mib(8), ..Estimate::default() };
        let (budget, mut observer) = (Budget::UNLIMITED, Silent);
        let mut session = Session::begin("test", estimate, &mut device, &budget, &mut observer, 1);
        let is_whole = fill(&mut session, range(SECTOR, Bytes::mib(8))).unwrap();
        (is_whole, device.records().iter().filter(|record| record.kind == OpKind::Write).count())
    }

    /// Counts the failed requests that are reported.
    #[derive(Default)]
    struct Failures(u64);

    impl Observer for Failures {
        fn event(&mut self, event: Event<'_>) {
            self.0 += u64::from(matches!(event, Event::Remark { .. }));
        }
    }

    #[test]
    fn every_failed_request_is_reported_also_the_one_that_ends_the_experiment() {
        let fault = "write-errors:share=1".parse().unwrap();
        let mut device = Faulty::new(MemoryDevice::new(Bytes::mib(16)), &[fault], 1).unwrap();
        let (estimate, mut failures) = (Estimate::default(), Failures::default());
        let mut session = Session::begin("test", estimate, &mut device, &Budget::UNLIMITED, &mut failures, 1);
        let written = range(Bytes::ZERO, Bytes::mib(1));
        let results: Vec<_> = (0..ERRORS_MAX).map(|_| session.write(written)).collect();
        assert!(results.last().unwrap().is_err(), "{results:?}");
        assert_eq!(failures.0, u64::from(ERRORS_MAX));
    }

    #[test]
    fn failed_checks_of_contents_are_reported() {
        let fault = "read-errors:share=1".parse().unwrap();
        let mut device = Faulty::new(MemoryDevice::new(Bytes::mib(16)), &[fault], 1).unwrap();
        let (estimate, mut failures) = (Estimate::default(), Failures::default());
        let mut session = Session::begin("test", estimate, &mut device, &Budget::UNLIMITED, &mut failures, 1);
        let read = range(Bytes::ZERO, Bytes::mib(1));
        assert_eq!(session.is_blank(read), Ok(None));
        assert_eq!(session.is_kept(read), Ok(None));
        assert_eq!(failures.0, 2);
    }

    #[test]
    fn fill_repeats_failed_writes() {
        let (is_whole, writes) = filled("write-errors:share=0.3");
        assert!(is_whole && writes > 8, "{writes}");
        assert!(!filled("write-errors:share=0.8").0);
    }

    /// Else a bad sector would pass for data that a counterfeit dropped.
    #[test]
    fn nothing_is_expected_where_a_write_failed() {
        let fault = "write-errors:share=1,range=2MiB+1MiB".parse().unwrap();
        let mut device = Faulty::new(MemoryDevice::new(Bytes::mib(16)), &[fault], 1).unwrap();
        let (estimate, mut observer) = (Estimate::default(), Silent);
        let mut session = Session::begin("test", estimate, &mut device, &Budget::UNLIMITED, &mut observer, 1);
        let [sound, failed] = [1, 2].map(|mib| range(Bytes::mib(mib), Bytes::kib(64)));
        assert!(session.write(sound).unwrap().is_some() && session.write(failed).unwrap().is_none());
        let lost = session.read_back(&[sound, failed], Duration::MAX, is_other_data);
        assert_eq!(lost, [Some(false), None]);
    }
}
