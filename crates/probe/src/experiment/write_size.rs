//! *write-size*: how large must a write be to be fast? One stream of writes that grow, from the sector to some MiB.
//!
//! Below the effective page a write costs as much as the page; at the page the cost per byte falls. All writes go one
//! behind the other, so that no erase block is left half written and none has to be merged for the next. See
//! docs/methods/write-size.md.

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};

use super::session::{Session, Stop, not_started, range};
use super::units::Units;
use super::{Estimate, Experiment, Observer};
use crate::observation::{Data, Observations, Order, Times, WriteSizeCell, WriteSizeData};

/// Writes per rung, up to the largest size that is taken for a page.
const WRITES: u64 = 10;
/// Larger rungs tell the speed only; they end once so much was written,
const RUNG_BYTES: Bytes = Bytes::kib(768);
/// but not before so many writes.
const WRITES_MIN: u64 = 2;
/// The ladder ends here: hosts cut requests at 1 MiB at the latest, so that larger ones are no faster.
const LARGEST: Bytes = Bytes::mib(4);

/// The experiment *write-size*.
#[derive(Debug, Clone, Copy)]
pub struct WriteSize {
    /// The erase block: the stream starts at one of its multiples.
    pub erase_block: Bytes,
    /// Whether the erase block was found, or is a guess.
    pub erase_block_is_known: bool,
    /// The seed of the data.
    pub seed: u64,
}

impl WriteSize {
    /// The rungs: 2^n and 3 x 2^n, since TLC gives pages of either kind.
    fn sizes(self, device: &dyn Device) -> Vec<Bytes> {
        let capabilities = device.capabilities();
        let largest = LARGEST.min(capabilities.max_request).min(capabilities.capacity / 64);
        let block = capabilities.logical_block;
        let doublings = std::iter::successors(Some(block), |size| Some(*size * 2));
        let all = doublings.flat_map(|size| [size, size * 3 / 2]).filter(|size| size.is_multiple_of(block));
        all.take_while(|size| *size <= largest).collect()
    }

    /// What the stream takes at most, the fillers between rungs included.
    fn length(self, device: &dyn Device) -> Bytes {
        self.sizes(device).into_iter().map(|size| size * (writes(size) + 1)).sum()
    }
}

/// How many writes of `size` a rung makes.
fn writes(size: Bytes) -> u64 {
    (RUNG_BYTES / size).clamp(WRITES_MIN, WRITES)
}

impl Experiment for WriteSize {
    fn name(&self) -> &'static str {
        "write-size"
    }

    fn estimate(&self, device: &dyn Device) -> Estimate {
        let requests = self.sizes(device).into_iter().map(|size| writes(size) + 1).sum();
        Estimate { requests, bytes_written: self.length(device) }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let erase_block = self.erase_block_is_known.then_some(self.erase_block);
        let mut data = WriteSizeData { erase_block, cells: Vec::new() };
        let blocks = self.length(device).round_up(self.erase_block.max(Bytes::new(1)))
            / self.erase_block.max(Bytes::new(1));
        let start = Units::to_write(device, self.erase_block).and_then(|units| {
            let too_small = || format!("fewer than {blocks} erase blocks one behind the other");
            units.adjacent(blocks).ok_or_else(too_small)
        });
        let start = match start {
            Ok(start) => start,
            Err(reason) => return not_started(device, self.seed, Data::WriteSize(data), reason),
        };
        let (estimate, sizes) = (self.estimate(device), self.sizes(device));
        let mut session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let mut stream = Stream { start, written: Bytes::ZERO };
        let result = sizes.into_iter().try_for_each(|size| stream.rung(&mut session, size, &mut data.cells));
        let (conditions, ended) = session.end(result);
        Observations { data: Data::WriteSize(data), conditions, ended }
    }
}

/// Writes one behind the other.
struct Stream {
    start: Bytes,
    written: Bytes,
}

impl Stream {
    /// Writes one rung and keeps what was seen, also when it is cut short. It begins at a multiple of its size; what lies
    /// before is filled up, so that the stream has no gap.
    fn rung(
        &mut self,
        session: &mut Session<'_>,
        size: Bytes,
        cells: &mut Vec<WriteSizeCell>,
    ) -> Result<(), Stop> {
        let begins_at = self.written.round_up(size);
        if begins_at > self.written {
            self.write(session, begins_at - self.written)?;
        }
        let mut times = Vec::new();
        let mut result = Ok(());
        for _ in 0..writes(size) {
            match self.write(session, size) {
                Ok(latency) => times.push(latency),
                Err(stop) => {
                    result = Err(stop);
                    break;
                }
            }
        }
        // A write that failed leaves no time, and those behind it would be taken for others.
        let times: Vec<_> = times.into_iter().map_while(|latency| latency).collect();
        if !times.is_empty() {
            let (start, times) = (Some(begins_at), Times::Each(times));
            cells.push(WriteSizeCell { order: Order::Linear, request: size, start, times });
        }
        result
    }

    fn write(
        &mut self,
        session: &mut Session<'_>,
        length: Bytes,
    ) -> Result<Option<std::time::Duration>, Stop> {
        let offset = self.start + self.written;
        self.written += length;
        session.write(range(offset, length))
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::memory::MemoryDevice;

    use super::*;
    use crate::experiment::Silent;
    use crate::observation::Ended;

    #[test]
    fn one_stream_without_a_gap_climbs_from_the_sector() {
        let mut device = MemoryDevice::new(Bytes::mib(512));
        let experiment = WriteSize { erase_block: Bytes::mib(1), erase_block_is_known: true, seed: 1 };
        let estimate = experiment.estimate(&device);
        let seen = experiment.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        assert_eq!(seen.ended, Ended::Complete);
        let Data::WriteSize(data) = seen.data else { panic!("write-size saw something else") };
        assert_eq!(data.cells.first().map(|cell| cell.request), Some(Bytes::new(512)));
        assert_eq!(data.cells.last().map(|cell| cell.request), Some(Bytes::mib(4)));
        let mut end = Bytes::ZERO;
        for cell in &data.cells {
            let Times::Each(times) = &cell.times else { panic!("a mean of our own") };
            let start = cell.start.unwrap();
            assert!(start.is_multiple_of(cell.request) && start >= end && start < end + cell.request);
            end = start + cell.request * times.len() as u64;
        }
        assert!(end <= estimate.bytes_written, "{end}");
    }

    #[test]
    fn a_read_only_device_is_refused_in_words() {
        let mut device = flashscope_device::layer::ReadOnly::new(MemoryDevice::new(Bytes::mib(64)));
        let experiment = WriteSize { erase_block: Bytes::mib(1), erase_block_is_known: true, seed: 1 };
        let seen = experiment.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        assert!(matches!(seen.ended, Ended::NotStarted { reason } if reason.contains("read-only")));
    }
}
