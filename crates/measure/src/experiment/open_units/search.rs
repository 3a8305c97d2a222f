//! The state of one run of *open-units*, its single writes, and what it may still spend.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_infer::open_blocks::posterior::Posterior;
use flashscope_infer::slow_classifier::SlowClassifier;
use flashscope_record::observation::{Cause, OpenUnitsCell, OpenUnitsData, Order, StopReason};

use crate::experiment::block_pool::{BlockPool, Written};
use crate::experiment::erase_blocks::EraseBlocks;
use crate::experiment::open_units::parameters::OpenUnits;
use crate::session::{Session, Stop};

/// Writes of a baseline into one unit: enough for a median latency and for the share of stalls. Guess.
pub(super) const BASELINE: u32 = 12;
/// The share of all bytes that the sequential search may write, as numerator and denominator. Guess.
const SEQUENTIAL_SHARE: (u64, u64) = (4, 5);
/// Limits the device time of the sequential search. Guess.
const SEQUENTIAL_TIME_MAX: Duration = Duration::from_secs(800);
/// Limits the device time of the experiment. Guess.
pub(super) const TIME_MAX: Duration = Duration::from_secs(1500);
/// A search with smaller requests may make 16 times as many writes: under random eviction K units take a few
/// K² writes.
pub(super) const SMALLER_WRITES_FACTOR: usize = 16;
/// A search with smaller requests may take 1.5 times as long. Guess.
const SMALLER_TIME_FACTOR: f64 = 1.5;
/// Rounds of as many blocks as fit, until all of them are open again. Guess.
pub(super) const ROUNDS_MAX: u32 = 6;
/// Rounds for each open block, if one block too many holds a slot under random eviction. One merge in K
/// evicts it, and a round has about two merges.
pub(super) const ROUNDS_PER_SLOT: u32 = 3;

/// The experiment ends if this many writes are left out because others wrote to the device, and this share of
/// all: the blocks of the others then take slots most of the time. Guess.
const LEFT_OUT_MIN: u32 = 16;
const LEFT_OUT_SHARE: f64 = 0.5;
/// The most attempts to open blocks again before others write once more. Guess.
const REOPENED_MAX: u32 = 3;
/// The most repetitions of a test in random order because others wrote to the device. Guess.
const REPEATED_MAX: u32 = 2;

/// The state of one run.
pub(super) struct Search<'a, 'b> {
    pub(super) experiment: OpenUnits,
    pub(super) session: Session<'a>,
    pub(super) blocks: EraseBlocks,
    pub(super) data: &'b mut OpenUnitsData,
    /// Whether the current search writes over data.
    pub(super) over_data: bool,
    /// The size of each write, now.
    pub(super) request: Bytes,
    /// Whether smaller requests may still be tried.
    pub(super) may_shrink: bool,
    /// Offsets of blocks outside the sequential pool that may be open.
    pub(super) others_open: Vec<Bytes>,
    /// The writes so far, and how many of them are left out because others wrote to the device as well.
    writes: u32,
    pub(super) left_out: u32,
    /// Whether others wrote during the present test in random order.
    pub(super) is_disturbed: bool,
    /// How often pairs of blocks were tested.
    pub(super) pair_tests: u32,
    /// The blocks of the search that were opened again since others last wrote to the device.
    pub(super) since_others: usize,
}

impl<'a, 'b> Search<'a, 'b> {
    /// A run that has not written yet.
    pub(super) const fn new(
        experiment: OpenUnits,
        session: Session<'a>,
        blocks: EraseBlocks,
        data: &'b mut OpenUnitsData,
    ) -> Self {
        Self {
            experiment,
            session,
            blocks,
            data,
            over_data: false,
            request: experiment.request,
            may_shrink: true,
            others_open: Vec::new(),
            writes: 0,
            left_out: 0,
            is_disturbed: false,
            pair_tests: 0,
            since_others: usize::MAX,
        }
    }

    /// The cells of the current search.
    pub(super) const fn cells(&self) -> &Vec<OpenUnitsCell> {
        if self.over_data { &self.data.rewritten } else { &self.data.cells }
    }

