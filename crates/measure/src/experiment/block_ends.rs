//! *block-ends*: at which offsets does an erase block end? For devices whose reads do not show it.
//!
//! Erase blocks far from each other are opened until every opening costs a merge: all slots are taken. Then
//! two adjacent small writes meet at a test offset. The second one costs a merge if an erase block ends
//! there. See docs/methods/block-ends.md.

use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};

use flashscope_infer::geometry::block_end_posterior::{
    BlockPosterior, TAKEN, classifier as block_classifier, is_full as slots_are_taken,
    some_merge as some_openings_merge,
};
use flashscope_infer::thresholds::{LITTLE, SURE};
use flashscope_record::finding::FindingId;
use flashscope_record::observation::{BlockEndsData, Crossing, Data, Observations, Opening};

use crate::contract::{Estimate, Expected, Experiment, Observer};
use crate::experiment::align::own_multiple;
use crate::experiment::free_offsets::FreeOffsets;
use crate::experiment::registration::{Access, Registration};
use crate::limits::{CONTENT_READS, SMALL_REQUEST};
use crate::session::{Session, Stop, not_started, range, to_write};

/// The most erase blocks opened: more than the largest cards keep open.
const OPENINGS_MAX: usize = 140;
/// On a blank device erase blocks get data before they are opened again: first 8 of them, then 24 more, then
/// all the rest. A controller that keeps as many open needs more at a time.
const FILLED_FIRST: (usize, usize) = (8, 24);
/// The data each block gets, in writes: merging it takes several times as long as one write.
const FILLING: u64 = 8;
/// The fewest offsets tested, whatever time they take: a log that is emptied in between may stall once.
const CROSSINGS_MIN: usize = 16;
/// The most offsets tested.
const CROSSINGS_MAX: usize = 64;
/// The most device time for testing offsets, and for giving data to a blank device. Guess.
const SECONDS_MAX: f64 = 60.0;
/// The most bytes for opening blocks. Guess.
const BYTES_MAX: Bytes = Bytes::mib(80);
/// The bytes left for testing offsets. With the largest pages they suffice for a few offsets.
const CROSSINGS_BYTES_MAX: Bytes = Bytes::mib(40);
/// The most bytes until all slots are taken on a blank device. The rest is left for testing offsets.
const BYTES_FILLED_MAX: Bytes = Bytes::mib(105);
/// The write size if no page is known: controllers may write smaller requests elsewhere, without merges.
const REQUEST: Bytes = Bytes::kib(32);
/// The least expected information of a test, in nats.
const INFORMATION_MIN: f64 = 0.002;
/// Candidate multiples of each size.
const MULTIPLES: usize = 4;
/// An offset with at least 90 % of the best offset's information is as good.
const NEARLY: f64 = 0.9;
/// If a size has at most this number of multiples, all are candidates.
const FEW: u64 = 16;
/// The smallest size whose multiples are candidates, if no page is known.
const SIZE_MIN: Bytes = Bytes::kib(16);
/// A common multiple of several sizes tests all of them at once.
const FACTORS: [u64; 8] = [1, 3, 5, 7, 15, 21, 35, 105];

/// The expected time: 60 MiB of writes, at most this long. Median of the virtual sticks.
const USUAL_COST: Bytes = Bytes::mib(60);
const USUAL_TIME: Duration = Duration::from_secs(8);

/// The entry in the table of all experiments.
pub(super) const REGISTRATION: Registration = Registration {
    name: "block-ends",
    question: "Erase block, by writes",
    access: Access::Writes,
    options: &[],
    findings: &[FindingId::EraseBlockBytes],
    new: |request| Box::new(BlockEnds::new(None, Vec::new(), request.seed)),
};

/// The experiment *block-ends*.
#[derive(Debug, Clone)]
pub struct BlockEnds {
    /// The size of the writes: a page. A merge stands out more beside short writes.
    pub request: Bytes,
    /// The page, if it is known.
    pub page: Option<Bytes>,
    /// Erase blocks that reads left possible, each with its probability.
    pub reads: Vec<(Bytes, f64)>,
    /// The random seed of data and offsets.
    pub seed: u64,
}

