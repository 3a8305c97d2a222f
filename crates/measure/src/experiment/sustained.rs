//! *sustained*: the write throughput once caches are exhausted, and the bytes that are written faster before.
//!
//! Large sequential writes. The end of a cache in front of the dense cells shows as a slow-down. The
//! throughput after it is the sustained one. The stream ends once that throughput is known well, or no cache
//! can be so large. See docs/methods/sustained.md.

use flashscope_record::finding::{Quantity, WouldDecide};
use std::collections::VecDeque;
use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{ByteRange, Bytes, Device};

use flashscope_infer::streams::stalls::brief;
use flashscope_infer::streams::sustained::{Fill, cache_max};
use flashscope_infer::thresholds::SEVERAL;
use flashscope_record::finding::FindingId;
use flashscope_record::observation::{
    Data, LONG_WRITES_MAX, LongWrite, Observations, OtherWrites, Piece, Refusal, Resumed, Room, SustainedData,
};

use crate::contract::{Estimate, Expected, Experiment, Extent, Observer};
use crate::experiment::erase_blocks::START;
use crate::experiment::registration::{Access, Registration};
use crate::limits::{LARGE_REQUEST, SMALL_REQUEST};
use crate::session::{
    NOTHING, READ_BACK_PLACES, READ_BACK_TIME_MAX, Refused, Session, Stop, is_other_data, not_started, range,
    read_back_of, to_write,
};

/// From the place that is read back in one write to that in the next, in places. It is odd, so every place
/// comes up.
const PLACE_STEP: u64 = 97;
/// The smallest length of a stream. Guess: a shorter one shows nothing sustained.
const LENGTH_MIN: Bytes = Bytes::mib(8);
/// A piece is a 64th of the bytes written before it: the end of a cache is known to that precision.
const PIECE_SHARE: u64 = 64;
/// Small devices are overwritten up to four times, until this much is written: only then the cost of garbage
/// collection shows.
const LENGTH_ENOUGH: Bytes = Bytes::gib(2);
/// A write is recorded individually if it takes three times as long as the median of the 32 before it.
const LONG_RATIO: u32 = 3;
const MEDIAN_OF: usize = 32;
/// Stalls that take at least 5 % of the time prolong the stream until [`SEVERAL`] of the longest were seen.
const STALLS_SHARE: f64 = 0.05;
/// Pauses after which the stream continues, to measure idle recovery of the cache.
const PAUSES: [Duration; 3] = [Duration::from_secs(10), Duration::from_secs(60), Duration::from_secs(300)];
/// Pieces that a cache is divided into after a pause.
const RESUMED_PIECES: u64 = 64;
/// The most pieces after a pause: a full cache, twice.
const RESUMED_PIECES_MAX: usize = 2 * RESUMED_PIECES as usize;
/// The stream pauses again after this many slow ones.
const RESUMED_SLOW: usize = 12;
/// The most bytes of a brief stream. Guess: most everyday copies are shorter.
const BRIEF_BYTES_MAX: Bytes = Bytes::gib(1);
/// The most time of a brief stream on the device's clock. Guess: half the minute that a whole check may take.
const BRIEF_TIME_MAX: Duration = Duration::from_secs(25);
/// A stream that may end is expected to write this part of what was written. Guess.
const AFTER_SLOWDOWN_PART: u64 = 4;
/// Pieces between two checks whether the stream may end.
const PIECES_PER_CHECK: usize = 8;

/// The entry in the table of all experiments.
pub(super) const REGISTRATION: Registration = Registration {
    name: "sustained",
    question: "SLC cache and sustained write throughput",
    access: Access::WritesEstimate,
    options: &[],
    findings: &[FindingId::SlcCacheBytes, FindingId::SustainedWriteBytesPerS],
    new: |request| Box::new(Sustained { seed: request.seed, extent: Extent::Usual, device_capacity: None }),
};

/// The experiment *sustained*.
#[derive(Debug, Clone, Copy)]
pub struct Sustained {
    /// The random seed of the data.
    pub seed: u64,
    /// How long it goes on. A thorough stream lasts until the period of stalls is known, even if the
    /// throughput is known before, and continues after pauses.
    pub extent: Extent,
    /// The capacity behind a part of a device, which decides how large a cache may be; `None` for a whole
    /// one.
    pub device_capacity: Option<Bytes>,
}

