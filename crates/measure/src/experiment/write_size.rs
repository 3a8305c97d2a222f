//! *write-size*: how large is a page, and how large must a write be to be fast? Sequential writes: small ones
//! across possible page boundaries, then writes of growing size.
//!
//! Below the effective page a write costs as much as the page, and one across a page boundary as much as two.
//! From the page on the cost per byte falls. All writes are adjacent, so that no erase block is left half
//! written and none has to be merged for the next. See docs/methods/write-size.md.

use flashscope_record::finding::{Quantity, WouldDecide};
use flashscope_record::observation::Refusal;
use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Capabilities, Device};

use flashscope_infer::size_sweep::sweep::{stalled_sizes, sweep_points};
use flashscope_infer::size_sweep::write_unit::deciding;
use flashscope_infer::sizes::sizes;
use flashscope_record::finding::FindingId;
use flashscope_record::observation::{Data, Observations, Order, Times, WriteSizeCell, WriteSizeData};

use crate::contract::{Estimate, Expected, Experiment, Observer};
use crate::experiment::erase_blocks::EraseBlocks;
use crate::experiment::gapless_writer::GaplessWriter;
use crate::experiment::page_edges;
use crate::experiment::registration::{Access, Registration, RequestOption};
use crate::limits::{LARGE_REQUEST, TRIES};
use crate::session::{Refused, Session, Stop, not_started};

/// Writes of each size in a round.
const WRITES: u64 = 2;
/// Above this size a round has one write.
const SINGLE: Bytes = Bytes::kib(256);
/// The most sizes that a page adds: 2 KiB, the smallest, to the largest size in doublings.
const PAGE_SIZES_MAX: u64 = 10;
/// The most bytes written. Guess.
const STREAM: Bytes = Bytes::mib(16);
/// The most further rounds, of the sizes between which the write unit lies.
const ROUNDS_MAX: usize = 6;
/// The most writes of a size in a round. A size that is no multiple of the page needs several to meet pages
/// at every alignment,
const WRITES_MAX: u64 = 8;
/// which matters up to this size, in pages.
const PAGES_MAX: u64 = 6;
/// The control at the end writes the largest size up to this once more.
const CONTROL_REQUEST_MAX: Bytes = Bytes::kib(64);
/// Writes of the control.
const CONTROL_WRITES: u64 = 8;
/// The bytes left for the control.
const RESERVED: Bytes = Bytes::kib(64 * 9);
/// The most time that is expected. Guess: nine of ten virtual sticks take less.
const USUAL_TIME: Duration = Duration::from_secs(10);

/// The entry in the table of all experiments.
pub(super) const REGISTRATION: Registration = Registration {
    name: "write-size",
    question: "Smallest write at full speed, and page",
    access: Access::Writes,
    options: &[RequestOption::EraseBlock],
    findings: &[FindingId::PageBytes, FindingId::WriteUnitBytes],
    new: |request| {
        Box::new(WriteSize {
            erase_block: request.erase_block_or_assumed(),
            erase_block_is_known: request.erase_block.is_some(),
            seed: request.seed,
        })
    },
};

/// The experiment *write-size*.
#[derive(Debug, Clone, Copy)]
pub struct WriteSize {
    /// The erase block: the writes start at one of its multiples.
    pub erase_block: Bytes,
    /// Whether the erase block was found, or is a guess.
    pub erase_block_is_known: bool,
    /// The random seed of the data.
    pub seed: u64,
}