impl BlockEnds {
    /// The experiment on a device with this page, if known, and these erase blocks left by reads.
    #[must_use]
    pub fn new(page: Option<Bytes>, reads: Vec<(Bytes, f64)>, seed: u64) -> Self {
        Self { request: page.unwrap_or(REQUEST).max(SMALL_REQUEST), page, reads, seed }
    }
}

impl Experiment for BlockEnds {
    fn name(&self) -> &'static str {
        REGISTRATION.name
    }

    fn estimate(&self, _device: &dyn Device) -> Estimate {
        let (openings, crossings) = (OPENINGS_MAX as u64, CROSSINGS_MAX as u64);
        // Plain openings, others over data, and crossings with data on both sides.
        let writes = openings * (2 + 4) + crossings * 8;
        let filled = self.request * FILLING * (openings + crossings * 2);
        let bytes_written = (self.request * (openings * 5 + crossings * 8) + filled)
            .min((BYTES_MAX + CROSSINGS_BYTES_MAX) * 2);
        let expected = Expected::time_or_writing(USUAL_TIME, USUAL_COST);
        Estimate { requests: writes * 2, bytes_written, expected }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let mut data = BlockEndsData { request: self.request, page: self.page, ..BlockEndsData::default() };
        if let Err(refusal) = to_write(device) {
            return not_started(device, self.seed, Data::BlockEnds(data), refusal);
        }
        let free = FreeOffsets::new(device);
        let estimate = self.estimate(device);
        let session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let mut run = Run {
            request: self.request,
            filling: Bytes::ZERO,
            reads: &self.reads,
            session,
            free,
            data: &mut data,
        };
        let result = run.take_all_slots().and_then(|is_full| if is_full { run.search() } else { Ok(()) });
        run.session.end(result, Data::BlockEnds(data))
    }
}

/// The state of one run.
struct Run<'a, 'b> {
    request: Bytes,
    /// Written beside each test, so that its merge has something to copy. Zero on a device that holds data.
    filling: Bytes,
    reads: &'b [(Bytes, f64)],
    session: Session<'a>,
    free: FreeOffsets,
    data: &'b mut BlockEndsData,
}

impl Run<'_, '_> {
    /// Opens erase blocks until all slots are taken. False if that does not happen.
    fn take_all_slots(&mut self) -> Result<bool, Stop> {
        let length = self.request * (2 + FILLING);
        for _ in 0..OPENINGS_MAX {
            let Some(offset) = self.free.allocate(length) else { break };
            self.open(offset)?;
            if self.is_full() {
                return Ok(true);
            }
            // The bytes left would not suffice to test offsets.
            if self.wrote_enough(CROSSINGS_BYTES_MAX) {
                return Ok(false);
            }
        }
        self.take_all_slots_over_data()
    }

    /// The same on a blank device: first gives blocks data, so that a merge has something to copy.
    fn take_all_slots_over_data(&mut self) -> Result<bool, Stop> {
        self.filling = self.request * FILLING;
        let offsets: Vec<Bytes> = self.data.openings.iter().map(|opening| opening.offset).collect();
        let (few, rest) = offsets.split_at(offsets.len().min(FILLED_FIRST.0));
        let (more, rest) = rest.split_at(rest.len().min(FILLED_FIRST.1));
        let mut filled: Vec<Bytes> = Vec::new();
        for offsets in [few, more, rest] {
            let again = self.request * 2 * filled.len() as u64;
            let left = BYTES_FILLED_MAX.saturating_sub(self.session.bytes_written() + again);
            let affordable = usize::try_from(left / (self.filling + self.request * 2)).unwrap_or(usize::MAX);
            let offsets = &offsets[..offsets.len().min(affordable)];
            if offsets.len() < TAKEN || !(self.some_merge() || self.are_blank(offsets)?) {
                break;
            }
            for offset in offsets {
                self.fill(*offset + self.request * 2)?;
            }
            // The blocks filled before were evicted first, if all together are more than fit.
            filled.extend(offsets);
            for offset in &filled {
                self.open(*offset)?;
                if self.is_full() {
                    return Ok(true);
                }
            }
            if self.session.device_time().as_secs_f64() > SECONDS_MAX || self.wrote_enough(Bytes::ZERO) {
                break;
            }
        }
        Ok(self.some_merge())
    }