impl Sustained {
    /// The fewest bytes of a stream without a slow-down on a device of this capacity.
    #[must_use]
    pub fn bytes_min_without_slowdown(capacity: Bytes) -> Bytes {
        let (least, most) = (bytes_min(capacity), bytes_max(capacity).round_up(LARGE_REQUEST));
        let mut written = Bytes::ZERO;
        while written < least && written < most {
            for _ in 0..PIECES_PER_CHECK {
                written += LARGE_REQUEST * piece_requests(written);
            }
        }
        written.min(most)
    }

    fn capacity(&self, device: &dyn Device) -> Bytes {
        self.device_capacity.unwrap_or_else(|| device.capabilities().capacity)
    }

    /// The most bytes before the first pause on a device of this capacity.
    fn bytes_max(&self, capacity: Bytes) -> Bytes {
        match self.extent {
            Extent::Brief => bytes_max(capacity).min(BRIEF_BYTES_MAX),
            Extent::Usual | Extent::Thorough => bytes_max(capacity),
        }
    }

    /// Continues a stream that ended early, after this many `other` bytes were written to the device.
    pub fn resume(
        &self,
        mut started: SustainedData,
        other: Bytes,
        device: &mut dyn Device,
        observer: &mut dyn Observer,
    ) -> Observations {
        if !other.is_zero() {
            started.other.push(OtherWrites { after: started.written(), bytes: other });
        }
        self.measure_on(started, device, &Budget::UNLIMITED, observer)
    }

    fn measure_on(
        &self,
        mut data: SustainedData,
        device: &mut dyn Device,
        budget: &Budget,
        observer: &mut dyn Observer,
    ) -> Observations {
        let region = match Region::new(device) {
            Ok(region) => region,
            Err(refusal) => return not_started(device, self.seed, Data::Sustained(data), refusal),
        };
        let (estimate, capacity) = (self.estimate(device), self.capacity(device));
        // Each part of the stream writes data of its own.
        let seed = self.seed.wrapping_add(data.other.len() as u64);
        let session = Session::begin(self.name(), estimate, device, budget, observer, seed);
        let mut stream =
            Stream::new(session, region, self.bytes_max(capacity).round_up(LARGE_REQUEST), &mut data);
        let result = stream.run(capacity, self.extent).and_then(|()| {
            stream.bytes_max = estimate.bytes_written;
            if self.extent.is_thorough() { stream.resume() } else { Ok(()) }
        });
        stream.read_back();
        let mut seen = stream.session.end(result, Data::Sustained(data));
        seen.conditions.seed = self.seed;
        seen
    }

    /// The total length of the pauses of a thorough stream with a slow-down.
    #[must_use]
    pub fn pauses() -> Duration {
        PAUSES.iter().sum()
    }
}

/// The part of the device that is written, several times if need be.
#[derive(Debug, Clone, Copy)]
struct Region {
    start: Bytes,
    length: Bytes,
}

impl Region {
    fn new(device: &dyn Device) -> Result<Self, Refused> {
        let capabilities = to_write(device)?;
        let start = START.min(capabilities.capacity / 8).round_down(LARGE_REQUEST);
        let length = capabilities.capacity.saturating_sub(start).round_down(LARGE_REQUEST);
        if length < LENGTH_MIN {
            let room = Room::Stream(LENGTH_MIN);
            let reason = Refusal::TooSmall { capacity: capabilities.capacity, room };
            return Err(Refused::new(reason, [WouldDecide::Larger(Quantity::Device)]));
        }
        Ok(Self { start, length })
    }

    /// The offset of the write after `written` bytes.
    fn offset(self, written: Bytes) -> Bytes {
        self.start + Bytes::new(written.get() % self.length.get())
    }
}

