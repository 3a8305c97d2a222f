//! *sustained*: how fast is writing once nothing helps any more, and how much goes faster before?
//!
//! Large writes one behind the other. A cache in front of the dense cells shows where they become slow; the speed behind it is
//! the one that lasts. The stream ends once that speed is known well, or no cache can be so large. See
//! docs/methods/sustained.md.

use std::collections::VecDeque;
use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};

use flashscope_infer::streams::stalls::brief;
use flashscope_infer::streams::sustained::{Fill, cache_max};
use flashscope_record::finding::{Quantity, WouldDecide};
use flashscope_record::observation::{
    Data, LONG_WRITES_MAX, LongWrite, Observations, Piece, Refusal, Resumed, Room, SustainedData,
};

use crate::contract::{Estimate, Experiment, Observer};
use crate::session::{Refused, Session, Stop, not_started, range, to_write};

/// As large as hosts make them; more is cut on its way.
const REQUEST: Bytes = Bytes::mib(1);
/// Left alone at the start of the device, where it is large enough: partition table and FAT area.
const START: Bytes = Bytes::mib(16);
/// A stream over less tells nothing of the long run.
const LENGTH_MIN: Bytes = Bytes::mib(8);
/// Pieces grow so that each is this share of what was written before: the end of a cache is known to as much.
const PIECE_SHARE: u64 = 64;
/// Small devices are written over twice and more, up to so much: only then is it seen what collecting old data costs.
const LENGTH_ENOUGH: Bytes = Bytes::gib(2);
/// A write is kept by itself if it takes so many times as long as usual: as the median of so many before it.
const LONG_RATIO: u32 = 3;
const USUAL_OF: usize = 32;
/// Stalls that take this share of the time are waited for until so many of the longest were seen.
const STALLS_SHARE: f64 = 0.05;
const STALLS_ENOUGH: usize = 4;
/// Pauses behind which the stream goes on, to see what idle time gives back.
const PAUSES: [Duration; 3] = [Duration::from_secs(10), Duration::from_secs(60), Duration::from_secs(300)];
/// Behind a pause, a cache is cut into so many pieces, and so many slow ones are enough.
const RESUMED_PIECES: u64 = 64;
const RESUMED_SLOW: usize = 12;
/// How often the stream looks back at itself, pieces.
const PIECES_PER_LOOK: usize = 8;

/// The experiment *sustained*.
#[derive(Debug, Clone, Copy)]
pub struct Sustained {
    /// The seed of the data.
    pub seed: u64,
    /// Whether it goes on until the period of stalls is known also where the speed is without it, and writes again behind pauses.
    pub is_thorough: bool,
}

impl Sustained {
    /// What a stream writes at least on a device of this capacity, where it finds no slow-down.
    #[must_use]
    pub fn least_without_a_slowdown(capacity: Bytes) -> Bytes {
        let (least, most) = (least(capacity), most(capacity).round_up(REQUEST));
        let mut written = Bytes::ZERO;
        while written < least && written < most {
            for _ in 0..PIECES_PER_LOOK {
                written += REQUEST * piece_requests(written);
            }
        }
        written.min(most)
    }

    /// How long it pauses in all, where it finds one and is thorough.
    #[must_use]
    pub fn pauses() -> Duration {
        PAUSES.iter().sum()
    }
}

/// The part of the device that is written, over and over if need be.
#[derive(Debug, Clone, Copy)]
struct Course {
    start: Bytes,
    length: Bytes,
}

impl Course {
    fn of(device: &dyn Device) -> Result<Self, Refused> {
        let capabilities = to_write(device)?;
        let start = START.min(capabilities.capacity / 8).round_down(REQUEST);
        let length = capabilities.capacity.saturating_sub(start).round_down(REQUEST);
        if length < LENGTH_MIN {
            let room = Room::Stream(LENGTH_MIN);
            let reason = Refusal::TooSmall { capacity: capabilities.capacity, room };
            return Err(Refused::new(reason, [WouldDecide::Larger(Quantity::Device)]));
        }
        Ok(Self { start, length })
    }

