//! What does it cost to open a block while another one is open? Shows whether the controller has a single
//! sequential log.

use flashscope_device::Bytes;

use flashscope_infer::open_blocks::evidence;
use flashscope_infer::slow_classifier::SlowClassifier;
use flashscope_record::observation::OpeningPair;

use crate::experiment::open_units::search::Search;
use crate::limits::WHOLE_MAX;
use crate::session::{Stop, fill, range};

/// Limits the bytes written for pairs of blocks: two of the largest blocks, and 8 MiB.
pub(super) const BYTES_MAX: Bytes = Bytes::mib(72);
/// The most pairs.
const PAIRS_MAX: u64 = 3;
/// The fewest pairs of blocks up to [`TWICE_MAX`], if the first pair is slow: a stall may have come just
/// then.
const PAIRS_MIN: u64 = 2;
/// See [`PAIRS_MIN`].
const TWICE_MAX: Bytes = Bytes::mib(16);
/// The bytes written for pairs of smaller blocks. Guess.
const PAIRS_BYTES: Bytes = Bytes::mib(32);
/// Of larger blocks only the last 1 MiB is written, so that an eviction has something to copy. Their slots
/// are known to be free only if no number was too many.
const PART: Bytes = Bytes::mib(1);

/// The most tests of pairs: the first may have been left out because others wrote to the device. Guess.
const PAIR_TESTS_MAX: u32 = 2;

/// The most requests these tests take, beside filling blocks.
pub(super) const REQUESTS_MAX: u64 = PAIRS_MAX * (4 + PAIRS_MAX);