impl Experiment for Sustained {
    fn name(&self) -> &'static str {
        REGISTRATION.name
    }

    /// The whole device, a small one several times, and as much again after pauses. Nearly all streams end
    /// far below.
    fn estimate(&self, device: &dyn Device) -> Estimate {
        let capacity = self.capacity(device);
        let after_pauses = if self.extent.is_thorough() { capacity } else { Bytes::ZERO };
        let most = (self.bytes_max(capacity) + after_pauses).round_up(LARGE_REQUEST);
        let (written, time_max) = match self.extent {
            Extent::Brief => (most, Some(BRIEF_TIME_MAX)),
            Extent::Usual | Extent::Thorough => (Self::bytes_min_without_slowdown(capacity).min(most), None),
        };
        let expected = Expected::Transfer { written, read: Bytes::ZERO, time_max, pauses: Duration::ZERO };
        Estimate { requests: most / LARGE_REQUEST, bytes_written: most, expected }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let data = SustainedData { request: LARGE_REQUEST, ..SustainedData::default() };
        self.measure_on(data, device, budget, observer)
    }
}

/// The state of one run.
struct Stream<'a, 'b> {
    session: Session<'a>,
    region: Region,
    written: Bytes,
    /// The most bytes before the first pause, and later in total.
    bytes_max: Bytes,
    device_time: Duration,
    recent: VecDeque<Duration>,
    /// Places that are read back at the end: one in every `stride`-th write.
    read_back: Vec<ByteRange>,
    stride: u64,
    data: &'b mut SustainedData,
}

impl<'a, 'b> Stream<'a, 'b> {
    fn new(session: Session<'a>, region: Region, bytes_max: Bytes, data: &'b mut SustainedData) -> Self {
        let (written, device_time, recent) = (data.written(), data.time(), VecDeque::new());
        let read_back = Vec::new();
        Self { session, region, written, bytes_max, device_time, recent, read_back, stride: 1, data }
    }

    fn run(&mut self, capacity: Bytes, extent: Extent) -> Result<(), Stop> {
        while self.written < self.bytes_max {
            self.fill()?;
            if extent == Extent::Brief && self.device_time >= BRIEF_TIME_MAX {
                break;
            }
            let is_check_due = self.data.pieces.len().is_multiple_of(PIECES_PER_CHECK);
            if is_check_due && self.is_enough(capacity, extent.is_thorough()) {
                break;
            }
            if is_check_due && extent != Extent::Brief {
                self.expect_end(capacity, extent.is_thorough());
            }
        }
        Ok(())
    }

    /// A stream that slowed down, or has written the least, is expected to end soon. If it is `thorough`, it
    /// pauses after a slow-down. A small device is overwritten before.
    fn expect_end(&mut self, capacity: Bytes, is_thorough: bool) {
        let has_slowed_down = Fill::of(self.data).fast().is_some();
        let least = Sustained::bytes_min_without_slowdown(capacity).saturating_sub(self.written);
        let soon = self.written / AFTER_SLOWDOWN_PART;
        let ends_soon = least.is_zero() || (has_slowed_down && capacity >= LENGTH_ENOUGH);
        let written = if ends_soon { soon } else { least };
        let pauses = if has_slowed_down && is_thorough { Sustained::pauses() } else { Duration::ZERO };
        self.expect_pieces(written / LARGE_REQUEST, pauses);
    }

    /// These writes are expected, and these pauses after them.
    fn expect_pieces(&mut self, requests: u64, pauses: Duration) {
        let written = (LARGE_REQUEST * requests).min(self.bytes_max.saturating_sub(self.written));
        self.session.expect(Expected::Transfer { written, read: Bytes::ZERO, time_max: None, pauses });
    }

    /// The next piece of the stream, kept also if it ends early.
    fn fill(&mut self) -> Result<(), Stop> {
        let requests = piece_requests(self.written);
        let (piece, result) =
            self.piece(requests.min(((self.bytes_max - self.written) / LARGE_REQUEST).max(1)));
        if piece.requests > 0 {
            self.data.pieces.push(piece);
        }
        result
    }

    /// `requests` writes, or those before an error.
    fn piece(&mut self, requests: u64) -> (Piece, Result<(), Stop>) {
        let mut piece = Piece { requests: 0, time: Duration::ZERO };
        for _ in 0..requests {
            match self.write() {
                Ok(Some(latency)) => {
                    piece.requests += 1;
                    piece.time += latency;
                    self.keep_if_long(latency);
                }
                Ok(None) => {}
                Err(stop) => return (piece, Err(stop)),
            }
        }
        (piece, Ok(()))
    }