    /// The same, to add to.
    pub(super) const fn cells_mut(&mut self) -> &mut Vec<OpenUnitsCell> {
        if self.over_data { &mut self.data.rewritten } else { &mut self.data.cells }
    }

    /// An empty pool of this order. Random requests keep the distance of the requests asked for, also if they
    /// are smaller.
    pub(super) fn pool(&self, order: Order) -> BlockPool {
        let Self { experiment: OpenUnits { erase_block, request, .. }, request: current, .. } = *self;
        match order {
            Order::Linear => BlockPool::new(erase_block, current, order),
            Order::Random => BlockPool::new(erase_block, request, order).with_request(current),
        }
    }

    /// One write, kept in the cell of its number of units. `None` if no fresh block is left.
    pub(super) fn write(
        &mut self,
        pool: &mut BlockPool,
        number: u32,
        index: usize,
    ) -> Result<Option<Written>, Stop> {
        let mut written = pool.write(&mut self.session, &mut self.blocks, index)?;
        self.writes += 1;
        if self.others_wrote() {
            self.leave_out()?;
            written = written.map(|written| Written { latency: None, ..written });
        }
        if let Some(Written { unit, latency: Some(latency), .. }) = written {
            OpenUnitsCell::keep(self.cells_mut(), (pool.order, number, pool.request), unit, latency);
        }
        Ok(written)
    }

    /// Whether others have written to the device since the last call.
    pub(super) fn others_wrote(&mut self) -> bool {
        let wrote = self.session.take_others_wrote();
        if wrote {
            self.since_others = 0;
            self.is_disturbed = true;
        }
        wrote
    }

    /// Makes a test in random order that others may not disturb: which of two writes takes a slot differs
    /// between controllers, so that the open blocks are not known after another write. A disturbed test is
    /// repeated, as long as `test` returns something. `None` if none was undisturbed; its cells are removed.
    pub(super) fn undisturbed<T>(
        &mut self,
        mut test: impl FnMut(&mut Self, u32) -> Result<Option<T>, Stop>,
    ) -> Result<Option<T>, Stop> {
        let before = self.cells().len();
        for attempt in 0..=REPEATED_MAX {
            self.others_wrote();
            self.is_disturbed = false;
            let Some(result) = test(self, attempt)? else { break };
            self.others_wrote();
            if !self.is_disturbed {
                return Ok(Some(result));
            }
            self.cells_mut().truncate(before);
            self.leave_out()?;
        }
        Ok(None)
    }

    /// Counts a test that is left out. Ends the experiment where there are too many of them.
    pub(super) fn leave_out(&mut self) -> Result<(), Stop> {
        self.left_out += 1;
        if self.left_out < LEFT_OUT_MIN || f64::from(self.left_out) < LEFT_OUT_SHARE * f64::from(self.writes)
        {
            return Ok(());
        }
        Err(Stop { reason: StopReason::OthersWrite { left_out: self.left_out }, cause: Cause::OtherWrites })
    }

    /// Ensures that the last `number` blocks of the search were written after others last wrote: what they
    /// wrote took a slot. False if others write faster than that.
    pub(super) fn reopen_after_others(
        &mut self,
        pool: &mut BlockPool,
        posterior: &Posterior,
        number: u32,
    ) -> Result<bool, Stop> {
        for attempt in 0..=REOPENED_MAX {
            self.others_wrote();
            let last = oldest_first(pool, posterior, number as usize);
            if self.since_others >= last.len() {
                return Ok(true);
            }
            // A full block cannot be opened again, and the posterior takes it for open.
            if attempt < REOPENED_MAX && last.iter().all(|index| pool.has_room(*index)) {
                // Under random eviction the block of the others is evicted at random.
                let rounds = ROUNDS_MAX.max(ROUNDS_PER_SLOT * number);
                self.open_round_robin(pool, &last, rounds, posterior.classifier())?;
                self.since_others = last.len();
            }
        }
        self.leave_out()?;
        Ok(false)
    }