    fn some_merge(&self) -> bool {
        let openings = &self.data.openings;
        block_classifier(openings).is_some_and(|classifier| some_openings_merge(openings, classifier))
    }

    /// Whether most of these blocks hold nothing but the writes that opened them.
    fn are_blank(&mut self, offsets: &[Bytes]) -> Result<bool, Stop> {
        let mut blank = 0;
        let read = &offsets[..offsets.len().min(CONTENT_READS)];
        for offset in read {
            let after = range(*offset + self.request * 2, self.request);
            blank += usize::from(self.session.is_blank(after)? == Some(true));
        }
        Ok(blank * 2 > read.len())
    }

    fn wrote_enough(&self, more: Bytes) -> bool {
        self.session.bytes_written() >= BYTES_MAX + more
    }

    fn is_full(&self) -> bool {
        let openings = &self.data.openings;
        block_classifier(openings).is_some_and(|classifier| slots_are_taken(openings, classifier))
    }

    /// Two adjacent writes, the first of which opens an erase block.
    fn open(&mut self, offset: Bytes) -> Result<(), Stop> {
        let first = self.write(offset, self.request)?;
        let second = self.write(offset + self.request, self.request)?;
        if let Some((first, second)) = first.zip(second) {
            self.data.openings.push(Opening { offset, first, second });
        }
        Ok(())
    }

    /// Tests the most informative offsets until one erase block is left.
    fn search(&mut self) -> Result<(), Stop> {
        let started = self.session.device_time();
        for _ in 0..CROSSINGS_MAX {
            let seconds = self.session.device_time().saturating_sub(started).as_secs_f64();
            let posterior = BlockPosterior::of(self.data, self.reads);
            let is_time_up = seconds > SECONDS_MAX && self.data.crossings.len() >= CROSSINGS_MIN;
            let ends = is_time_up || self.wrote_enough(CROSSINGS_BYTES_MAX);
            let Some(posterior) = posterior.filter(|each| !each.is_decided() && !ends) else { break };
            let Some(offset) = self.next(&posterior) else { break };
            self.cross(offset)?;
        }
        Ok(())
    }

    /// The most informative offset. Among equally good ones, the farthest from all ranges written.
    fn next(&mut self, posterior: &BlockPosterior) -> Option<Bytes> {
        let (best, probability) = posterior.verdict();
        let missing = best.filter(|_| probability > SURE).and_then(|block| posterior.missing(block));
        if let Some((missing, block)) = missing.zip(best) {
            let mut offsets = self.multiples(missing, 4 * MULTIPLES);
            offsets.retain(|offset| missing == block || !posterior.is_end(*offset, block));
            return self.farthest(offsets);
        }
        let blocks = posterior.blocks();
        let smallest = self.data.page.map_or(SIZE_MIN, |_| self.request);
        let doublings = std::iter::successors(Some(smallest), |size| Some(*size * 2));
        let sizes = doublings.take_while(|size| *size < self.free.end());
        // The multiples above miss a block that holds no whole pages.
        let likely = blocks.iter().filter_map(|(block, probability)| block.filter(|_| *probability > LITTLE));
        let sizes: Vec<Bytes> =
            sizes.flat_map(|size| FACTORS.map(|factor| size * factor)).chain(likely).collect();
        let offsets: Vec<Bytes> =
            sizes.into_iter().flat_map(|size| self.multiples(size, MULTIPLES)).collect();
        let information = |offset: Bytes| posterior.information_at(offset, &blocks);
        let weighed: Vec<(Bytes, f64)> =
            offsets.into_iter().map(|offset| (offset, information(offset))).collect();
        let most = weighed.iter().map(|(_, information)| *information).fold(INFORMATION_MIN, f64::max);
        let informative = weighed.into_iter().filter(|(_, information)| *information >= most * NEARLY);
        self.farthest(informative.map(|(offset, _)| offset).collect())
    }