    fn keep_if_long(&mut self, took: Duration) {
        self.device_time += took;
        let mut sorted: Vec<Duration> = self.recent.iter().copied().collect();
        sorted.sort_unstable();
        let is_long = sorted.get(MEDIAN_OF / 2).is_some_and(|median| took > *median * LONG_RATIO);
        if is_long && self.data.long.len() < LONG_WRITES_MAX {
            let (written, ended) = (self.written, self.device_time);
            self.data.long.push(LongWrite { written, took, ended });
        }
        if self.recent.len() == MEDIAN_OF {
            self.recent.pop_front();
        }
        self.recent.push_back(took);
    }

    /// Whether the stream may end. It waits for stalls if they leave the throughput uncertain, or if it is
    /// thorough.
    fn is_enough(&self, capacity: Bytes, is_thorough: bool) -> bool {
        let fill = Fill::of(self.data);
        is_enough(&fill, self.written, capacity)
            && !((is_thorough || !fill.is_even()) && self.waits_for_stalls())
    }

    /// Whether stalls take much time, and too few of them were seen for their period.
    fn waits_for_stalls(&self) -> bool {
        let brief = brief(&self.data.long, LARGE_REQUEST);
        let times = || brief.iter().map(|long| long.took);
        let longest = times().max().unwrap_or_default();
        let alike = times().filter(|took| *took * 2 >= longest).count();
        times().sum::<Duration>().as_secs_f64() >= self.device_time.as_secs_f64() * STALLS_SHARE
            && alike < SEVERAL
    }

    /// Continues after pauses, if the stream slowed down: the part of the cache that recovered while idle is
    /// written fast.
    fn resume(&mut self) -> Result<(), Stop> {
        let fill = Fill::of(self.data);
        let (Some(fast), Some(middle)) = (fill.fast(), fill.middle()) else { return Ok(()) };
        for (index, pause) in PAUSES.into_iter().enumerate() {
            self.session.expect(Expected::time(PAUSES.iter().skip(index).sum()));
            // The estimate is not exceeded.
            if self.written >= self.bytes_max {
                return Ok(());
            }
            self.session.pause(pause)?;
            let pauses_left = PAUSES.iter().skip(index + 1).sum();
            self.resume_once(pause, pauses_left, fast, middle)?;
        }
        Ok(())
    }

    fn resume_once(
        &mut self,
        pause: Duration,
        pauses_left: Duration,
        fast: Bytes,
        middle: f64,
    ) -> Result<(), Stop> {
        let requests = resumed_requests(fast);
        let mut resumed = Resumed { pause, pieces: Vec::new() };
        let mut result = Ok(());
        let mut slow = 0;
        while slow < RESUMED_SLOW
            && self.written < self.bytes_max
            && resumed.pieces.len() < RESUMED_PIECES_MAX
        {
            let pieces = (RESUMED_SLOW - slow).min(RESUMED_PIECES_MAX - resumed.pieces.len());
            self.expect_pieces(requests * pieces as u64, pauses_left);
            let (piece, ended) =
                self.piece(requests.min((self.bytes_max - self.written) / LARGE_REQUEST).max(1));
            let bytes = (LARGE_REQUEST * u64::from(piece.requests)).as_f64();
            slow += usize::from(piece.time.as_secs_f64() > middle * bytes);
            resumed.pieces.push(piece);
            if ended.is_err() {
                result = ended;
                break;
            }
        }
        self.data.resumed.push(resumed);
        result
    }

    /// The place in this write that is read back at the end, if the write is one of those: every `stride`-th.
    /// Each has its place at another offset.
    fn place_to_read_back(&self, request: ByteRange) -> Option<ByteRange> {
        let index = self.written / LARGE_REQUEST;
        let inside = SMALL_REQUEST * (index.wrapping_mul(PLACE_STEP) % (LARGE_REQUEST / SMALL_REQUEST));
        index.is_multiple_of(self.stride).then(|| range(request.offset + inside, SMALL_REQUEST))
    }

    /// Keeps a place to read back. If there are too many, half of them go.
    fn remember(&mut self, place: ByteRange) {
        if self.read_back.len() == 2 * READ_BACK_PLACES {
            let mut index = 0;
            self.read_back.retain(|_| {
                index += 1;
                index % 2 == 0
            });
            self.stride *= 2;
        }
        self.read_back.push(place);
    }