    /// Where the write begins before which so much was written.
    fn offset(self, written: Bytes) -> Bytes {
        self.start + Bytes::new(written.get() % self.length.get())
    }
}

impl Experiment for Sustained {
    fn name(&self) -> &'static str {
        "sustained"
    }

    /// The device once over, a small one more often, and as much again behind pauses; nearly all streams end far below.
    fn estimate(&self, device: &dyn Device) -> Estimate {
        let capacity = device.capabilities().capacity;
        let behind_pauses = if self.is_thorough { capacity } else { Bytes::ZERO };
        let most = (most(capacity) + behind_pauses).round_up(REQUEST);
        Estimate { requests: most / REQUEST, bytes_written: most }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let mut data = SustainedData { request: REQUEST, ..SustainedData::default() };
        let course = match Course::of(device) {
            Ok(course) => course,
            Err(refusal) => return not_started(device, self.seed, Data::Sustained(data), refusal),
        };
        let (estimate, capacity) = (self.estimate(device), device.capabilities().capacity);
        let session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let mut stream = Stream::new(session, course, most(capacity).round_up(REQUEST), &mut data);
        let result = stream.run(capacity, self.is_thorough).and_then(|()| {
            stream.most = estimate.bytes_written;
            if self.is_thorough { stream.resume() } else { Ok(()) }
        });
        stream.session.end(result, Data::Sustained(data))
    }
}

/// The state of one run.
struct Stream<'a, 'b> {
    session: Session<'a>,
    course: Course,
    written: Bytes,
    /// No more than this is written: until the pauses begin, and then in all.
    most: Bytes,
    took: Duration,
    recent: VecDeque<Duration>,
    data: &'b mut SustainedData,
}

impl<'a, 'b> Stream<'a, 'b> {
    fn new(session: Session<'a>, course: Course, most: Bytes, data: &'b mut SustainedData) -> Self {
        let (written, took, recent) = (Bytes::ZERO, Duration::ZERO, VecDeque::new());
        Self { session, course, written, most, took, recent, data }
    }

    fn run(&mut self, capacity: Bytes, is_thorough: bool) -> Result<(), Stop> {
        while self.written < self.most {
            self.fill()?;
            let looks = self.data.pieces.len().is_multiple_of(PIECES_PER_LOOK);
            if looks && self.is_enough(capacity, is_thorough) {
                break;
            }
        }
        Ok(())
    }

    /// The next piece of the stream, kept also when it is cut short.
    fn fill(&mut self) -> Result<(), Stop> {
        let requests = piece_requests(self.written);
        let (piece, result) = self.piece(requests.min(((self.most - self.written) / REQUEST).max(1)));
        if piece.requests > 0 {
            self.data.pieces.push(piece);
        }
        result
    }