    /// Random free multiples of a size, and of no larger one if possible. All multiples if there are few.
    /// Writes start at whole pages: if the size does not end with a page, its end lies in the second write.
    fn multiples(&mut self, size: Bytes, count: usize) -> Vec<Bytes> {
        let around = self.around();
        let most = self.free.end() / size;
        let draw = || size * own_multiple(&mut self.session, most);
        let drawn: Vec<Bytes> = if most <= FEW {
            (1..=most).map(|multiple| size * multiple).collect()
        } else {
            std::iter::repeat_with(draw).take(count).collect()
        };
        let in_pages = drawn.into_iter().map(|offset| offset.round_down(self.request));
        in_pages.filter(|offset| self.free.is_free(*offset, around)).collect()
    }

    fn farthest(&self, offsets: Vec<Bytes>) -> Option<Bytes> {
        offsets.into_iter().max_by_key(|offset| self.free.distance(*offset))
    }

    /// The bytes written before and after a test offset.
    fn around(&self) -> (Bytes, Bytes) {
        (self.request + self.request.max(self.filling), self.request * 2 + self.filling)
    }

    /// Two writes that meet at an offset, after one that opens the erase block before it.
    fn cross(&mut self, offset: Bytes) -> Result<(), Stop> {
        let (before, after) = self.around();
        self.free.record(offset - before, offset + after);
        self.write(offset - before, before - self.request)?;
        let before = self.write(offset - self.request, self.request)?;
        let after = self.write(offset, self.request)?;
        if let Some((before, after)) = before.zip(after) {
            self.data.crossings.push(Crossing { offset, before, after });
        }
        if self.filling.is_zero() { Ok(()) } else { self.keep_merges_slow(offset) }
    }

    /// On a blank device: gives data to the erase block opened last, reopens one that has data, and then
    /// opens the block that may begin at the offset. So whichever block the controller merges next, it has
    /// something to copy: a sequential log is dropped for free if no data follows its writes.
    fn keep_merges_slow(&mut self, offset: Bytes) -> Result<(), Stop> {
        self.fill(offset + self.request * 2)?;
        let index = self.data.crossings.len() % TAKEN;
        let filled = self.data.openings.get(index).map(|opening| opening.offset);
        for opened in filled.into_iter().chain([offset]) {
            self.write(opened, self.request)?;
            self.write(opened + self.request, self.request)?;
        }
        Ok(())
    }

    /// Gives an erase block data beyond its start.
    fn fill(&mut self, offset: Bytes) -> Result<(), Stop> {
        self.write(offset, self.filling).map(drop)
    }