    /// Reads back places all over the stream.
    fn read_back(&mut self) {
        let step = self.read_back.len().div_ceil(READ_BACK_PLACES).max(1);
        let places: Vec<ByteRange> = self.read_back.drain(..).step_by(step).collect();
        let lost = self.session.read_back(&places, READ_BACK_TIME_MAX, is_other_data);
        self.data.read_back = self.data.read_back + read_back_of(&lost);
    }

    fn write(&mut self) -> Result<Option<Duration>, Stop> {
        let request = range(self.region.offset(self.written), LARGE_REQUEST);
        self.written += LARGE_REQUEST;
        let place = self.place_to_read_back(request);
        self.session.reads_back(place.unwrap_or(NOTHING));
        let latency = self.session.write(request)?;
        if let Some(place) = place.filter(|_| latency.is_some()) {
            self.remember(place);
        }
        Ok(latency)
    }
}

/// The number of writes in the piece after `written` bytes.
fn piece_requests(written: Bytes) -> u64 {
    (written / PIECE_SHARE / LARGE_REQUEST).max(1)
}

/// The most bytes of a stream on a device of this capacity.
fn bytes_max(capacity: Bytes) -> Bytes {
    capacity.max(LENGTH_ENOUGH.min(capacity * 4))
}

/// Whether the sustained throughput is known: after a slow-down, or if no cache can be so large. A small
/// device must be overwritten before.
fn is_enough(fill: &Fill, written: Bytes, capacity: Bytes) -> bool {
    let least =
        if fill.has_slowed_down() && capacity >= LENGTH_ENOUGH { Bytes::ZERO } else { bytes_min(capacity) };
    written >= least && fill.is_settled()
}

/// The requests of a piece after a pause, where `fast` bytes are written before a slow-down.
fn resumed_requests(fast: Bytes) -> u64 {
    (fast / RESUMED_PIECES / LARGE_REQUEST).max(1)
}

/// The bytes after which a cache is known to be absent. A small device is overwritten before.
fn bytes_min(capacity: Bytes) -> Bytes {
    cache_max(capacity).max(LENGTH_ENOUGH.min(capacity * 3))
}

#[cfg(test)]
mod tests {
    use flashscope_device::memory::MemoryDevice;

    use super::*;
    use crate::contract::{Event, Silent};
    use flashscope_record::observation::Ended;

    fn measured(capacity: Bytes, budget: &Budget) -> Observations {
        Sustained { seed: 1, extent: Extent::Usual, device_capacity: None }.measure(
            &mut MemoryDevice::new(capacity),
            budget,
            &mut Silent,
        )
    }

    #[test]
    fn small_device_is_overwritten_and_fully_recorded() {
        let seen = measured(Bytes::mib(100), &Budget::UNLIMITED);
        assert_eq!(seen.ended, Ended::Complete);
        let Data::Sustained(data) = seen.data else { panic!("not data of sustained") };
        assert!((Bytes::mib(300)..=Bytes::mib(412)).contains(&data.written()), "{}", data.written());
    }

    #[test]
    fn budget_ends_the_stream_and_keeps_its_data() {
        let budget = Budget { bytes_written: Some(Bytes::mib(20)), ..Budget::UNLIMITED };
        let seen = measured(Bytes::mib(100), &budget);
        assert!(matches!(seen.ended, Ended::Early { .. }));
        let Data::Sustained(data) = seen.data else { panic!("not data of sustained") };
        assert_eq!(data.written(), Bytes::mib(20));
    }

    #[test]
    fn tiny_device_is_refused() {
        let seen = measured(Bytes::mib(6), &Budget::UNLIMITED);
        assert!(matches!(seen.ended, Ended::NotStarted { reason: Refusal::TooSmall { .. }, .. }));
    }

    /// The bytes that are still expected, each time that is said.
    #[derive(Default)]
    struct ExpectedBytes(Vec<Bytes>);

    impl Observer for ExpectedBytes {
        fn event(&mut self, event: Event<'_>) {
            if let Event::Expect { expected: Expected::Transfer { written, .. } } = event {
                self.0.push(written);
            }
        }
    }

