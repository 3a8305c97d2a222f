//! What every experiment does alike: one request at a time, timed, counted, reported, and stopped when it must.

use std::time::Duration;

use flashscope_device::layer::{Budget, Cost, Meter};
use flashscope_device::{
    Buffer, ByteRange, Bytes, Capabilities, CheckReport, Completion, Device, DeviceError, DeviceExt,
    FailureCause, Instant, Op, Pattern, ReadInto, Success, Tag,
};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use flashscope_record::finding::WouldDecide;
use flashscope_record::observation::{
    Cause, Conditions, Data, Ended, Observations, Refusal, Source, StopReason,
};

use crate::contract::{Estimate, Event, Observer};

/// How many failed requests in a row end an experiment: a bad sector is worked around, a dying device is left alone.
const ERRORS_MAX: u32 = 8;

/// Why no further request makes sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// What ended it.
    pub reason: StopReason,
    /// The kind of cause.
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
    seed: u64,
    requests: u64,
    errors_in_a_row: u32,
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
            seed,
            requests: 0,
            errors_in_a_row: 0,
        }
    }

    /// Reads `range` and returns how long it took; `None` if this read failed.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn read(&mut self, range: ByteRange) -> Result<Option<Duration>, Stop> {
        self.run(Op::read(range))
    }

    /// Whether `range` holds nothing but 0x00, or nothing but 0xFF; `None` if it could not be read.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn is_blank(&mut self, range: ByteRange) -> Result<Option<bool>, Stop> {
        let bytes = self.device.read_bytes(range)?.ok();
        self.requests += 1;
        let all = |buffer: &Buffer, value: u8| buffer.iter().all(|byte| *byte == value);
        Ok(bytes.map(|buffer| all(&buffer, 0) || all(&buffer, 0xFF)))
    }

    /// Whether `range` holds what this run wrote there, now or earlier; `None` if it could not be read.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn is_kept(&mut self, range: ByteRange) -> Result<Option<bool>, Stop> {
        Ok(self.check(range)?.map(|wrong| wrong.misplaced + wrong.blank + wrong.corrupt == 0))
    }

    /// Whether `range` holds neither what this run wrote there nor what it wrote elsewhere: nothing was written at all. `None` if it could not
    /// be read.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn is_dropped(&mut self, range: ByteRange) -> Result<Option<bool>, Stop> {
        Ok(self.check(range)?.map(|wrong| wrong.misplaced == 0 && wrong.blank + wrong.corrupt > 0))
    }

    /// How much of `range` holds something else than what this run wrote there; `None` if it could not be read.
    fn check(&mut self, range: ByteRange) -> Result<Option<CheckReport>, Stop> {
        let completion = self.complete(Op::Read { range, into: ReadInto::Check(self.pattern) })?;
        Ok(match completion.outcome {
            Ok(Success::Wrong(report)) => Some(*report),
            Ok(_) => Some(CheckReport::default()),
            Err(_) => None,
        })
    }

    /// Writes fresh data to `range` and returns how long it took; `None` if this write failed.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn write(&mut self, range: ByteRange) -> Result<Option<Duration>, Stop> {
        self.pattern = self.pattern.next_generation();
        self.run(Op::write(range, self.pattern))
    }

    /// Waits until the device holds nothing in memory only, and returns how long that took; `None` if it failed. A device that
    /// cannot flush is taken to have no such memory.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn flush(&mut self) -> Result<Option<Duration>, Stop> {
        let completion = self.complete(Op::Flush)?;
        match &completion.outcome {
            // That nothing was left to be written does not make up for the writes before it that failed.
            Ok(_) => Ok(Some(completion.latency())),
            Err(error) if error.cause == FailureCause::Unsupported => Ok(Some(Duration::ZERO)),
            Err(_) => self.latency(&completion),
        }
    }

    /// Asks for nothing for a while.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn pause(&mut self, duration: Duration) -> Result<(), Stop> {
        Ok(self.device.pause(duration)?)
    }

    /// Writes like [`write`](Self::write) and flushes: the time until the data is in the flash, whatever a buffer holds back;
    /// `None` if either failed.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn write_through(&mut self, range: ByteRange) -> Result<Option<Duration>, Stop> {
        let Some(latency) = self.write(range)? else { return Ok(None) };
        Ok(self.flush()?.map(|flushed| latency + flushed))
    }

    /// Hands in a write of fresh data, without waiting for it.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn submit_write(&mut self, range: ByteRange) -> Result<(), Stop> {
        self.pattern = self.pattern.next_generation();
        Ok(self.device.submit(Tag::default(), Op::write(range, self.pattern))?)
    }

    /// Hands in a read, without waiting for it.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn submit_read(&mut self, range: ByteRange) -> Result<(), Stop> {
        Ok(self.device.submit(Tag::default(), Op::read(range))?)
    }

    /// Waits for the next of the requests that were handed in: when it ended, and how long it took or `None` if it failed;
    /// `None` if none is in flight.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn wait(&mut self) -> Result<Option<(Instant, Option<Duration>)>, Stop> {
        let Some(completion) = self.device.wait()? else { return Ok(None) };
        self.count();
        Ok(Some((completion.completed_at, self.latency(&completion)?)))
    }

    /// Lets what is in flight end, and forgets it.
    pub fn drain(&mut self) {
        while let Ok(Some(_)) = self.device.wait() {}
    }

    /// The device's own time.
    pub fn now(&self) -> Instant {
        self.device.now()
    }

    fn run(&mut self, op: Op) -> Result<Option<Duration>, Stop> {
        let completion = self.complete(op)?;
        self.latency(&completion)
    }

    /// Makes a request, counts it and reports it.
    fn complete(&mut self, op: Op) -> Result<Completion, Stop> {
        let completion = self.device.run(op)?;
        self.count();
        Ok(completion)
    }

    /// Counts and reports a request that is complete.
    fn count(&mut self) {
        self.requests += 1;
        let Cost { writes, device_time, .. } = self.device.cost();
        self.observer.event(Event::Progress { requests: self.requests, writes, device_time });
    }

    /// How long a request took; `None` if it failed.
    fn latency(&mut self, completion: &Completion) -> Result<Option<Duration>, Stop> {
        match &completion.outcome {
            Ok(_) => {
                self.errors_in_a_row = 0;
                Ok(Some(completion.latency()))
            }
            Err(error) => {
                self.errors_in_a_row += 1;
                if self.errors_in_a_row >= ERRORS_MAX {
                    let reason = StopReason::RequestsFailed { number: ERRORS_MAX, last: error.to_string() };
                    return Err(Stop { reason, cause: Cause::Device });
                }
                self.observer.event(Event::Remark { text: &error.to_string() });
                Ok(None)
            }
        }
    }

    /// The device time since the experiment began.
    pub fn device_time(&self) -> Duration {
        self.device.cost().device_time
    }

    /// What was written since then.
    pub fn bytes_written(&self) -> Bytes {
        self.device.cost().bytes_written
    }

    /// A number from 0 to `below` - 1, each as likely; 0 if `below` is 0.
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

    /// Ends the experiment: what it saw, its conditions, and how it ended.
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