    /// A write and a flush, so that the device's write buffer hides nothing.
    fn write(&mut self, offset: Bytes, length: Bytes) -> Result<Option<Duration>, Stop> {
        self.session.write_through(range(offset, length))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use flashscope_device::layer::Trace;
    use flashscope_device::memory::MemoryDevice;
    use flashscope_device::{ByteRange, OpKind};

    use super::*;
    use crate::contract::Silent;

    /// Merging a block that holds hardly anything would take no longer than a write.
    #[test]
    fn opened_blocks_of_a_blank_device_get_data_worth_eight_writes() {
        let mut device = Trace::new(MemoryDevice::new(Bytes::mib(256)));
        let budget = Budget { bytes_written: Some(Bytes::mib(16)), ..Budget::UNLIMITED };
        let seen = BlockEnds::new(None, Vec::new(), 1).measure(&mut device, &budget, &mut Silent);
        let Data::BlockEnds(data) = seen.data else { panic!("not data of block-ends") };
        let opened: BTreeSet<Bytes> = data.openings.iter().map(|opening| opening.offset).collect();
        let writes = device.records().iter().filter(|record| record.kind == OpKind::Write);
        let (filling, opening): (Vec<ByteRange>, Vec<ByteRange>) =
            writes.map(|record| record.range).partition(|range| range.length > REQUEST);
        assert!(filling.len() >= FILLED_FIRST.0, "{}", filling.len());
        for range in filling {
            assert_eq!(range.length, REQUEST * 8);
            assert!(opened.contains(&range.offset.saturating_sub(REQUEST * 2)), "{range:?}");
        }
        assert!(opening.iter().all(|range| range.length == REQUEST));
    }

    /// Each of 140 blocks is opened, filled, and opened again: 8, then 32, then all. Each of 64 offsets gets
    /// data before and after it, two writes between, and two openings.
    #[test]
    fn estimate_holds_the_requests_and_bytes_of_a_blank_device_up_to_the_limit() {
        let most = |page: Bytes| {
            let experiment = BlockEnds::new(Some(page), Vec::new(), 1);
            experiment.estimate(&MemoryDevice::new(Bytes::mib(1)))
        };
        // Data is one write, and a flush follows each write.
        let requests = 2 * (140 * (2 + 1) + 2 * (8 + 32 + 140) + 64 * (1 + 2 + 1 + 4));
        let pages = 140 * (2 + 8) + 2 * (8 + 32 + 140) + 64 * (8 + 2 + 8 + 4);
        for page in [Bytes::kib(4), Bytes::kib(16)] {
            let most = most(page);
            assert!(most.requests >= requests && most.bytes_written >= page * pages, "{page}: {most:?}");
        }
        assert_eq!(most(Bytes::mib(1)).bytes_written, Bytes::mib(240), "twice 80 MiB and 40 MiB");
    }

    /// Another test there would meet what the first one wrote.
    #[test]
    fn an_offset_that_was_tested_and_those_beside_it_are_not_free() {
        let mut device = MemoryDevice::new(Bytes::mib(256));
        let free = FreeOffsets::new(&device);
        let (budget, estimate, mut observer) = (Budget::UNLIMITED, Estimate::default(), Silent);
        let session = Session::begin("test", estimate, &mut device, &budget, &mut observer, 1);
        let (request, filling, mut data) = (REQUEST, Bytes::ZERO, BlockEndsData::default());
        let mut run = Run { request, filling, reads: &[], session, free, data: &mut data };
        let around = run.around();
        let offsets = [0, 32, 128, 224, 256].map(|kib| Bytes::mib(96) + Bytes::kib(kib));
        assert!(offsets.iter().all(|offset| run.free.is_free(*offset, around)));
        run.cross(offsets[2]).unwrap();
        // A test writes 64 KiB on either side of its offset.
        let free = offsets.map(|offset| run.free.is_free(offset, around));
        assert_eq!(free, [true, false, false, false, true]);
    }

    /// Reads left 4 MiB, and one of its ends merged: another one must be tested, wherever room is left.
    #[test]
    fn an_offset_that_decides_is_found_though_half_of_the_device_is_written() {
        let (block, ms) = (Bytes::mib(4), Duration::from_millis);
        let opening = |first| Opening { offset: Bytes::ZERO, first: ms(first), second: ms(4) };
        let crossing = |(mib, after)| Crossing { offset: Bytes::mib(mib), before: ms(4), after: ms(after) };
        let mut data = BlockEndsData {
            request: REQUEST,
            openings: [4, 4, 90, 91, 90, 88].map(opening).into(),
            crossings: [(44, 200), (18, 4), (26, 4), (38, 4)].map(crossing).into(),
            ..BlockEndsData::default()
        };
        let posterior = BlockPosterior::of(&data, &[(block, 1.0)]).unwrap();
        assert!(posterior.verdict().1 > SURE && posterior.missing(block) == Some(block));
        let mut device = MemoryDevice::new(Bytes::gib(2));
        for seed in 0..20 {
            let mut free = FreeOffsets::new(&device);
            free.record(Bytes::ZERO, Bytes::gib(1));
            let (budget, estimate, mut observer) = (Budget::UNLIMITED, Estimate::default(), Silent);
            let session = Session::begin("test", estimate, &mut device, &budget, &mut observer, seed);
            let (request, filling) = (REQUEST, Bytes::ZERO);
            let mut run = Run { request, filling, reads: &[], session, free, data: &mut data };
            let offset = run.next(&posterior);
            let is_end = |offset: Bytes| offset > Bytes::gib(1) && offset.is_multiple_of(block);
            assert!(offset.is_some_and(is_end), "{seed}: {offset:?}");
        }
    }
}
