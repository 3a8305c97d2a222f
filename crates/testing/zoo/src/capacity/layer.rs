//! Devices that lose data by a rule: the layer takes one request after another.

use std::collections::VecDeque;

use flashscope_device::{
    Buffer, ByteRange, Bytes, Capabilities, Completion, Device, DeviceError, DeviceExt, Instant, Op, Pattern,
    Payload, ReadInto, SECTOR, Success, Tag,
};

/// A rule that decides what happens to the data of a sector.
pub(crate) trait Rule {
    /// The capacity that the device announces.
    fn capacity(&self, below: Bytes) -> Bytes;
    /// Sectors with the same answer to [`is_stored`](Self::is_stored) lie in granules of this size.
    fn granule(&self) -> Bytes;
    /// Whether a write to this granule reaches the flash.
    fn is_stored(&mut self, granule: u64) -> bool;
    /// Takes a write that does not reach the flash.
    fn drop_write(&mut self, _sectors: ByteRange, _pattern: Pattern) {}
    /// What a read returns instead of the flash's data; `None`: the flash's data.
    fn instead(&mut self, sector: u64) -> Option<Instead>;
}

/// Data that does not come from the flash.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Instead {
    /// Zeros, without a read of the flash.
    Zeros,
    /// This pattern.
    Pattern(Pattern),
}

/// A device with a rule.
pub(crate) struct Lossy<D, R> {
    device: D,
    rule: R,
    done: VecDeque<Completion>,
}

/// The latency of a read that touches no flash. Guess: a command without a page read.
const WITHOUT_FLASH: std::time::Duration = std::time::Duration::from_micros(150);

impl<D: Device, R: Rule> Lossy<D, R> {
    pub(crate) const fn new(device: D, rule: R) -> Self {
        Self { device, rule, done: VecDeque::new() }
    }

    fn write(&mut self, range: ByteRange, pattern: Pattern) -> Result<(), DeviceError> {
        let granule = self.rule.granule();
        let mut at = range.offset;
        while at < range.end() {
            let length = (granule - at % granule).min(range.end() - at);
            let part = ByteRange::new(at, length);
            let op = if self.rule.is_stored(at / granule) {
                Op::write(part, pattern)
            } else {
                self.rule.drop_write(part, pattern);
                Op::read(ByteRange::new(at % self.device.capabilities().capacity.round_down(granule), length))
            };
            self.device.run(op)?;
            at = part.end();
        }
        Ok(())
    }

    fn read(&mut self, range: ByteRange, buffer: &mut Buffer) -> Result<(), DeviceError> {
        let first = range.offset.sectors().0;
        let sectors = range.length.sectors().0;
        let instead: Vec<Option<Instead>> =
            (first..first + sectors).map(|at| self.rule.instead(at)).collect();
        if instead.iter().any(Option::is_none) {
            if let Ok(read) = self.device.read_bytes(range)? {
                buffer.copy_from_slice(&read);
            }
        } else {
            self.device.pause(WITHOUT_FLASH)?;
        }
        let size = SECTOR.to_usize();
        for (index, instead) in instead.iter().enumerate() {
            let out = &mut buffer[index * size..(index + 1) * size];
            match instead {
                None => {}
                Some(Instead::Zeros) => out.fill(0),
                Some(Instead::Pattern(pattern)) => {
                    pattern.fill(flashscope_device::Lba(first + index as u64), out);
                }
            }
        }
        Ok(())
    }
}

impl<D: Device, R: Rule> Device for Lossy<D, R> {
    fn capabilities(&self) -> Capabilities {
        let below = self.device.capabilities();
        Capabilities { capacity: self.rule.capacity(below.capacity), ..below }
    }

    fn now(&self) -> Instant {
        self.device.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        let submitted_at = self.device.now();
        let mut buffer = None;
        let mut outcome = self.capabilities().admit(&op).map(|()| Success::Done);
        match op {
            _ if outcome.is_err() => buffer = op.into_buffer(),
            Op::Write { range, payload: Payload::Pattern { pattern, .. } } => self.write(range, pattern)?,
            Op::Read { range, into: ReadInto::Bytes(mut into) } => {
                self.read(range, &mut into)?;
                buffer = Some(into);
            }
            Op::Read { range, into: ReadInto::Check(pattern) } => {
                let mut bytes = Buffer::zeroed(range.length);
                self.read(range, &mut bytes)?;
                outcome = Ok(Success::of_check(pattern.check(range.offset.sectors(), &bytes)));
            }
            other => outcome = self.device.run(other)?.outcome,
        }
        let completed_at = self.device.now();
        self.done.push_back(Completion::new(tag, (submitted_at, completed_at), outcome, buffer));
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        Ok(self.done.pop_front())
    }
}