impl WriteSize {
    /// The sizes, ascending: 2^n and 3 x 2^n, since TLC flash has pages of either kind, and the found page
    /// times 2^n, for requests of whole pages are the smallest that are fast.
    fn sizes(capabilities: &Capabilities, page: Option<Bytes>) -> Vec<Bytes> {
        let largest = LARGE_REQUEST.min(capabilities.max_request).min(capabilities.capacity / 64);
        let block = capabilities.logical_block;
        let pages = std::iter::successors(page, |size| Some(*size * 2)).take_while(|size| *size <= largest);
        let mut sizes: Vec<Bytes> =
            sizes(&[1, 3], block, largest).chain(pages).filter(|size| size.is_multiple_of(block)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// The start and end of the writes, or the reason why they cannot begin.
    fn region(self, device: &dyn Device) -> Result<(Bytes, Bytes), Refused> {
        let erase_block = self.erase_block.max(Bytes::new(1));
        let free = EraseBlocks::to_write(device, erase_block)?;
        let blocks = (STREAM.round_up(erase_block) / erase_block).min(free.left());
        let start = free.adjacent(blocks).ok_or_else(|| {
            Refused::new(Refusal::NoAdjacentBlocks, [WouldDecide::Larger(Quantity::Device)])
        })?;
        Ok((start, start + (erase_block * blocks).min(STREAM)))
    }
}

impl Experiment for WriteSize {
    fn name(&self) -> &'static str {
        REGISTRATION.name
    }

    fn estimate(&self, device: &dyn Device) -> Estimate {
        let rounds = WRITES_MAX * 3 * ROUNDS_MAX as u64;
        let requests = page_edges::requests_max()
            + (Self::sizes(&device.capabilities(), None).len() as u64 + PAGE_SIZES_MAX) * (WRITES_MAX + 1)
            + rounds
            + CONTROL_WRITES
            + 1;
        let bytes_written = STREAM.min(device.capabilities().capacity);
        let expected = Expected::time_or_writing(USUAL_TIME, bytes_written);
        Estimate { requests, bytes_written, expected }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let erase_block = self.erase_block_is_known.then_some(self.erase_block);
        let mut data = WriteSizeData { erase_block, ..WriteSizeData::default() };
        let (start, end) = match self.region(device) {
            Ok(region) => region,
            Err(refusal) => return not_started(device, self.seed, Data::WriteSize(data), refusal),
        };
        let estimate = self.estimate(device);
        let capabilities = device.capabilities();
        let mut session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let mut sweep = SizeSweep {
            writer: GaplessWriter::new(&mut session, start, end),
            start,
            page: None,
            reserved: RESERVED,
            data: &mut data,
        };
        let result = sweep.run(&capabilities);
        session.end(result, Data::WriteSize(data))
    }
}

/// The state of one run.
struct SizeSweep<'a, 'b, 'c> {
    writer: GaplessWriter<'a, 'b>,
    start: Bytes,
    page: Option<Bytes>,
    /// The bytes left for the control.
    reserved: Bytes,
    data: &'c mut WriteSizeData,
}

/// The number of writes of `size` in a round: enough to meet pages at every alignment, if that matters.
fn writes(size: Bytes, page: Option<Bytes>) -> u64 {
    let writes = if size > SINGLE { 1 } else { WRITES };
    let Some(page) = page.filter(|page| size <= *page * PAGES_MAX) else { return writes };
    let all_alignments =
        (1..=WRITES_MAX).find(|writes| (size * *writes).is_multiple_of(page)).unwrap_or(WRITES_MAX);
    writes.next_multiple_of(all_alignments)
}