    /// The bytes that are expected after a pause, each time that is said, and the number of pieces.
    fn expected_after_a_pause(is_slow: bool) -> (Vec<Bytes>, usize) {
        let mut device = MemoryDevice::new(Bytes::mib(256));
        let region = Region::new(&device).unwrap();
        let (estimate, mut expected) = (Estimate::default(), ExpectedBytes::default());
        let session = Session::begin("test", estimate, &mut device, &Budget::UNLIMITED, &mut expected, 1);
        let mut data = SustainedData { request: LARGE_REQUEST, ..SustainedData::default() };
        let mut stream = Stream::new(session, region, Bytes::gib(1), &mut data);
        let middle = if is_slow { 0.0 } else { f64::INFINITY };
        stream.resume_once(Duration::ZERO, Duration::ZERO, Bytes::mib(64), middle).unwrap();
        drop(stream);
        (expected.0, data.resumed[0].pieces.len())
    }

    /// A cache that recovered altogether is written twice, in 128 pieces, none of which is slow. If nothing
    /// recovered, twelve slow ones are enough.
    #[test]
    fn after_a_pause_no_more_pieces_are_expected_than_may_follow() {
        let left: Vec<Bytes> = (0..128).map(|piece| Bytes::mib((128 - piece).min(12))).collect();
        assert_eq!(expected_after_a_pause(false), (left, 128));
        let slow: Vec<Bytes> = (1..=12).rev().map(Bytes::mib).collect();
        assert_eq!(expected_after_a_pause(true), (slow, 12));
    }

    /// A smaller one is overwritten before.
    #[test]
    fn a_stream_that_slowed_down_is_expected_to_end_soon_on_a_device_of_2_gib() {
        let expected_on = |capacity: Bytes| {
            let mut device = MemoryDevice::new(Bytes::mib(256));
            let region = Region::new(&device).unwrap();
            let (estimate, mut expected) = (Estimate::default(), ExpectedBytes::default());
            let session = Session::begin("test", estimate, &mut device, &Budget::UNLIMITED, &mut expected, 1);
            let piece = |millis| Piece { requests: 1, time: Duration::from_millis(millis) };
            let pieces = (0..120).map(|index| piece(if index < 40 { 20 } else { 100 })).collect();
            let mut data = SustainedData { request: LARGE_REQUEST, pieces, ..SustainedData::default() };
            let mut stream = Stream::new(session, region, Bytes::gib(4), &mut data);
            stream.expect_end(capacity, false);
            drop(stream);
            expected.0[0]
        };
        assert_eq!(expected_on(Bytes::gib(2)), Bytes::mib(30), "a quarter of what was written");
        let smaller = expected_on(Bytes::gib(2) - Bytes::mib(1));
        assert!(smaller > Bytes::gib(1), "{smaller}");
    }

    /// Whether a stream of writes of 1 MiB may end after `written`; its parts are a number and milliseconds.
    fn may_end(parts: &[(usize, u64)], written: Bytes, capacity: Bytes) -> bool {
        let piece = |ms| Piece { requests: 1, time: Duration::from_millis(ms) };
        let pieces = parts.iter().flat_map(|(number, ms)| vec![piece(*ms); *number]).collect();
        let data = SustainedData { request: LARGE_REQUEST, pieces, ..SustainedData::default() };
        is_enough(&Fill::of(&data), written, capacity)
    }

    /// A cache takes at most a third of the device. The speed is known after a minute.
    #[test]
    fn stream_ends_when_its_speed_is_known_and_no_larger_cache_is_possible() {
        let (minute, seconds, large) = (&[(700, 100)], &[(100, 100)], Bytes::gib(64));
        assert!(may_end(minute, Bytes::gib(22), large));
        assert!(!may_end(minute, Bytes::gib(21), large), "a cache of 21.3 GiB is possible");
        assert!(!may_end(seconds, Bytes::gib(22), large), "ten seconds are too few");
        let slowed_down = &[(400, 10), (900, 80)];
        assert!(may_end(slowed_down, Bytes::mib(1300), large), "the cache was found");
        assert!(!may_end(slowed_down, Bytes::mib(1300), Bytes::gib(1)), "overwritten too few times");
    }
}
