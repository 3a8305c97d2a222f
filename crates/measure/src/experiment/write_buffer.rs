//! *write-buffer*: how much does the controller take before the flash has to?
//!
//! After a pause its memory is empty: small writes are as quick as the link brings them until it is full, and as slow as the flash
//! takes them from then on. Several bursts, after short and long pauses: what a longer pause makes larger is no memory, but a
//! cache in flash that is emptied while nothing is asked for. See docs/methods/write-buffer.md.

use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};

use flashscope_infer::streams::slowdown::Slowdown;
use flashscope_infer::streams::write_buffer::{MEMORY_MAX, stretches};
use flashscope_record::finding::{Quantity, WouldDecide};
use flashscope_record::observation::{Burst, Data, Observations, Refusal, Room, WriteBufferData};

use crate::contract::{Estimate, Experiment, Observer};
use crate::session::{Refused, Session, Stop, not_started, range, to_write};

/// A fraction of the smallest buffer that is told apart.
const REQUEST: Bytes = Bytes::kib(4);
/// Left alone at the start of the device, where it is large enough.
const START: Bytes = Bytes::mib(16);
/// A burst without a slow-down ends here: four times the largest memory that is looked for.
const BURST_MAX: Bytes = Bytes::mib(4 * (MEMORY_MAX.get() >> 20));
/// Behind a slow-down at least so many writes are made,
const SLOW_MIN: usize = 32;
/// and so many of those before it: as one to this.
const SLOW_SHARE: usize = 4;
/// How often a burst looks back at itself, writes; less often as it grows.
const WRITES_PER_LOOK: usize = 32;
/// Long enough for slow flash to take what memory holds; four times as long the other times.
const PAUSE_SHORT: Duration = Duration::from_secs(4);
const PAUSE_LONG: Duration = Duration::from_secs(16);
/// Bursts, if the first of them shows a slow-down.
const PAUSES: [Duration; 5] = [PAUSE_SHORT, PAUSE_LONG, PAUSE_SHORT, PAUSE_LONG, PAUSE_SHORT];

/// The experiment *write-buffer*.
#[derive(Debug, Clone, Copy)]
pub struct WriteBuffer {
    /// The seed of the data.
    pub seed: u64,
}

impl WriteBuffer {
    /// Where the bursts begin, one behind the other; else why they cannot.
    fn start(device: &dyn Device) -> Result<Bytes, Refused> {
        let capabilities = to_write(device)?;
        let start = START.min(capabilities.capacity / 8).round_down(BURST_MAX / 16);
        if capabilities.capacity.saturating_sub(start) < BURST_MAX * 2 {
            let room = Room::Bursts(BURST_MAX);
            let reason = Refusal::TooSmall { capacity: capabilities.capacity, room };
            return Err(Refused::new(reason, [WouldDecide::Larger(Quantity::Device)]));
        }
        Ok(start)
    }
}

impl Experiment for WriteBuffer {
    fn name(&self) -> &'static str {
        "write-buffer"
    }

    fn estimate(&self, _device: &dyn Device) -> Estimate {
        let bytes_written = BURST_MAX * PAUSES.len() as u64;
        Estimate { requests: bytes_written / REQUEST, bytes_written }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let mut data = WriteBufferData { request: REQUEST, bursts: Vec::new() };
        let start = match Self::start(device) {
            Ok(start) => start,
            Err(refusal) => return not_started(device, self.seed, Data::WriteBuffer(data), refusal),
        };
        let room = device.capabilities().capacity.saturating_sub(start).round_down(REQUEST);
        let estimate = self.estimate(device);
        let session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let mut bursts = Bursts { session, start, room, written: Bytes::ZERO, data: &mut data };
        let result = bursts.run();
        bursts.session.end(result, Data::WriteBuffer(data))
    }
}

/// The state of one run.
struct Bursts<'a, 'b> {
    session: Session<'a>,
    start: Bytes,
    room: Bytes,
    written: Bytes,
    data: &'b mut WriteBufferData,
}

impl Bursts<'_, '_> {
    /// The first burst finds a slow-down or not; the others tell what it is.
    fn run(&mut self) -> Result<(), Stop> {
        for pause in PAUSES {
            self.burst(pause)?;
            let first = self.data.bursts.first();
            if first.is_none_or(|burst| Slowdown::of(&stretches(REQUEST, &burst.each)).is_none()) {
                break;
            }
        }
        Ok(())
    }

    /// A pause and the writes after it, kept also when they are cut short.
    fn burst(&mut self, pause: Duration) -> Result<(), Stop> {
        self.session.pause(pause)?;
        let mut each = Vec::new();
        let result = self.writes(&mut each);
        self.data.bursts.push(Burst { pause, each });
        result
    }

    fn writes(&mut self, each: &mut Vec<Duration>) -> Result<(), Stop> {
        let mut next_look = WRITES_PER_LOOK;
        for index in 0..usize::try_from(BURST_MAX / REQUEST).unwrap_or(0) {
            each.extend(self.write()?);
            if index + 1 == next_look {
                if has_slowed_down(each) {
                    break;
                }
                next_look += (next_look / 4).max(WRITES_PER_LOOK);
            }
        }
        Ok(())
    }

    fn write(&mut self) -> Result<Option<Duration>, Stop> {
        let offset = self.start + Bytes::new(self.written.get() % self.room.get());
        self.written += REQUEST;
        self.session.write(range(offset, REQUEST))
    }
}

/// Whether a burst has become slow, and stayed so for long enough.
fn has_slowed_down(each: &[Duration]) -> bool {
    Slowdown::of(&stretches(REQUEST, each))
        .is_some_and(|slowdown| each.len() - slowdown.index >= SLOW_MIN.max(slowdown.index / SLOW_SHARE))
}

#[cfg(test)]
mod tests {
    use flashscope_device::memory::MemoryDevice;

    use super::*;
    use crate::contract::Silent;
    use flashscope_record::observation::Ended;

    #[test]
    fn without_a_slow_down_one_burst_is_enough() {
        let mut device = MemoryDevice::new(Bytes::mib(64));
        let seen = WriteBuffer { seed: 1 }.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        assert_eq!(seen.ended, Ended::Complete);
        let Data::WriteBuffer(data) = seen.data else { panic!("write-buffer saw something else") };
        assert_eq!(data.bursts.iter().map(|burst| burst.each.len()).collect::<Vec<_>>(), [4096]);
    }

    #[test]
    fn a_small_device_is_refused_in_words() {
        let mut device = MemoryDevice::new(Bytes::mib(24));
        let seen = WriteBuffer { seed: 1 }.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        assert!(matches!(seen.ended, Ended::NotStarted { reason: Refusal::TooSmall { .. }, .. }));
    }
}