impl SizeSweep<'_, '_, '_> {
    fn run(&mut self, capabilities: &Capabilities) -> Result<(), Stop> {
        self.page = page_edges::search(&mut self.writer, capabilities.logical_block, self.data)?;
        WriteSize::sizes(capabilities, self.page).into_iter().try_for_each(|size| self.sweep_point(size))?;
        (0..ROUNDS_MAX).try_for_each(|_| self.round())?;
        self.reserved = Bytes::ZERO;
        self.control()
    }

    /// Writes one size once more, to see whether the device became slower in between.
    fn control(&mut self) -> Result<(), Stop> {
        let sizes = self.data.cells.iter().map(|cell| cell.request);
        let Some(size) = sizes.filter(|size| *size <= CONTROL_REQUEST_MAX).max() else { return Ok(()) };
        let start_offset = self.writer.position().round_up(size);
        let mut times = Vec::new();
        let result = self.try_sweep_point(size, start_offset, CONTROL_WRITES, &mut times);
        if !times.is_empty() {
            let start = Some(start_offset - self.start);
            let times = Times::Each(times);
            self.data.control = Some(WriteSizeCell { order: Order::Linear, request: size, start, times });
        }
        result
    }

    /// Writes those sizes once more that decide the write unit, while it is undecided.
    fn round(&mut self) -> Result<(), Stop> {
        let mut again = stalled_sizes(&self.data.cells);
        if again.is_empty() {
            again = deciding(&sweep_points(&self.data.cells));
        }
        again.into_iter().try_for_each(|size| self.sweep_point(size))
    }

    /// Writes one size from one of its multiples on, and keeps its times also if it ends early. If a write
    /// failed, the size is written once more: errors are seldom permanent.
    fn sweep_point(&mut self, size: Bytes) -> Result<(), Stop> {
        let writes = writes(size, self.page);
        let (mut start, mut seen, mut result) = (None, Vec::new(), Ok(()));
        for _ in 0..TRIES {
            if result.is_err() || seen.len() as u64 == writes {
                break;
            }
            let start_offset = self.writer.position().round_up(size);
            let mut times = Vec::new();
            result = self.try_sweep_point(size, start_offset, writes, &mut times);
            if times.len() > seen.len() {
                (start, seen) = (Some(start_offset - self.start), times);
            }
        }
        if !seen.is_empty() {
            let times = Times::Each(seen);
            self.data.cells.push(WriteSizeCell { order: Order::Linear, request: size, start, times });
        }
        result
    }

    /// `writes` writes of one size, and the times of those before a failed one. The gap before them is
    /// filled.
    fn try_sweep_point(
        &mut self,
        size: Bytes,
        start_offset: Bytes,
        writes: u64,
        times: &mut Vec<Duration>,
    ) -> Result<(), Stop> {
        if !self.writer.has_room(start_offset + size * writes + self.reserved - self.writer.position()) {
            return Ok(());
        }
        self.writer.fill(start_offset)?;
        // A failed write leaves no time, so that the times after it would belong to the wrong writes.
        let mut has_failed = false;
        for _ in 0..writes {
            match self.writer.write(size)? {
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
    use flashscope_device::memory::{MemoryDevice, TimedDevice};

    use super::*;
    use crate::contract::Silent;
    use flashscope_record::observation::Ended;

    const EXPERIMENT: WriteSize =
        WriteSize { erase_block: Bytes::mib(1), erase_block_is_known: true, seed: 1 };

    #[test]
    fn device_without_pages_gets_edges_and_every_size() {
        let mut device = MemoryDevice::new(Bytes::mib(512));
        let estimate = EXPERIMENT.estimate(&device);
        let seen = EXPERIMENT.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        assert_eq!(seen.ended, Ended::Complete);
        let Data::WriteSize(data) = seen.data else { panic!("not data of write-size") };
        assert!(data.edges.len() > 3 && !data.edges_flushed, "{}", data.edges.len());
        let sizes: std::collections::BTreeSet<Bytes> = data.cells.iter().map(|cell| cell.request).collect();
        assert_eq!(sizes.first().zip(sizes.last()), Some((&Bytes::new(512), &Bytes::mib(1))));
        let mut end = Bytes::ZERO;
        for cell in &data.cells {
            let Times::Each(times) = &cell.times else { panic!("a mean instead of single times") };
            let start = cell.start.unwrap();
            assert!(start >= end, "{start} lies before {end}");
            end = start + cell.request * times.len() as u64;
        }
        assert!(end <= estimate.bytes_written, "{end}");
    }

    #[test]
    fn size_with_a_failed_write_is_repeated() {
        let sizes = |faults: &[FaultSpec]| {
            let mut device = Faulty::new(MemoryDevice::new(Bytes::mib(512)), faults, 1).unwrap();
            let seen = EXPERIMENT.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
            let Data::WriteSize(data) = seen.data else { panic!("not data of write-size") };
            let first_round = data.cells.iter().take(WriteSize::sizes(&device.capabilities(), None).len());
            first_round
                .map(|cell| (cell.request, cell.times.clone()))
                .map(|(size, times)| {
                    let Times::Each(times) = times else { panic!("a mean instead of single times") };
                    (size, times.len())
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(sizes(&["write-errors:share=0.1".parse().unwrap()]), sizes(&[]));
    }

    /// Writes from 96 KiB on are the fastest, and those of 64 KiB have four fifths of their speed. All but
    /// the smallest take 2 % more or less by turns.
    #[test]
    fn a_size_near_the_write_unit_is_written_again_while_it_is_undecided() {
        let mut is_slow = false;
        let mut device = TimedDevice::new(MemoryDevice::new(Bytes::mib(128)), |op| {
            is_slow = !is_slow;
            let length = op.range().map_or(Bytes::ZERO, |range| range.length);
            let micros = match length {
                length if length < Bytes::kib(64) => 700.0,
                length if length < Bytes::kib(96) => 800.0,
                length => 10.0 * length.as_f64() / 1024.0,
            };
            let share = match (length == Bytes::kib(1), is_slow) {
                (true, _) => 1.0,
                (false, true) => 1.02,
                (false, false) => 0.98,
            };
            Duration::from_secs_f64(micros * share * 1e-6)
        });
        let seen = EXPERIMENT.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        let Data::WriteSize(data) = seen.data else { panic!("not data of write-size") };
        let rounds = |kib| data.cells.iter().filter(|cell| cell.request == Bytes::kib(kib)).count();
        assert!(rounds(64) > 1 && rounds(32) == 1, "{} and {}", rounds(64), rounds(32));
    }

    #[test]
    fn page_and_its_doublings_are_sizes() {
        let capabilities = MemoryDevice::new(Bytes::mib(512)).capabilities();
        let more = |page: u64| {
            let without = WriteSize::sizes(&capabilities, None);
            let mut sizes = WriteSize::sizes(&capabilities, Some(Bytes::kib(page)));
            assert!(sizes.is_sorted());
            sizes.retain(|size| !without.contains(size));
            sizes
        };
        assert_eq!(more(48), []);
        assert_eq!(more(40), [40, 80, 160, 320, 640].map(Bytes::kib));
    }

    #[test]
    fn sizes_off_the_page_meet_it_at_every_alignment() {
        let page = Some(Bytes::kib(48));
        assert_eq!([16, 32, 48, 64, 96, 512].map(|kib| writes(Bytes::kib(kib), page)), [3, 3, 2, 3, 2, 1]);
        assert_eq!(writes(Bytes::kib(64), None), WRITES);
    }

    #[test]
    fn read_only_device_is_refused() {
        let mut device = flashscope_device::layer::ReadOnly::new(MemoryDevice::new(Bytes::mib(64)));
        let seen = EXPERIMENT.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        assert!(matches!(seen.ended, Ended::NotStarted { reason: Refusal::ReadOnly, .. }));
    }

    /// A write beyond the region would leave an erase block half written, or exceed the device.
    #[test]
    fn a_size_is_written_only_where_all_its_writes_fit_before_the_bytes_left_for_the_control() {
        // Where the writes start, their number, the bytes left, in KiB, and how many of them are made.
        let cases =
            [(64, 4, 0, 4), (64, 5, 0, 0), (128, 3, 0, 3), (128, 4, 0, 0), (64, 3, 64, 3), (64, 4, 64, 0)];
        for (offset, writes, reserved, made) in cases {
            let mut device = MemoryDevice::new(Bytes::mib(1));
            let (budget, estimate, mut observer) = (Budget::UNLIMITED, Estimate::default(), Silent);
            let mut session = Session::begin("test", estimate, &mut device, &budget, &mut observer, 1);
            let (start, size) = (Bytes::kib(64), Bytes::kib(64));
            let mut data = WriteSizeData::default();
            let mut sweep = SizeSweep {
                writer: GaplessWriter::new(&mut session, start, Bytes::kib(320)),
                start,
                page: None,
                reserved: Bytes::kib(reserved),
                data: &mut data,
            };
            let mut times = Vec::new();
            sweep.try_sweep_point(size, Bytes::kib(offset), writes, &mut times).unwrap();
            assert_eq!(times.len(), made, "{writes} writes at {offset} KiB, {reserved} KiB left");
        }
    }
}
