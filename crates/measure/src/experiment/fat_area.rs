//! *fat-area*: are the first erase blocks mapped page by page, for the file allocation table?
//!
//! Some cards map the first erase blocks page by page, since the FAT lies there: small random writes are fast
//! there and cost a merge elsewhere. With all slots taken, opening another block evicts one of them, which
//! costs a merge. A first block that is mapped page by page takes no slot and evicts none. See
//! docs/methods/fat-area.md.

use flashscope_record::finding::WouldDecide;
use flashscope_record::observation::Refusal;
use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{ByteRange, Bytes, Device};

use flashscope_infer::open_blocks::first_blocks::{FIRST_BLOCKS, FirstBlocks};
use flashscope_infer::slow_classifier::SlowClassifier;
use flashscope_record::finding::FindingId;
use flashscope_record::observation::{Data, FatAreaData, Merges, Observations, OpenedBlock, Order, Times};

use crate::contract::{Estimate, Expected, Experiment, Observer};
use crate::experiment::block_pool::BlockPool;
use crate::experiment::erase_blocks;
use crate::experiment::erase_blocks::EraseBlocks;
use crate::experiment::registration::{Access, Registration, RequestOption};
use crate::limits::LARGE_REQUEST;
use crate::session::{Refused, Session, Stop, fill, not_started, range};

/// Writes of the baseline: enough for a median.
const BASELINE: u32 = 8;
/// Blocks of the baseline and the control, beside those that take all slots.
const ALONE: u32 = 2;
/// The most bytes for opening blocks. Guess.
const BYTES_MAX: Bytes = Bytes::mib(32);
/// The most device time for opening blocks. Guess.
const TIME_MAX: Duration = Duration::from_secs(120);
/// Openings of each first block, if the controller has a single sequential log.
const OPENINGS: usize = 4;
/// The experiment ends after this many failed writes.
const FAILED_MAX: u64 = 16;
/// The most bytes filled in an ordinary block, so that its eviction has something to copy.
const FILLED_MAX: Bytes = Bytes::mib(32);
/// Ordinary blocks opened round-robin beyond the number that is too many: an evicted block is slow at its
/// second opening at the latest.
const SPARE: u32 = 16;
/// The same under random eviction, as a multiple of the number that is too many: with fewer, most would still
/// be open.
const SPARE_FACTOR_RANDOM: u32 = 2;
/// The most rounds until each opening evicts another block.
const ROUNDS_MAX: u32 = 3;

/// The expected time: 30 MiB of writes, at most this long. Median of the virtual sticks.
const USUAL_COST: Bytes = Bytes::mib(30);
const USUAL_TIME: Duration = Duration::from_secs(5);

/// The entry in the table of all experiments.
pub(super) const REGISTRATION: Registration = Registration {
    name: "fat-area",
    question: "First erase blocks that are mapped page by page",
    access: Access::Writes,
    options: &[RequestOption::EraseBlock, RequestOption::RequestSize],
    findings: &[FindingId::FatAreaBytes],
    new: |request| {
        let erase_block = request.erase_block_or_assumed();
        Box::new(FatArea::new(erase_block, request.request, request.merges, request.seed))
    },
};

/// The experiment *fat-area*.
#[derive(Debug, Clone, Copy)]
pub struct FatArea {
    /// The erase block.
    pub erase_block: Bytes,
    /// The size of each write: at least the effective page, at most a sixteenth of the erase block.
    pub request: Bytes,
    /// The merges found before. Without a known number of blocks that is too many, the FAT area stays
    /// unknown.
    pub merges: Option<Merges>,
    /// The random seed of the data.
    pub seed: u64,
}

impl FatArea {
    /// The experiment for an erase block, and the page and merges as far as known.
    #[must_use]
    pub fn new(erase_block: Bytes, page: Option<Bytes>, merges: Option<Merges>, seed: u64) -> Self {
        Self { erase_block, request: erase_blocks::request(erase_block, page), merges, seed }
    }

