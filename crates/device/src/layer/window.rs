//! Shows a part of a device as a device of its own.

use crate::contract::{Capabilities, Device, DeviceError};
use crate::layer::refusals::Refusals;
use crate::request::{Completion, FailureCause, Op, Tag};
use crate::time::Instant;
use crate::units::ByteRange;

/// A device whose offsets count from the start of a range of another device. Requests beyond the range fail
/// with [`FailureCause::Fenced`]. Failures name the offsets of the other device.
#[derive(Debug)]
pub struct Window<D> {
    device: D,
    range: ByteRange,
    refusals: Refusals,
}

impl<D: Device> Window<D> {
    /// The part `range` of `device`.
    pub fn new(device: D, range: ByteRange) -> Self {
        Self { device, range, refusals: Refusals::default() }
    }
}

impl<D: Device> Device for Window<D> {
    fn capabilities(&self) -> Capabilities {
        Capabilities { capacity: self.range.length, ..self.device.capabilities() }
    }

    fn now(&self) -> Instant {
        self.device.now()
    }

    fn submit(&mut self, tag: Tag, mut op: Op) -> Result<(), DeviceError> {
        let whole = self.capabilities().whole();
        if let Op::Read { range, .. } | Op::Write { range, .. } | Op::Discard { range } = &mut op {
            if !whole.contains(*range) {
                let fence = FailureCause::Fenced { fence: whole };
                self.refusals.refuse(&self.device, tag, op, fence);
                return Ok(());
            }
            range.offset += self.range.offset;
        }
        self.device.submit(tag, op)
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        self.refusals.or_wait(&mut self.device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::DeviceExt;
    use crate::memory::MemoryDevice;
    use crate::pattern::Pattern;
    use crate::request::ReadInto;
    use crate::units::Bytes;

    #[test]
    fn window_counts_from_its_start_and_writes_nothing_outside() {
        let mut memory = MemoryDevice::new(Bytes::mib(16));
        let at = |offset, length| ByteRange::new(Bytes::mib(offset), Bytes::mib(length));
        let mut window = Window::new(&mut memory, at(4, 8));
        assert_eq!(window.capabilities().capacity, Bytes::mib(8));
        let pattern = Pattern::new(7);
        window.run(Op::write(at(1, 2), pattern)).unwrap().outcome.unwrap();
        for outside in [at(7, 2), at(8, 1), at(12, 1)] {
            let refused = window.run(Op::write(outside, pattern)).unwrap().outcome.unwrap_err();
            assert!(matches!(refused.cause, FailureCause::Fenced { .. }), "{refused:?}");
        }
        drop(window);
        let written = memory.read_bytes(at(5, 2)).unwrap().unwrap();
        let whole = memory.read_bytes(at(0, 16)).unwrap().unwrap();
        let outside = whole[..5 << 20].iter().chain(&whole[7 << 20..]);
        assert!(written.iter().any(|byte| *byte != 0) && outside.into_iter().all(|byte| *byte == 0));
        let read = memory.run(Op::Read { range: at(5, 2), into: ReadInto::Check(pattern) }).unwrap();
        assert_eq!(read.outcome, Ok(crate::request::Success::AllRight));
    }
}
