//! *write-size*: how large is a page, and how large must a write be to be fast? One stream of writes: small ones across
//! places where a page may end, then writes of growing size.
//!
//! Below the effective page a write costs as much as the page, and one across its edge as much as two; at the page the cost
//! per byte falls. All writes go one behind the other, so that no erase block is left half written and none has to be
//! merged for the next. See docs/methods/write-size.md.

use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};

use flashscope_infer::size_sweep::sweep::{stalled_sizes, sweep_points};
use flashscope_infer::size_sweep::write_unit::deciding;
use flashscope_record::finding::{Quantity, WouldDecide};
use flashscope_record::observation::{
    Data, Observations, Order, Refusal, Times, WriteSizeCell, WriteSizeData,
};

use crate::contract::{Estimate, Experiment, Observer};
use crate::experiment::page_edges;
use crate::experiment::stream::Stream;
use crate::experiment::units::Units;
use crate::session::{Refused, Session, Stop, not_started};

/// Writes per rung of the first round; of more than `SINGLE` bytes one.
const WRITES: u64 = 2;
/// From here on a rung is one write.
const SINGLE: Bytes = Bytes::kib(256);
/// The ladder ends here: hosts cut requests at 1 MiB at the latest, so that larger ones are no faster.
const LARGEST: Bytes = Bytes::mib(1);
/// So much is written at most.
const STREAM: Bytes = Bytes::mib(16);
/// Rounds of the sizes between which the write unit lies.
const ROUNDS_MAX: usize = 6;
/// A rung writes at most so many times. Where its size is no multiple of the page, it takes so many to meet pages in every
/// way that there is,
const WRITES_MAX: u64 = 8;
/// which matters up to so many pages.
const PAGES_MAX: u64 = 6;
/// At the end the largest size up to this is written so many times once more, for which so much is left.
const CONTROLLED: Bytes = Bytes::kib(64);
const CONTROL: u64 = 8;
const RESERVED: Bytes = Bytes::kib(64 * 9);
/// So often a rung is written as long as a write of it fails.
const TRIES: u32 = 3;

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
    fn sizes(device: &dyn Device) -> Vec<Bytes> {
        let capabilities = device.capabilities();
        let largest = LARGEST.min(capabilities.max_request).min(capabilities.capacity / 64);
        let block = capabilities.logical_block;
        let doublings = std::iter::successors(Some(block), |size| Some(*size * 2));
        let all = doublings.flat_map(|size| [size, size * 3 / 2]).filter(|size| size.is_multiple_of(block));
        all.take_while(|size| *size <= largest).collect()
    }

    /// From where to where the stream goes; else why it cannot begin.
    fn place(self, device: &dyn Device) -> Result<(Bytes, Bytes), Refused> {
        let erase_block = self.erase_block.max(Bytes::new(1));
        let units = Units::to_write(device, erase_block)?;
        let blocks = (STREAM.round_up(erase_block) / erase_block).min(units.left());
        let start = units.adjacent(blocks).ok_or_else(|| {
            Refused::new(Refusal::NoAdjacentBlocks, [WouldDecide::Larger(Quantity::Device)])
        })?;
        Ok((start, start + (erase_block * blocks).min(STREAM)))
    }
}

impl Experiment for WriteSize {
    fn name(&self) -> &'static str {
        "write-size"
    }

    fn estimate(&self, device: &dyn Device) -> Estimate {
        let rounds = WRITES_MAX * 3 * ROUNDS_MAX as u64;
        let requests = page_edges::requests_max()
            + Self::sizes(device).len() as u64 * (WRITES_MAX + 1)
            + rounds
            + CONTROL
            + 1;
        Estimate { requests, bytes_written: STREAM.min(device.capabilities().capacity) }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let erase_block = self.erase_block_is_known.then_some(self.erase_block);
        let mut data = WriteSizeData { erase_block, ..WriteSizeData::default() };
        let (start, end) = match self.place(device) {
            Ok(place) => place,
            Err(refusal) => return not_started(device, self.seed, Data::WriteSize(data), refusal),
        };
        let (estimate, sizes) = (self.estimate(device), Self::sizes(device));
        let block = device.capabilities().logical_block;
        let mut session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let mut ladder = Ladder {
            stream: Stream::new(&mut session, start, end),
            start,
            page: None,
            reserved: RESERVED,
            data: &mut data,
        };
        let result = ladder.run(block, &sizes);
        session.end(result, Data::WriteSize(data))
    }
}

/// The state of one run.
struct Ladder<'a, 'b, 'c> {
    stream: Stream<'a, 'b>,
    start: Bytes,
    page: Option<Bytes>,
    /// How much of the stream is left for the control.
    reserved: Bytes,
    data: &'c mut WriteSizeData,
}

/// How many writes of `size` a rung makes: as many as meet pages in every way, if that matters.
fn writes(size: Bytes, page: Option<Bytes>) -> u64 {
    let usual = if size > SINGLE { 1 } else { WRITES };
    let Some(page) = page.filter(|page| size <= *page * PAGES_MAX) else { return usual };
    let in_every_way =
        (1..=WRITES_MAX).find(|writes| (size * *writes).is_multiple_of(page)).unwrap_or(WRITES_MAX);
    usual.next_multiple_of(in_every_way)
}