    /// The most first blocks tested: half the device, if enough others are left to take all slots; an eighth
    /// in any case.
    fn first_units(self, device: &dyn Device) -> u32 {
        let count = device.capabilities().capacity / self.erase_block.max(Bytes::new(1));
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let others =
            self.merges.and_then(|merges| merges.too_many).map_or(count, |too_many| too_many + ALONE);
        count.saturating_sub(others).min(count / 2).max(count / 8).min(FIRST_BLOCKS)
    }

    /// The number of ordinary blocks opened round-robin.
    fn ordinary_blocks(self) -> u32 {
        let Some((too_many, merges)) = self.merges.and_then(|merges| Some((merges.too_many?, merges))) else {
            return 0;
        };
        let spare = if merges.every_switch < 0.5 { too_many * SPARE_FACTOR_RANDOM } else { 0 };
        too_many + spare.max(SPARE)
    }
}

impl Experiment for FatArea {
    fn name(&self) -> &'static str {
        REGISTRATION.name
    }

    fn estimate(&self, device: &dyn Device) -> Estimate {
        let first_units = self.first_units(device);
        let (opened, filled) = if self.merges.is_some_and(|merges| merges.is_one_run) {
            (u64::from(first_units) * 2 * OPENINGS as u64, self.erase_block.min(FILLED_MAX))
        } else {
            (u64::from(self.ordinary_blocks() * (ROUNDS_MAX + 1) + first_units * 2), Bytes::ZERO)
        };
        let writes = 2 * (u64::from(BASELINE) + 1) + opened;
        // A flush follows each write.
        let requests = (writes + filled.round_up(LARGE_REQUEST) / LARGE_REQUEST) * 2;
        let expected = Expected::time_or_writing(USUAL_TIME, USUAL_COST);
        Estimate { requests, bytes_written: self.request * writes + filled, expected }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let mut data =
            FatAreaData { erase_block: self.erase_block, merges: self.merges, ..FatAreaData::default() };
        let first_units = self.first_units(device);
        let is_known = self.merges.is_some_and(|merges| merges.is_one_run || merges.too_many.is_some());
        let blocks = match EraseBlocks::to_write(device, self.erase_block) {
            Ok(blocks) if is_known => blocks.backward().after(first_units),
            Ok(_) => {
                let id = FindingId::OpenUnitsLinear;
                let refused = Refused::new(Refusal::DependsOn { id }, [WouldDecide::Finding(id)]);
                return not_started(device, self.seed, Data::FatArea(data), refused);
            }
            Err(refused) => return not_started(device, self.seed, Data::FatArea(data), refused),
        };
        let estimate = self.estimate(device);
        let session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let ordinary = BlockPool::new(self.erase_block, self.request, Order::Linear);
        let left = u32::try_from(blocks.left()).unwrap_or(u32::MAX).saturating_sub(ALONE);
        let ordinary_blocks = self.ordinary_blocks().min(left);
        let mut run = Run {
            experiment: *self,
            session,
            blocks,
            ordinary,
            ordinary_blocks,
            next_ordinary: 0,
            failed: 0,
            data: &mut data,
        };
        let result = run.run(first_units);
        run.session.end(result, Data::FatArea(data))
    }
}

/// The state of one run.
struct Run<'a, 'b> {
    experiment: FatArea,
    session: Session<'a>,
    blocks: EraseBlocks,
    /// Ordinary blocks, opened round-robin.
    ordinary: BlockPool,
    /// The number of these.
    ordinary_blocks: u32,
    /// The index of the next one.
    next_ordinary: usize,
    /// The number of failed writes.
    failed: u64,
    data: &'b mut FatAreaData,
}

impl Run<'_, '_> {
    /// The baseline, the openings, and the control.
    fn run(&mut self, first_units: u32) -> Result<(), Stop> {
        let before = self.write_alone()?;
        let classifier = SlowClassifier::from_baseline(&before);
        self.data.baseline = Some(Times::Each(before.clone()));
        let Some(classifier) = classifier else { return Ok(()) };
        self.test_first_blocks(first_units, classifier, &before)?;
        self.data.control = Some(Times::Each(self.write_alone()?));
        Ok(())
    }

