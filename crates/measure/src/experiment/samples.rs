//! *samples*: writes of one size, spread evenly over the device, each followed by a flush.
//!
//! GNOME Disks measures like this: 100 to 1000 samples of 10 MiB. Each sample opens blocks of its own, so
//! that the result includes the cost of opening them. See docs/methods/sustained.md.

use flashscope_device::layer::Budget;
use flashscope_device::{ByteRange, Bytes, Device};

use flashscope_record::finding::{Quantity, WouldDecide};
use flashscope_record::observation::{Data, Observations, Piece, Refusal, Room, SustainedData};

use crate::contract::{Estimate, Expected, Experiment, Observer};
use crate::limits::SMALL_REQUEST;
use crate::session::{
    NOTHING, READ_BACK_PLACES, READ_BACK_TIME_MAX, Refused, Session, Stop, is_other_data, not_started, range,
    read_back_of, to_write,
};

/// The experiment *samples*.
#[derive(Debug, Clone, Copy)]
pub struct Samples {
    /// The number of samples.
    pub count: u32,
    /// The size of each.
    pub size: Bytes,
    /// The random seed of the data.
    pub seed: u64,
}

impl Samples {
    fn permit(&self, device: &dyn Device) -> Result<(), Refused> {
        let room = to_write(device)?.capacity;
        if room < self.size {
            let reason = Refusal::TooSmall { capacity: room, room: Room::Samples(self.size) };
            let would_decide =
                [WouldDecide::Smaller(Quantity::Samples), WouldDecide::Larger(Quantity::Device)];
            return Err(Refused::new(reason, would_decide));
        }
        Ok(())
    }

    /// The offset of a sample.
    fn offset(&self, index: u32, device: &dyn Device) -> Bytes {
        let capabilities = device.capabilities();
        let room = (capabilities.capacity - self.size) / u64::from(self.count.max(2) - 1);
        (room * u64::from(index)).round_down(capabilities.logical_block)
    }
}

impl Experiment for Samples {
    fn name(&self) -> &'static str {
        "samples"
    }

    fn estimate(&self, _device: &dyn Device) -> Estimate {
        let bytes_written = self.size * u64::from(self.count);
        let expected = Expected::transfer(bytes_written, Bytes::ZERO);
        Estimate { requests: 2 * u64::from(self.count), bytes_written, expected }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let mut data = SustainedData { request: self.size, is_spread: true, ..SustainedData::default() };
        if let Err(refusal) = self.permit(device) {
            return not_started(device, self.seed, Data::Sustained(data), refusal);
        }
        let estimate = self.estimate(device);
        let offsets: Vec<Bytes> = (0..self.count).map(|index| self.offset(index, device)).collect();
        let mut session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let result = samples(&mut session, &offsets, &mut data);
        session.end(result, Data::Sustained(data))
    }
}

fn samples(session: &mut Session<'_>, offsets: &[Bytes], data: &mut SustainedData) -> Result<(), Stop> {
    let step = offsets.len().div_ceil(READ_BACK_PLACES).max(1);
    let size = SMALL_REQUEST.min(data.request);
    let place = |offset: Bytes| range(offset, size);
    for (index, offset) in offsets.iter().enumerate() {
        session.reads_back(if index.is_multiple_of(step) { place(*offset) } else { NOTHING });
        if let Some(time) = session.write_through(range(*offset, data.request))? {
            data.pieces.push(Piece { requests: 1, time });
        }
    }
    let places: Vec<ByteRange> = offsets.iter().step_by(step).map(|offset| place(*offset)).collect();
    let lost = session.read_back(&places, READ_BACK_TIME_MAX, is_other_data);
    data.read_back = read_back_of(&lost);
    Ok(())
}

#[cfg(test)]
mod tests {
    use flashscope_device::layer::Trace;
    use flashscope_device::memory::MemoryDevice;
    use flashscope_device::{OpKind, SECTOR};

    use super::*;
    use crate::contract::Silent;
    use flashscope_record::observation::Ended;

    #[test]
    fn samples_span_the_device_and_are_flushed() {
        let mut device = Trace::new(MemoryDevice::new(Bytes::mib(100)));
        let samples = Samples { count: 5, size: Bytes::mib(10), seed: 1 };
        let estimate = samples.estimate(&device);
        assert_eq!((estimate.requests, estimate.bytes_written), (10, Bytes::mib(50)));
        let seen = samples.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        assert_eq!(seen.ended, Ended::Complete);
        let writes: Vec<_> = device.records().iter().filter(|record| record.kind == OpKind::Write).collect();
        let flushes = device.records().iter().filter(|record| record.kind == OpKind::Flush).count();
        assert_eq!((writes.len(), flushes), (5, 5));
        let ranges: Vec<_> = writes.iter().map(|record| record.range).collect();
        assert_eq!((ranges[0].offset, ranges[4].end()), (Bytes::ZERO, Bytes::mib(100)));
        assert!(ranges.iter().all(|range| range.offset.is_multiple_of(SECTOR)));
    }
}