impl Ladder<'_, '_, '_> {
    fn run(&mut self, logical_block: Bytes, sizes: &[Bytes]) -> Result<(), Stop> {
        self.page = page_edges::search(&mut self.stream, logical_block, self.data)?;
        sizes.iter().try_for_each(|size| self.rung(*size))?;
        (0..ROUNDS_MAX).try_for_each(|_| self.round())?;
        self.reserved = Bytes::ZERO;
        self.control()
    }

    /// One size of the first round once more: whether the device became slower while larger ones were written.
    fn control(&mut self) -> Result<(), Stop> {
        let sizes = self.data.cells.iter().map(|cell| cell.request);
        let Some(size) = sizes.filter(|size| *size <= CONTROLLED).max() else { return Ok(()) };
        let begins_at = self.stream.position().round_up(size);
        let mut times = Vec::new();
        let result = self.try_rung(size, begins_at, CONTROL, &mut times);
        if !times.is_empty() {
            let start = Some(begins_at - self.start);
            let times = Times::Each(times);
            self.data.control = Some(WriteSizeCell { order: Order::Linear, request: size, start, times });
        }
        result
    }

    /// Writes the sizes once more that decide which one is the write unit, as long as that is open.
    fn round(&mut self) -> Result<(), Stop> {
        let mut again = stalled_sizes(&self.data.cells);
        if again.is_empty() {
            again = deciding(&sweep_points(&self.data.cells));
        }
        again.into_iter().try_for_each(|size| self.rung(size))
    }

    /// Writes one rung and keeps what was seen, also when it is cut short. It begins at a multiple of its size. A device that errs now
    /// and then does not do so each time: where a write failed, the rung is written once more.
    fn rung(&mut self, size: Bytes) -> Result<(), Stop> {
        let writes = writes(size, self.page);
        let (mut start, mut seen, mut result) = (None, Vec::new(), Ok(()));
        for _ in 0..TRIES {
            if result.is_err() || seen.len() as u64 == writes {
                break;
            }
            let begins_at = self.stream.position().round_up(size);
            let mut times = Vec::new();
            result = self.try_rung(size, begins_at, writes, &mut times);
            if times.len() > seen.len() {
                (start, seen) = (Some(begins_at - self.start), times);
            }
        }
        if !seen.is_empty() {
            let times = Times::Each(seen);
            self.data.cells.push(WriteSizeCell { order: Order::Linear, request: size, start, times });
        }
        result
    }

    /// So many writes of one size from here on, and the times of those before one that fails. What lies before is filled up, so that
    /// the stream has no gap.
    fn try_rung(
        &mut self,
        size: Bytes,
        begins_at: Bytes,
        writes: u64,
        times: &mut Vec<Duration>,
    ) -> Result<(), Stop> {
        if !self.stream.has_room(begins_at + size * writes + self.reserved - self.stream.position()) {
            return Ok(());
        }
        self.stream.fill(begins_at)?;
        // A write that failed leaves no time, and those behind it would be taken for others.
        let mut has_failed = false;
        for _ in 0..writes {
            match self.stream.write(size)? {
                Some(latency) if !has_failed => times.push(latency),
                _ => has_failed = true,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::layer::{FaultSpec, Faulty};
    use flashscope_device::memory::MemoryDevice;

    use super::*;
    use crate::contract::Silent;
    use flashscope_record::observation::Ended;

    const EXPERIMENT: WriteSize =
        WriteSize { erase_block: Bytes::mib(1), erase_block_is_known: true, seed: 1 };

    #[test]
    fn a_device_without_pages_is_asked_for_edges_and_every_size() {
        let mut device = MemoryDevice::new(Bytes::mib(512));
        let estimate = EXPERIMENT.estimate(&device);
        let seen = EXPERIMENT.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        assert_eq!(seen.ended, Ended::Complete);
        let Data::WriteSize(data) = seen.data else { panic!("write-size saw something else") };
        assert!(data.edges.len() > 3 && !data.edges_flushed, "{}", data.edges.len());
        let sizes: std::collections::BTreeSet<Bytes> = data.cells.iter().map(|cell| cell.request).collect();
        assert_eq!(sizes.first().zip(sizes.last()), Some((&Bytes::new(512), &Bytes::mib(1))));
        let mut end = Bytes::ZERO;
        for cell in &data.cells {
            let Times::Each(times) = &cell.times else { panic!("a mean of our own") };
            let start = cell.start.unwrap();
            assert!(start >= end, "{start} lies before {end}");
            end = start + cell.request * times.len() as u64;
        }
        assert!(end <= estimate.bytes_written, "{end}");
    }

    #[test]
    fn a_size_of_which_a_write_failed_is_written_once_more() {
        let sizes = |faults: &[FaultSpec]| {
            let mut device = Faulty::new(MemoryDevice::new(Bytes::mib(512)), faults, 1).unwrap();
            let seen = EXPERIMENT.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
            let Data::WriteSize(data) = seen.data else { panic!("write-size saw something else") };
            let ladder = data.cells.iter().take(WriteSize::sizes(&device).len());
            ladder
                .map(|cell| (cell.request, cell.times.clone()))
                .map(|(size, times)| {
                    let Times::Each(times) = times else { panic!("a mean of our own") };
                    (size, times.len())
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(sizes(&["write-errors:share=0.1".parse().unwrap()]), sizes(&[]));
    }

    #[test]
    fn sizes_that_are_no_multiple_of_the_page_meet_it_in_every_way() {
        let page = Some(Bytes::kib(48));
        assert_eq!([16, 32, 48, 64, 96, 512].map(|kib| writes(Bytes::kib(kib), page)), [3, 3, 2, 3, 2, 1]);
        assert_eq!(writes(Bytes::kib(64), None), WRITES);
    }

    #[test]
    fn a_read_only_device_is_refused_in_words() {
        let mut device = flashscope_device::layer::ReadOnly::new(MemoryDevice::new(Bytes::mib(64)));
        let seen = EXPERIMENT.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        assert!(matches!(seen.ended, Ended::NotStarted { reason: Refusal::ReadOnly, .. }));
    }
}