    /// Opens first blocks among ordinary ones until the end of the FAT area is known.
    fn test_first_blocks(
        &mut self,
        first_units: u32,
        classifier: SlowClassifier,
        baseline: &[Duration],
    ) -> Result<(), Stop> {
        if self.experiment.merges.is_some_and(|merges| merges.is_one_run) {
            return self.open_each_first_block(first_units, classifier);
        }
        let mut posterior = FirstBlocks::new(classifier, baseline, self.experiment.merges);
        // If openings stay fast for too long, ordinary blocks never evict another one.
        let mut fast_openings = 0;
        while let Some(unit) =
            posterior.next(first_units).filter(|unit| self.is_affordable(*unit, &posterior))
        {
            fast_openings = if posterior.are_slots_taken() { 0 } else { fast_openings + 1 };
            if fast_openings > ROUNDS_MAX * self.ordinary_blocks {
                return Ok(());
            }
            let block = (posterior.is_ready() && posterior.openings_before(unit) == 0).then_some(unit);
            if !self.open(block, &mut posterior)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Whether the bytes and the time to test this block are left.
    fn is_affordable(&self, unit: u32, posterior: &FirstBlocks) -> bool {
        let others = posterior.openings_before(unit);
        let takes = self.experiment.merges.and_then(|merges| merges.takes).unwrap_or_default();
        !self.is_spent()
            && self.failed <= FAILED_MAX
            && self.session.device_time() + takes * others <= TIME_MAX
            && self.session.bytes_written() + self.experiment.request * u64::from(others) <= BYTES_MAX
    }

    /// Writes once into a first block, or into the next ordinary one. A write that fails does not count.
    /// False if none is left.
    fn open(&mut self, unit: Option<u32>, posterior: &mut FirstBlocks) -> Result<bool, Stop> {
        let time = match unit {
            Some(unit) => {
                let next = self.next_range(unit);
                self.session.write_through(next)?
            }
            None => {
                let index = self.next_ordinary;
                self.next_ordinary = (index + 1) % self.ordinary_blocks.max(1) as usize;
                let Some(written) = self.ordinary.write(&mut self.session, &mut self.blocks, index)? else {
                    return Ok(false);
                };
                written.latency
            }
        };
        match time {
            Some(time) => {
                self.data.opened.push(OpenedBlock { unit, time });
                posterior.open(unit, time);
            }
            None => self.failed += 1,
        }
        Ok(true)
    }

    /// The next range of a first block to be written: after the writes that succeeded there and those that
    /// failed.
    fn next_range(&self, unit: u32) -> ByteRange {
        let FatArea { erase_block, request, .. } = self.experiment;
        let opened = self.data.opened.iter().filter(|block| block.unit == Some(unit)).count() as u64;
        let position = (opened + self.failed) % (erase_block / request).max(1);
        range(erase_block * u64::from(unit) + request * position, request)
    }

    /// Whether the bytes or the time are spent.
    fn is_spent(&self) -> bool {
        self.session.bytes_written() > BYTES_MAX || self.session.device_time() > TIME_MAX
    }

    /// For a controller with a single sequential log: opens a filled block, and then a first block, which
    /// evicts the filled one if it is ordinary itself.
    fn open_each_first_block(&mut self, first_units: u32, classifier: SlowClassifier) -> Result<(), Stop> {
        let Some(ordinary) = self.blocks.take() else { return Ok(()) };
        let (erase_block, request) = (self.experiment.erase_block, self.experiment.request);
        fill(&mut self.session, ByteRange::new(ordinary, erase_block.min(FILLED_MAX)))?;
        for unit in 0..first_units {
            let mut times = Vec::new();
            for _ in 0..OPENINGS {
                self.session.write_through(range(ordinary, request))?;
                times.extend(self.session.write_through(range(erase_block * u64::from(unit), request))?);
            }
            let is_fast = !times.iter().any(|latency| classifier.is_slow(*latency));
            self.data.start_writes.push(times);
            if !is_fast {
                break;
            }
        }
        Ok(())
    }

    /// Writes one ordinary block from its start. The first write may close another block and does not count.
    fn write_alone(&mut self) -> Result<Vec<Duration>, Stop> {
        let mut pool = BlockPool::new(self.experiment.erase_block, self.experiment.request, Order::Linear);
        let mut times = Vec::new();
        for _ in 0..=BASELINE {
            let written = pool.write(&mut self.session, &mut self.blocks, 0)?;
            times.extend(written.and_then(|written| written.latency));
        }
        Ok(times.split_off(1.min(times.len())))
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::layer::Meter;
    use flashscope_device::memory::MemoryDevice;
    use flashscope_record::observation::Ended;

    use super::*;
    use crate::contract::Silent;

    /// With a single log, and first blocks that are all fast, nothing ends the test early.
    #[test]
    fn estimate_holds_the_requests_and_bytes_of_the_longest_test_with_a_single_log() {
        let merges = Merges { every_switch: 1.0, takes: None, is_one_run: true, too_many: None };
        let fat_area = FatArea::new(Bytes::mib(4), None, Some(merges), 1);
        let mut device = Meter::new(MemoryDevice::new(Bytes::mib(256)), Budget::UNLIMITED);
        let estimate = fat_area.estimate(&device);
        let seen = fat_area.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        assert_eq!(seen.ended, Ended::Complete);
        let cost = device.cost();
        // Nine writes each for baseline and control, and eight for each of eight first blocks.
        let written = Bytes::kib(64) * (2 * 9 + 8 * 8) + Bytes::mib(4);
        assert_eq!((cost.writes, cost.bytes_written), (2 * 9 + 8 * 8 + 4, written));
        assert!(cost.writes * 2 <= estimate.requests, "{} writes, {estimate:?}", cost.writes);
        assert!(cost.bytes_written <= estimate.bytes_written, "{written}, {estimate:?}");
    }

    /// As many as are too many stay for the slots, and two for the baseline and the control.
    #[test]
    fn first_blocks_leave_enough_others_to_take_all_slots() {
        let first = |capacity_mib: u64, too_many: Option<u32>| {
            let merges = Merges { every_switch: 1.0, takes: None, is_one_run: too_many.is_none(), too_many };
            let fat_area = FatArea::new(Bytes::mib(1), None, Some(merges), 1);
            fat_area.first_units(&MemoryDevice::new(Bytes::mib(capacity_mib)))
        };
        assert_eq!(first(20, Some(14)), 4, "of 20 blocks 14 and 2 are others");
        assert_eq!(first(12, Some(3)), 6, "half the device");
        assert_eq!(first(16, Some(20)), 2, "an eighth in any case");
        assert_eq!(first(40, None), 5);
        assert_eq!(first(60, Some(3)), FIRST_BLOCKS);
    }

    /// Nine writes each for baseline and control, four rounds of the ordinary blocks, and two writes into
    /// each of ten first blocks. A flush follows each.
    #[test]
    fn random_eviction_takes_at_least_three_times_as_many_ordinary_blocks_as_are_too_many() {
        let device = MemoryDevice::new(Bytes::mib(60));
        let requests = |every_switch: f64, too_many: u32| {
            let merges = Merges { every_switch, takes: None, is_one_run: false, too_many: Some(too_many) };
            FatArea::new(Bytes::mib(1), None, Some(merges), 1).estimate(&device).requests
        };
        let of_ordinary = |blocks: u64| (2 * 9 + 4 * blocks + 2 * 10) * 2;
        assert_eq!(requests(0.4, 10), of_ordinary(10 + 20));
        assert_eq!(requests(0.4, 9), of_ordinary(9 + 18));
        assert_eq!(requests(0.4, 7), of_ordinary(7 + 16), "at least 16 beyond those");
        assert_eq!(requests(0.5, 10), of_ordinary(10 + 16), "LRU eviction is as likely");
        assert_eq!(requests(1.0, 10), of_ordinary(10 + 16));
    }
}
