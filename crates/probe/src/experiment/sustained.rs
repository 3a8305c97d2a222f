//! *sustained*: how fast is writing once nothing helps any more, and how much goes faster before?
//!
//! Large writes one behind the other. A cache in front of the dense cells shows where they become slow; the speed behind it is
//! the one that lasts. The stream ends once that speed is known well, or no cache can be so large. See
//! docs/methods/sustained.md.

use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};

use super::session::{Refusal, Session, Stop, not_started, range, to_write};
use super::{Estimate, Experiment, Observer};
use crate::inference::{Fill, cache_max};
use crate::observation::{Data, Observations, Piece, SustainedData};

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
/// How often the stream looks back at itself, pieces.
const PIECES_PER_LOOK: usize = 8;

/// The experiment *sustained*.
#[derive(Debug, Clone, Copy)]
pub struct Sustained {
    /// The seed of the data.
    pub seed: u64,
}

/// The part of the device that is written, over and over if need be.
#[derive(Debug, Clone, Copy)]
struct Course {
    start: Bytes,
    length: Bytes,
}

impl Course {
    fn of(device: &dyn Device) -> Result<Self, Refusal> {
        let capabilities = to_write(device)?;
        let start = START.min(capabilities.capacity / 8).round_down(REQUEST);
        let length = capabilities.capacity.saturating_sub(start).round_down(REQUEST);
        if length < LENGTH_MIN {
            let reason = format!("{} are too few for a long stream ({LENGTH_MIN})", capabilities.capacity);
            return Err(Refusal::new(reason, "a larger device"));
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

    /// The device once over, a small one more often; nearly all streams end far below.
    fn estimate(&self, device: &dyn Device) -> Estimate {
        let most = most(device.capabilities().capacity);
        Estimate { requests: most / REQUEST, bytes_written: most }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let mut data = SustainedData { request: REQUEST, pieces: Vec::new() };
        let course = match Course::of(device) {
            Ok(course) => course,
            Err(refusal) => return not_started(device, self.seed, Data::Sustained(data), refusal),
        };
        let (estimate, capacity) = (self.estimate(device), device.capabilities().capacity);
        let session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let mut stream = Stream { session, course, written: Bytes::ZERO, data: &mut data };
        let result = stream.run(capacity);
        stream.session.end(result, Data::Sustained(data))
    }
}

/// The state of one run.
struct Stream<'a, 'b> {
    session: Session<'a>,
    course: Course,
    written: Bytes,
    data: &'b mut SustainedData,
}

impl Stream<'_, '_> {
    fn run(&mut self, capacity: Bytes) -> Result<(), Stop> {
        while self.written < most(capacity) {
            self.piece()?;
            let looks = self.data.pieces.len().is_multiple_of(PIECES_PER_LOOK);
            if looks && is_enough(&Fill::of(self.data), self.written, capacity) {
                break;
            }
        }
        Ok(())
    }

    /// One piece, kept also when it is cut short.
    fn piece(&mut self) -> Result<(), Stop> {
        let mut piece = Piece { requests: 0, time: Duration::ZERO };
        let mut result = Ok(());
        for _ in 0..(self.written / PIECE_SHARE / REQUEST).max(1) {
            match self.write() {
                Ok(Some(latency)) => {
                    piece.requests += 1;
                    piece.time += latency;
                }
                Ok(None) => {}
                Err(stop) => {
                    result = Err(stop);
                    break;
                }
            }
        }
        if piece.requests > 0 {
            self.data.pieces.push(piece);
        }
        result
    }

    fn write(&mut self) -> Result<Option<Duration>, Stop> {
        let offset = self.course.offset(self.written);
        self.written += REQUEST;
        self.session.write(range(offset, REQUEST))
    }
}

/// The longest stream on a device of this capacity.
fn most(capacity: Bytes) -> Bytes {
    capacity.max(LENGTH_ENOUGH.min(capacity * 4))
}

/// Whether the speed is known that lasts: behind a slow-down, or where no cache can be so large; on a small device not before
/// it was written over.
fn is_enough(fill: &Fill, written: Bytes, capacity: Bytes) -> bool {
    let over = LENGTH_ENOUGH.min(capacity * 3);
    let least = if fill.has_slowed_down() && capacity >= LENGTH_ENOUGH {
        Bytes::ZERO
    } else {
        cache_max(capacity).max(over)
    };
    written >= least && fill.is_settled()
}

#[cfg(test)]
mod tests {
    use flashscope_device::memory::MemoryDevice;

    use super::*;
    use crate::experiment::Silent;
    use crate::observation::Ended;

    fn measured(capacity: Bytes, budget: &Budget) -> Observations {
        Sustained { seed: 1 }.measure(&mut MemoryDevice::new(capacity), budget, &mut Silent)
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
        assert!(matches!(seen.ended, Ended::NotStarted { reason, .. } if reason.contains("too few")));
    }
}