    /// Whole rounds of writes into `number` units. False if no fresh block is left.
    pub(super) fn rounds(&mut self, pool: &mut BlockPool, number: u32, rounds: u32) -> Result<bool, Stop> {
        for index in (0..rounds).flat_map(|_| 0..number as usize) {
            if self.write(pool, number, index)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reopens the blocks of the pool, as far as they fit, after others were opened. The order is that of the
    /// posterior, so that the blocks it takes for open are open.
    pub(super) fn reopen(&mut self, pool: &mut BlockPool, posterior: &Posterior) -> Result<(), Stop> {
        let all = oldest_first(pool, posterior, pool.len());
        self.open_round_robin(pool, &all, ROUNDS_MAX, posterior.classifier())?;
        Ok(())
    }

    /// Writes into these blocks round-robin until none is slow. The posterior is not updated: other blocks
    /// were opened before. True if the last round had no slow write and every block had room. If all blocks
    /// of a round are slow, either more blocks are written than fit, or all are open now.
    pub(super) fn open_round_robin(
        &mut self,
        pool: &mut BlockPool,
        indices: &[usize],
        rounds: u32,
        classifier: SlowClassifier,
    ) -> Result<bool, Stop> {
        for _ in 0..rounds {
            let (mut slow, mut is_full) = (0, false);
            for index in indices {
                if !pool.has_room(*index) {
                    is_full = true;
                    continue;
                }
                let written = pool.write(&mut self.session, &mut self.blocks, *index)?;
                let latency = written.and_then(|written| written.latency);
                slow += usize::from(latency.is_none_or(|latency| classifier.is_slow(latency)));
            }
            if slow == 0 {
                return Ok(!is_full);
            }
            if slow == indices.len() || self.is_spent(Order::Random) {
                break;
            }
        }
        Ok(false)
    }

    /// Whether this is the sequential search, not the one over data.
    pub(super) fn is_first(&self, order: Order) -> bool {
        order == Order::Linear && !self.over_data
    }

    /// Whether the requests are smaller than asked for.
    fn is_smaller(&self) -> bool {
        self.request < self.experiment.request
    }

    /// The number of writes after which a search ends.
    pub(super) fn writes_max(&self) -> usize {
        self.experiment.writes_max() * if self.is_smaller() { SMALLER_WRITES_FACTOR } else { 1 }
    }

    /// The bytes written at which the search in this order ends.
    fn bytes_max(&self, order: Order) -> Bytes {
        let most = self.experiment.bytes_max;
        if self.is_first(order) { most * SEQUENTIAL_SHARE.0 / SEQUENTIAL_SHARE.1 } else { most }
    }

    /// Whether the search in this order has spent its bytes or its time.
    pub(super) fn is_spent(&self, order: Order) -> bool {
        let factor =
            if self.is_smaller() || !self.data.larger.is_empty() { SMALLER_TIME_FACTOR } else { 1.0 };
        let time_max = if self.is_first(order) { SEQUENTIAL_TIME_MAX } else { TIME_MAX };
        self.session.device_time() >= time_max.mul_f64(factor)
            || self.session.bytes_written() >= self.bytes_max(order)
    }
}

/// The `number` members of the pool that were written last, the least recently written first.
pub(super) fn oldest_first(pool: &BlockPool, posterior: &Posterior, number: usize) -> Vec<usize> {
    let mut members: Vec<usize> =
        posterior.most_recent_first().filter_map(|unit| Some(pool.member_of(unit)?.0)).take(number).collect();
    members.reverse();
    members
}

#[cfg(test)]
mod tests {
    use flashscope_device::layer::Budget;
    use flashscope_device::memory::{MemoryDevice, TimedDevice};
    use flashscope_record::observation::Times;

    use super::*;
    use crate::contract::{Estimate, Silent};
    use crate::session::range;

    #[test]
    fn a_test_that_others_disturb_leaves_what_was_measured_before_it() {
        let erase_block = Bytes::mib(1);
        let mut device = MemoryDevice::new(Bytes::mib(64));
        let blocks = EraseBlocks::to_write(&device, erase_block).unwrap();
        let (budget, estimate, mut observer) = (Budget::UNLIMITED, Estimate::default(), Silent);
        let session = Session::begin("test", estimate, &mut device, &budget, &mut observer, 1);
        let cell = |kib| {
            let times = Times::Each(vec![Duration::from_millis(1)]);
            OpenUnitsCell::round_robin((Order::Linear, 1, Bytes::kib(kib)), times)
        };
        let (cells, rewritten) = (vec![cell(64), cell(32)], vec![cell(128)]);
        let before = OpenUnitsData { cells, rewritten, ..OpenUnitsData::default() };
        let mut data = before.clone();
        let mut search = Search::new(OpenUnits::new(erase_block, None, 1), session, blocks, &mut data);
        for over_data in [false, true] {
            search.over_data = over_data;
            let result = search.undisturbed(|search, _| {
                search.cells_mut().push(cell(16));
                search.is_disturbed = true;
                Ok(Some(()))
            });
            assert_eq!(result, Ok(None));
        }
        drop(search);
        assert_eq!(data, before);
    }

    /// Under random eviction K blocks take a few K² writes.
    #[test]
    fn a_search_with_smaller_requests_may_make_16_times_as_many_writes() {
        let erase_block = Bytes::mib(1);
        let mut device = MemoryDevice::new(Bytes::mib(64));
        let blocks = EraseBlocks::to_write(&device, erase_block).unwrap();
        let (budget, estimate, mut observer) = (Budget::UNLIMITED, Estimate::default(), Silent);
        let session = Session::begin("test", estimate, &mut device, &budget, &mut observer, 1);
        let mut data = OpenUnitsData::default();
        let experiment = OpenUnits { units_max: 20, ..OpenUnits::new(erase_block, None, 1) };
        let mut search = Search::new(experiment, session, blocks, &mut data);
        assert_eq!(search.writes_max(), 480, "24 for each of 20 blocks");
        search.request = Bytes::kib(32);
        assert_eq!(search.writes_max(), 480 * 16);
    }

    /// Whether the searches have spent what they may after one write of this size and time: the sequential
    /// one, the random one, and the one over data. They may write 10 MiB in all.
    fn are_spent(written: Bytes, seconds: u64) -> [bool; 3] {
        let mut device =
            TimedDevice::new(MemoryDevice::new(Bytes::mib(64)), |_| Duration::from_secs(seconds));
        let erase_block = Bytes::mib(1);
        let blocks = EraseBlocks::to_write(&device, erase_block).unwrap();
        let (budget, estimate, mut observer) = (Budget::UNLIMITED, Estimate::default(), Silent);
        let session = Session::begin("test", estimate, &mut device, &budget, &mut observer, 1);
        let experiment = OpenUnits { bytes_max: Bytes::mib(10), ..OpenUnits::new(erase_block, None, 1) };
        let mut data = OpenUnitsData::default();
        let mut search = Search::new(experiment, session, blocks, &mut data);
        search.session.write(range(Bytes::ZERO, written)).unwrap();
        let [linear, random] = [Order::Linear, Order::Random].map(|order| search.is_spent(order));
        search.over_data = true;
        [linear, random, search.is_spent(Order::Linear)]
    }

    #[test]
    fn sequential_search_leaves_bytes_and_time_to_those_after_it() {
        let [none, first, all] = [[false; 3], [true, false, false], [true; 3]];
        let sector = Bytes::new(512);
        for (written, seconds, expected) in [
            (Bytes::mib(8) - sector, 1, none),
            (Bytes::mib(8), 1, first),
            (Bytes::mib(10) - sector, 1, first),
            (Bytes::mib(10), 1, all),
            (sector, 799, none),
            (sector, 800, first),
            (sector, 1499, first),
            (sector, 1500, all),
        ] {
            assert_eq!(are_spent(written, seconds), expected, "{written} in {seconds} s");
        }
    }
}