    /// So many writes, as far as they come.
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
        self.took += took;
        let mut sorted: Vec<Duration> = self.recent.iter().copied().collect();
        sorted.sort_unstable();
        let is_long = sorted.get(USUAL_OF / 2).is_some_and(|usual| took > *usual * LONG_RATIO);
        if is_long && self.data.long.len() < LONG_WRITES_MAX {
            let (written, ended) = (self.written, self.took);
            self.data.long.push(LongWrite { written, took, ended });
        }
        if self.recent.len() == USUAL_OF {
            self.recent.pop_front();
        }
        self.recent.push_back(took);
    }

    /// Whether more would tell little more: stalls are waited for where they leave the speed open, or by who is thorough.
    fn is_enough(&self, capacity: Bytes, is_thorough: bool) -> bool {
        let fill = Fill::of(self.data);
        is_enough(&fill, self.written, capacity)
            && !((is_thorough || !fill.is_even()) && self.waits_for_stalls())
    }

    /// Whether stalls cost much and too few of them were seen to tell how often they come.
    fn waits_for_stalls(&self) -> bool {
        let brief = brief(&self.data.long, REQUEST);
        let times = || brief.iter().map(|long| long.took);
        let longest = times().max().unwrap_or_default();
        let alike = times().filter(|took| *took * 2 >= longest).count();
        times().sum::<Duration>().as_secs_f64() >= self.took.as_secs_f64() * STALLS_SHARE
            && alike < STALLS_ENOUGH
    }

    /// Goes on behind pauses, if the stream became slow: what idle time gave back goes fast.
    fn resume(&mut self) -> Result<(), Stop> {
        let fill = Fill::of(self.data);
        let (Some(fast), Some(middle)) = (fill.fast(), fill.middle()) else { return Ok(()) };
        for pause in PAUSES {
            // What was said beforehand is not exceeded.
            if self.written >= self.most {
                return Ok(());
            }
            self.session.pause(pause)?;
            self.resume_once(pause, fast, middle)?;
        }
        Ok(())
    }

    fn resume_once(&mut self, pause: Duration, fast: Bytes, middle: f64) -> Result<(), Stop> {
        let requests = (fast / RESUMED_PIECES / REQUEST).max(1);
        let mut resumed = Resumed { pause, pieces: Vec::new() };
        let mut result = Ok(());
        let mut slow = 0;
        while slow < RESUMED_SLOW
            && self.written < self.most
            && resumed.pieces.len() < 2 * usize::try_from(RESUMED_PIECES).unwrap_or(0)
        {
            let (piece, ended) = self.piece(requests.min((self.most - self.written) / REQUEST).max(1));
            let bytes = (REQUEST * u64::from(piece.requests)).as_f64();
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

    fn write(&mut self) -> Result<Option<Duration>, Stop> {
        let offset = self.course.offset(self.written);
        self.written += REQUEST;
        self.session.write(range(offset, REQUEST))
    }
}

/// Of how many writes the next piece is, behind so much.
fn piece_requests(written: Bytes) -> u64 {
    (written / PIECE_SHARE / REQUEST).max(1)
}

/// The longest stream on a device of this capacity.
fn most(capacity: Bytes) -> Bytes {
    capacity.max(LENGTH_ENOUGH.min(capacity * 4))
}

/// Whether the speed is known that lasts: behind a slow-down, or where no cache can be so large; on a small device not before
/// it was written over.
fn is_enough(fill: &Fill, written: Bytes, capacity: Bytes) -> bool {
    let least =
        if fill.has_slowed_down() && capacity >= LENGTH_ENOUGH { Bytes::ZERO } else { least(capacity) };
    written >= least && fill.is_settled()
}

/// A cache is told to be absent after so much; a small device is written over before.
fn least(capacity: Bytes) -> Bytes {
    cache_max(capacity).max(LENGTH_ENOUGH.min(capacity * 3))
}

#[cfg(test)]
mod tests {
    use flashscope_device::memory::MemoryDevice;

    use super::*;
    use crate::contract::Silent;
    use flashscope_record::observation::Ended;

    fn measured(capacity: Bytes, budget: &Budget) -> Observations {
        Sustained { seed: 1, is_thorough: false }.measure(
            &mut MemoryDevice::new(capacity),
            budget,
            &mut Silent,
        )
    }

    #[test]
    fn a_small_device_is_written_over_and_all_of_it_is_kept() {
        let seen = measured(Bytes::mib(100), &Budget::UNLIMITED);
        assert_eq!(seen.ended, Ended::Complete);
        let Data::Sustained(data) = seen.data else { panic!("sustained saw something else") };
        assert!((Bytes::mib(300)..=Bytes::mib(412)).contains(&data.written()), "{}", data.written());
    }

    #[test]
    fn a_budget_ends_it_with_what_was_seen() {
        let budget = Budget { bytes_written: Some(Bytes::mib(20)), ..Budget::UNLIMITED };
        let seen = measured(Bytes::mib(100), &budget);
        assert!(matches!(seen.ended, Ended::Early { .. }));
        let Data::Sustained(data) = seen.data else { panic!("sustained saw something else") };
        assert_eq!(data.written(), Bytes::mib(20));
    }

    #[test]
    fn a_tiny_device_is_refused_in_words() {
        let seen = measured(Bytes::mib(6), &Budget::UNLIMITED);
        assert!(matches!(seen.ended, Ended::NotStarted { reason: Refusal::TooSmall { .. }, .. }));
    }
}