/// The capabilities of a device that may be written.
///
/// # Errors
/// Why an experiment that writes cannot start.
pub fn to_write(device: &dyn Device) -> Result<Capabilities, Refused> {
    let capabilities = device.capabilities();
    if capabilities.writable {
        return Ok(capabilities);
    }
    Err(Refused::new(Refusal::ReadOnly, [WouldDecide::WriteTests]))
}

/// What an experiment returns that could not start, and why.
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
        seed,
    }
}

/// Blocks are written to their ends in pieces of this size.
pub const PIECE: Bytes = Bytes::mib(1);

/// So often a piece is written as long as that fails.
const TRIES: u32 = 3;

/// Writes all of `range` in order; whether that succeeded.
///
/// # Errors
/// [`Stop`] if no further request makes sense.
pub fn fill(session: &mut Session<'_>, whole: ByteRange) -> Result<bool, Stop> {
    let mut offset = whole.offset;
    let mut is_whole = true;
    while offset < whole.end() {
        let piece = range(offset, PIECE.min(whole.end() - offset));
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

    /// Whether 8 MiB were written whole on a device with this fault, and how many writes that took.
    fn filled(fault: &str) -> (bool, usize) {
        let faulty = Faulty::new(MemoryDevice::new(Bytes::mib(16)), &[fault.parse().unwrap()], 1).unwrap();
        let mut device = Trace::new(faulty);
        let estimate = Estimate { requests: 8, bytes_written: Bytes::mib(8) };
        let (budget, mut observer) = (Budget::UNLIMITED, Silent);
        let mut session = Session::begin("test", estimate, &mut device, &budget, &mut observer, 1);
        let is_whole = fill(&mut session, range(SECTOR, Bytes::mib(8))).unwrap();
        (is_whole, device.records().iter().filter(|record| record.kind == OpKind::Write).count())
    }

    #[test]
    fn a_piece_that_failed_is_written_again() {
        let (is_whole, writes) = filled("write-errors:share=0.3");
        assert!(is_whole && writes > 8, "{writes}");
        assert!(!filled("write-errors:share=0.8").0);
    }
}