impl Search<'_, '_> {
    /// Writes two blocks to their ends, which frees their slots, and opens both again. If the second opening
    /// evicts the first block, the controller has a single sequential log.
    pub(super) fn open_pairs(&mut self, classifier: SlowClassifier) -> Result<(), Stop> {
        self.pair_tests += 1;
        let erase_block = self.experiment.erase_block;
        let is_whole = self.affords_whole_pair();
        let pairs_min = if erase_block <= TWICE_MAX { PAIRS_MIN } else { 1 };
        let affordable = PAIRS_BYTES / (erase_block * 2);
        let pairs = if is_whole { affordable.clamp(pairs_min, PAIRS_MAX) } else { PAIRS_MAX };
        for pair in 0..pairs {
            if self.blocks.left() < 2 {
                self.blocks.restart();
            }
            let (Some(one), Some(other)) = (self.blocks.take(), self.blocks.take()) else { return Ok(()) };
            // A block with a gap keeps its slot.
            if self.fill_pair((one, other), is_whole)? {
                self.open_pair((one, other), pair, is_whole)?;
                if !self.has_one_sequential_log(classifier) && !evidence::may_take_one_run(self.data) {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Writes both blocks to their ends. Whether all writes succeeded.
    fn fill_pair(&mut self, (one, other): (Bytes, Bytes), is_whole: bool) -> Result<bool, Stop> {
        let (erase_block, request) = (self.experiment.erase_block, self.request);
        // From here on others may take a slot of the pair, or close a block of it.
        self.others_wrote();
        let mut is_written = true;
        if is_whole {
            // Both are open before either is full: so each of them leaves a free slot.
            is_written &= fill(&mut self.session, range(one, request))?;
            is_written &= fill(&mut self.session, range(other, request))?;
        }
        let start = if is_whole { request } else { erase_block - PART };
        let rest = if is_whole { erase_block - request } else { PART };
        is_written &= fill(&mut self.session, range(one + start, rest))?;
        is_written &= fill(&mut self.session, range(other + start, rest))?;
        Ok(is_written)
    }

    /// Opens one block of a pair, and then the other.
    fn open_pair(&mut self, (one, other): (Bytes, Bytes), pair: u64, is_whole: bool) -> Result<(), Stop> {
        let request = self.request;
        let has_whole_pages = self.experiment.page.is_none_or(|page| request.is_multiple_of(page));
        let mut alone = self.session.write_through(range(one, request))?;
        if !is_whole {
            // That write may evict another block. The next one costs nothing.
            alone = self.session.write_through(range(one + request, request))?;
        }
        // A periodic stall meets another write of each pair. Writes that end inside a page cannot be
        // continued.
        for more in 0..if has_whole_pages { pair } else { 0 } {
            let position = more + 1 + u64::from(!is_whole);
            let latency = self.session.write_through(range(one + request * position, request))?;
            alone = alone.zip(latency).map(|(before, latency)| before.max(latency));
        }
        let second = self.session.write_through(range(other, request))?;
        self.others_open.extend([one, other]);
        // What others wrote may have taken the free slot.
        if self.others_wrote() {
            return self.leave_out();
        }
        self.data
            .opening_pairs
            .extend(alone.zip(second).map(|(alone, second)| OpeningPair { alone, second }));
        Ok(())
    }

    /// Whether pairs were not tested yet, or too few times without writes of others.
    pub(super) fn may_test_pairs(&self) -> bool {
        self.data.opening_pairs.is_empty() && self.pair_tests < PAIR_TESTS_MAX
    }

    /// Whether two whole blocks can be written for a pair.
    pub(super) fn affords_whole_pair(&self) -> bool {
        let erase_block = self.experiment.erase_block;
        let most = self.experiment.bytes_max.max(PAIRS_BYTES);
        erase_block <= WHOLE_MAX && self.session.bytes_written() + erase_block * 2 <= most
    }

    /// Whether the openings so far show a single sequential log.
    pub(super) fn has_one_sequential_log(&self, classifier: SlowClassifier) -> bool {
        evidence::takes_one_run(self.data, classifier)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_device::OpKind;
    use flashscope_device::layer::{Budget, Trace};
    use flashscope_device::memory::{MemoryDevice, TimedDevice};
    use flashscope_record::observation::{OpenUnitsData, Order};

    use super::*;
    use crate::contract::{Estimate, Silent};
    use crate::experiment::erase_blocks::EraseBlocks;
    use crate::experiment::open_units::OpenUnits;
    use crate::session::Session;

    /// The positions that are written in the first block of a pair, before the one in the second.
    fn positions(pair: u64, is_whole: bool) -> Vec<u64> {
        let (erase_block, request) = (Bytes::mib(4), Bytes::kib(64));
        let (one, other) = (Bytes::mib(16), Bytes::mib(32));
        let mut device = Trace::new(MemoryDevice::new(Bytes::mib(64)));
        let blocks = EraseBlocks::to_write(&device, erase_block).unwrap();
        let (budget, estimate, mut observer) = (Budget::UNLIMITED, Estimate::default(), Silent);
        let session = Session::begin("test", estimate, &mut device, &budget, &mut observer, 1);
        let mut data = OpenUnitsData::default();
        let experiment = OpenUnits::new(erase_block, Some(request), 1);
        let mut search = Search::new(experiment, session, blocks, &mut data);
        search.open_pair((one, other), pair, is_whole).unwrap();
        drop(search);
        assert_eq!(data.opening_pairs.len(), 1);
        let writes = device.records().iter().filter(|record| record.kind == OpKind::Write);
        let mut offsets: Vec<Bytes> = writes.map(|record| record.range.offset).collect();
        assert_eq!(offsets.pop(), Some(other));
        offsets.into_iter().map(|offset| offset.saturating_sub(one) / request).collect()
    }

    /// A write that does not continue the one before it may merge, and would hide what the opening costs.
    #[test]
    fn each_write_into_the_first_block_of_a_pair_continues_the_one_before_it() {
        assert_eq!(positions(0, true), [0]);
        assert_eq!(positions(2, true), [0, 1, 2]);
        assert_eq!(positions(0, false), [0, 1]);
        assert_eq!(positions(2, false), [0, 1, 2, 3]);
    }

    /// The number of pairs of blocks of this size that are written, if opening a block closes one that is not
    /// full.
    fn pairs_written(mib: u64) -> u64 {
        let erase_block = Bytes::mib(mib);
        let (mut open, mut is_full) = (0, true);
        let mut device = TimedDevice::new(MemoryDevice::new(Bytes::mib(256)), |op| {
            let Some(range) = op.range().filter(|_| op.modifies()) else { return Duration::ZERO };
            let closes_another = range.offset / erase_block != open && !is_full;
            (open, is_full) = (range.offset / erase_block, range.end().is_multiple_of(erase_block));
            Duration::from_millis(if closes_another { 50 } else { 1 })
        });
        let blocks = EraseBlocks::to_write(&device, erase_block).unwrap();
        let (budget, estimate, mut observer) = (Budget::UNLIMITED, Estimate::default(), Silent);
        let session = Session::begin("test", estimate, &mut device, &budget, &mut observer, 1);
        let mut data = OpenUnitsData::default();
        let experiment = OpenUnits::new(erase_block, Some(Bytes::kib(64)), 1);
        let mut search = Search::new(experiment, session, blocks, &mut data);
        let mut pool = search.pool(Order::Linear);
        assert_eq!(search.rounds(&mut pool, 1, 12), Ok(true));
        let classifier = evidence::baseline_classifier(search.cells()).unwrap();
        search.open_pairs(classifier).unwrap();
        assert!(search.has_one_sequential_log(classifier), "{mib} MiB");
        search.session.bytes_written() / (erase_block * 2)
    }

    #[test]
    fn a_slow_pair_of_blocks_up_to_16_mib_is_repeated_and_of_larger_ones_it_is_enough() {
        assert_eq!([4, 8, 16, 24].map(pairs_written), [3, 2, 2, 1]);
    }

    /// Whether pairs of blocks of this size are written whole, after these bytes of at most 70 MiB.
    fn affords_whole_pair(erase_block: Bytes, written: Bytes) -> bool {
        let mut device = MemoryDevice::new(Bytes::mib(256));
        let blocks = EraseBlocks::to_write(&device, erase_block).unwrap();
        let (budget, estimate, mut observer) = (Budget::UNLIMITED, Estimate::default(), Silent);
        let session = Session::begin("test", estimate, &mut device, &budget, &mut observer, 1);
        let mut data = OpenUnitsData::default();
        let experiment = OpenUnits { bytes_max: Bytes::mib(70), ..OpenUnits::new(erase_block, None, 1) };
        let mut search = Search::new(experiment, session, blocks, &mut data);
        fill(&mut search.session, range(Bytes::ZERO, written)).unwrap();
        search.affords_whole_pair()
    }

    #[test]
    fn blocks_up_to_32_mib_are_written_whole_if_the_bytes_for_two_are_left() {
        let of = |block: u64, written: u64| affords_whole_pair(Bytes::mib(block), Bytes::mib(written));
        assert!(of(32, 6), "6 + 2 x 32 = 70 MiB");
        assert!(!of(32, 7));
        assert!(!of(33, 0), "larger blocks are not written whole");
    }
}
