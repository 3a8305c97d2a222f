//! *write-buffer*: how large is the controller's write buffer?
//!
//! After a pause the buffer is empty: small writes run at link speed until it is full, and at flash speed
//! from then on. Several bursts follow short and long pauses. If a longer pause makes the fast part larger,
//! it is no buffer in memory but a flash cache that is emptied while idle. See docs/methods/write-buffer.md.

use flashscope_record::finding::{Quantity, WouldDecide};
use flashscope_record::observation::{Refusal, Room};
use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};

use flashscope_infer::streams::slowdown::Slowdown;
use flashscope_infer::streams::write_buffer::{MEMORY_MAX, stretches};
use flashscope_record::finding::FindingId;
use flashscope_record::observation::{Burst, Data, Observations, WriteBufferData};

use crate::contract::{Estimate, Expected, Experiment, Observer};
use crate::experiment::erase_blocks::START;
use crate::experiment::registration::{Access, Registration};
use crate::session::{Refused, Session, Stop, not_started, range, to_write};

/// The size of each write: a fraction of the smallest buffer that is recognised.
const REQUEST: Bytes = Bytes::kib(4);
/// A burst without a slow-down ends here: four times the largest buffer that is recognised.
const BURST_MAX: Bytes = Bytes::mib(4 * (MEMORY_MAX.get() >> 20));
/// The usual time of a burst. Guess: most virtual sticks show no slow-down.
const BURST_TIME: Duration = Duration::from_secs(5);
/// The fewest writes after a slow-down.
const SLOW_MIN: usize = 32;
/// They are at least a fourth of those before it.
const SLOW_SHARE: usize = 4;
/// Writes between two checks for a slow-down. The distance grows with the burst.
const WRITES_PER_CHECK: usize = 32;
/// Long enough for slow flash to empty a buffer in memory.
const PAUSE_SHORT: Duration = Duration::from_secs(4);
/// Four times as long, for comparison.
const PAUSE_LONG: Duration = Duration::from_secs(16);
/// The pauses before the bursts. Only the first burst is made if it shows no slow-down.
const PAUSES: [Duration; 5] = [PAUSE_SHORT, PAUSE_LONG, PAUSE_SHORT, PAUSE_LONG, PAUSE_SHORT];

/// The entry in the table of all experiments.
pub(super) const REGISTRATION: Registration = Registration {
    name: "write-buffer",
    question: "Write buffer of the controller",
    access: Access::Writes,
    options: &[],
    findings: &[FindingId::WriteBufferBytes],
    new: |request| Box::new(WriteBuffer { seed: request.seed }),
};

/// The experiment *write-buffer*.
#[derive(Debug, Clone, Copy)]
pub struct WriteBuffer {
    /// The random seed of the data.
    pub seed: u64,
}

impl WriteBuffer {
    /// The offset of the first burst, or the reason why it cannot begin. The others follow it.
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
        REGISTRATION.name
    }

    fn estimate(&self, _device: &dyn Device) -> Estimate {
        let bytes_written = BURST_MAX * PAUSES.len() as u64;
        let expected = Expected::time(PAUSE_SHORT + BURST_TIME);
        Estimate { requests: bytes_written / REQUEST, bytes_written, expected }
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
    /// The first burst finds a slow-down or not. The others find its cause.
    fn run(&mut self) -> Result<(), Stop> {
        for (index, pause) in PAUSES.into_iter().enumerate() {
            if index > 0 {
                let left = PAUSES.iter().skip(index);
                self.session.expect(Expected::time(left.map(|pause| *pause + BURST_TIME).sum()));
            }
            self.burst(pause)?;
            let first = self.data.bursts.first();
            if first.is_none_or(|burst| Slowdown::of(&stretches(REQUEST, &burst.each)).is_none()) {
                break;
            }
        }
        Ok(())
    }

    /// A pause and the writes after it, kept also if they end early.
    fn burst(&mut self, pause: Duration) -> Result<(), Stop> {
        self.session.pause(pause)?;
        let mut each = Vec::new();
        let result = self.writes(&mut each);
        self.data.bursts.push(Burst { pause, each });
        result
    }

    fn writes(&mut self, each: &mut Vec<Duration>) -> Result<(), Stop> {
        let mut next_check = WRITES_PER_CHECK;
        for index in 0..usize::try_from(BURST_MAX / REQUEST).unwrap_or(0) {
            each.extend(self.write()?);
            if index + 1 == next_check {
                if has_slowed_down(each) {
                    break;
                }
                next_check += (next_check / 4).max(WRITES_PER_CHECK);
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

/// Whether a burst slowed down, and stayed slow for long enough.
fn has_slowed_down(each: &[Duration]) -> bool {
    Slowdown::of(&stretches(REQUEST, each))
        .is_some_and(|slowdown| each.len() - slowdown.index >= SLOW_MIN.max(slowdown.index / SLOW_SHARE))
}

#[cfg(test)]
mod tests {
    use flashscope_device::OpKind;
    use flashscope_device::layer::Trace;
    use flashscope_device::memory::MemoryDevice;

    use super::*;
    use crate::contract::Silent;
    use flashscope_record::observation::Ended;

    #[test]
    fn device_without_slow_down_gets_one_burst() {
        let mut device = MemoryDevice::new(Bytes::mib(64));
        let seen = WriteBuffer { seed: 1 }.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        assert_eq!(seen.ended, Ended::Complete);
        let Data::WriteBuffer(data) = seen.data else { panic!("not data of write-buffer") };
        assert_eq!(data.bursts.iter().map(|burst| burst.each.len()).collect::<Vec<_>>(), [4096]);
    }

    #[test]
    fn small_device_is_refused() {
        let mut device = MemoryDevice::new(Bytes::mib(24));
        let seen = WriteBuffer { seed: 1 }.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        assert!(matches!(seen.ended, Ended::NotStarted { reason: Refusal::TooSmall { .. }, .. }));
    }

    /// Two bursts still fit behind it.
    #[test]
    fn device_of_40_mib_is_written_from_its_first_eighth_on() {
        let mut device = Trace::new(MemoryDevice::new(Bytes::mib(40)));
        let seen = WriteBuffer { seed: 1 }.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        assert_eq!(seen.ended, Ended::Complete);
        let first = device.records().iter().find(|record| record.kind == OpKind::Write).unwrap();
        assert_eq!(first.range.offset, Bytes::mib(5));
    }
}
