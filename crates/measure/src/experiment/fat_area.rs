//! *fat-area*: are the first erase blocks mapped more finely, for the file allocation table?
//!
//! Some cards map the first erase blocks page by page, since the FAT lies there: small random writes are fast there and
//! cost a merge elsewhere. Once more blocks were begun than can be open, beginning another one puts one of them aside, which
//! costs a merge. A first block that is mapped finely takes no place, and puts none aside. See docs/methods/fat-area.md.

use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{ByteRange, Bytes, Device};

use flashscope_infer::open_blocks::first_blocks::{FIRST_BLOCKS, FirstBlocks};
use flashscope_infer::slow_classifier::SlowClassifier;
use flashscope_record::finding::{FindingId, WouldDecide};
use flashscope_record::observation::{
    BegunBlock, Data, FatAreaData, Merges, Observations, Order, Refusal, Times,
};

use crate::contract::{Estimate, Experiment, Observer};
use crate::experiment::pool::Pool;
use crate::experiment::units;
use crate::experiment::units::Units;
use crate::session::{Refused, Session, Stop, fill, not_started, range};

/// Writes of the baseline: enough for a median.
const BASELINE: u32 = 8;
/// The blocks of the two baselines are others than those that take all places.
const ALONE: u32 = 2;
/// No further block is begun after so many bytes, or so long.
const BYTES_MAX: Bytes = Bytes::mib(32);
const TIME_MAX: Duration = Duration::from_secs(120);
/// So often each of the first blocks is begun where one run is taken in order.
const BEGINNINGS: usize = 4;
/// A device that fails more writes is left alone.
const FAILED_MAX: u64 = 16;
/// An ordinary block is filled before, so that putting it aside has something to copy; so much of it is plenty.
const FILLED_MAX: Bytes = Bytes::mib(32);
/// Ordinary blocks are begun in turn, so many more than are too many: those that were put aside once cost something the second
/// time at the latest.
const SPARE: u32 = 16;
/// The same, times as many as are too many, where any block may have to go: with fewer, most would be open still.
const SPARE_IN_ANY_ORDER: u32 = 2;
/// All of them are begun so many times at most until each puts another aside.
const TURNS_MAX: u32 = 3;

/// The experiment *fat-area*.
#[derive(Debug, Clone, Copy)]
pub struct FatArea {
    /// The erase block.
    pub erase_block: Bytes,
    /// The size of each write: at least the effective page, at most a sixteenth of the erase block.
    pub request: Bytes,
    /// What is known of merges; unless a number of blocks is known that is too many, the FAT area is unknown.
    pub merges: Option<Merges>,
    /// The seed of the data.
    pub seed: u64,
}

impl FatArea {
    /// The experiment for an erase block, the page and merges, as far as known.
    #[must_use]
    pub fn new(erase_block: Bytes, page: Option<Bytes>, merges: Option<Merges>, seed: u64) -> Self {
        Self { erase_block, request: units::request(erase_block, page), merges, seed }
    }

    /// How many of the first blocks are asked at most: half the device, while enough others are left to take all places; an
    /// eighth in any case.
    fn first_units(self, device: &dyn Device) -> u32 {
        let count = device.capabilities().capacity / self.erase_block.max(Bytes::new(1));
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let others =
            self.merges.and_then(|merges| merges.too_many).map_or(count, |too_many| too_many + ALONE);
        count.saturating_sub(others).min(count / 2).max(count / 8).min(FIRST_BLOCKS)
    }

    /// How many ordinary blocks are begun in turn.
    fn in_turn(self) -> u32 {
        let Some((too_many, merges)) = self.merges.and_then(|merges| Some((merges.too_many?, merges))) else {
            return 0;
        };
        let spare = if merges.every_switch < 0.5 { too_many * SPARE_IN_ANY_ORDER } else { 0 };
        too_many + spare.max(SPARE)
    }
}

impl Experiment for FatArea {
    fn name(&self) -> &'static str {
        "fat-area"
    }

    fn estimate(&self, device: &dyn Device) -> Estimate {
        let first_units = self.first_units(device);
        let begun = u64::from(self.in_turn() * (TURNS_MAX + 1) + first_units * 2);
        let requests = 2 * (u64::from(BASELINE) + 1) + begun;
        // Behind each write comes a flush.
        Estimate { requests: requests * 2, bytes_written: self.request * requests }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let mut data =
            FatAreaData { erase_block: self.erase_block, merges: self.merges, ..FatAreaData::default() };
        let first_units = self.first_units(device);
        let is_known = self.merges.is_some_and(|merges| merges.is_one_run || merges.too_many.is_some());
        let units = match Units::to_write(device, self.erase_block) {
            Ok(units) if is_known => units.backward().behind(first_units),
            Ok(_) => {
                let id = FindingId::OpenUnitsLinear;
                let refused = Refused::new(Refusal::DependsOn { id }, [WouldDecide::Finding(id)]);
                return not_started(device, self.seed, Data::FatArea(data), refused);
            }
            Err(refused) => return not_started(device, self.seed, Data::FatArea(data), refused),
        };
        let estimate = self.estimate(device);
        let session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let far = Pool::new(self.erase_block, self.request, Order::Linear);
        let left = u32::try_from(units.left()).unwrap_or(u32::MAX).saturating_sub(ALONE);
        let in_turn = self.in_turn().min(left);
        let mut first = First {
            experiment: *self,
            session,
            units,
            far,
            in_turn,
            next_far: 0,
            failed: 0,
            data: &mut data,
        };
        let result = first.run(first_units);
        first.session.end(result, Data::FatArea(data))
    }
}

/// The state of one run.
struct First<'a, 'b> {
    experiment: FatArea,
    session: Session<'a>,
    units: Units,
    /// Ordinary blocks, so many of them begun in turn.
    far: Pool,
    in_turn: u32,
    next_far: usize,
    /// How many writes failed.
    failed: u64,
    data: &'b mut FatAreaData,
}

impl First<'_, '_> {
    /// What a write takes, the beginnings, and whether it still takes that.
    fn run(&mut self, first_units: u32) -> Result<(), Stop> {
        let before = self.alone()?;
        let slowness = SlowClassifier::beyond(&before);
        self.data.baseline = Some(Times::Each(before.clone()));
        let Some(slowness) = slowness else { return Ok(()) };
        self.first(first_units, slowness, &before)?;
        self.data.control = Some(Times::Each(self.alone()?));
        Ok(())
    }

    /// Begins the first blocks among ordinary ones until the end of the area is known.
    fn first(
        &mut self,
        first_units: u32,
        slowness: SlowClassifier,
        going_on: &[Duration],
    ) -> Result<(), Stop> {
        if self.experiment.merges.is_some_and(|merges| merges.is_one_run) {
            return self.begin_each(first_units, slowness);
        }
        let mut belief = FirstBlocks::new(slowness, going_on, self.experiment.merges);
        // Begun in vain too often, ordinary blocks never put another aside.
        let mut in_vain = 0;
        while let Some(unit) = belief.next(first_units).filter(|unit| self.is_affordable(*unit, &belief)) {
            in_vain = if belief.are_places_taken() { 0 } else { in_vain + 1 };
            if in_vain > TURNS_MAX * self.in_turn {
                return Ok(());
            }
            let block = (belief.is_ready() && belief.others_before(unit) == 0).then_some(unit);
            if !self.begin(block, &mut belief)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Whether what it takes to ask this block is left to spend.
    fn is_affordable(&self, unit: u32, belief: &FirstBlocks) -> bool {
        let others = belief.others_before(unit);
        let takes = self.experiment.merges.and_then(|merges| merges.takes).unwrap_or_default();
        !self.is_spent()
            && self.failed <= FAILED_MAX
            && self.session.device_time() + takes * others <= TIME_MAX
            && self.session.bytes_written() + self.experiment.request * u64::from(others) <= BYTES_MAX
    }

    /// Writes once into one of the first blocks, or into the next ordinary one; a write that fails does not count. False if none is
    /// left.
    fn begin(&mut self, unit: Option<u32>, belief: &mut FirstBlocks) -> Result<bool, Stop> {
        let time = match unit {
            Some(unit) => {
                let place = self.place(unit);
                self.session.write_through(place)?
            }
            None => {
                let index = self.next_far;
                self.next_far = (index + 1) % self.in_turn.max(1) as usize;
                let Some(written) = self.far.write(&mut self.session, &mut self.units, index)? else {
                    return Ok(false);
                };
                written.latency
            }
        };
        match time {
            Some(time) => {
                self.data.begun.push(BegunBlock { unit, time });
                belief.begin(unit, time);
            }
            None => self.failed += 1,
        }
        Ok(true)
    }

    /// Where one of the first blocks is written next: behind what was written there, and what could not be.
    fn place(&self, unit: u32) -> ByteRange {
        let FatArea { erase_block, request, .. } = self.experiment;
        let begun = self.data.begun.iter().filter(|block| block.unit == Some(unit)).count() as u64;
        let place = (begun + self.failed) % (erase_block / request).max(1);
        range(erase_block * u64::from(unit) + request * place, request)
    }

    /// Whether enough was spent.
    fn is_spent(&self) -> bool {
        self.session.bytes_written() > BYTES_MAX || self.session.device_time() > TIME_MAX
    }

    /// Where one run is taken in order: begins a block that was written to its end, and then one of the first, which puts
    /// the other aside if it is ordinary.
    fn begin_each(&mut self, first_units: u32, slowness: SlowClassifier) -> Result<(), Stop> {
        let Some(far) = self.units.take() else { return Ok(()) };
        let (erase_block, request) = (self.experiment.erase_block, self.experiment.request);
        fill(&mut self.session, ByteRange::new(far, erase_block.min(FILLED_MAX)))?;
        for unit in 0..first_units {
            let mut times = Vec::new();
            for _ in 0..BEGINNINGS {
                self.session.write_through(range(far, request))?;
                times.extend(self.session.write_through(range(erase_block * u64::from(unit), request))?);
            }
            let is_fine = !times.iter().any(|latency| slowness.is_slow(*latency));
            self.data.beginnings.push(times);
            if !is_fine {
                break;
            }
        }
        Ok(())
    }

    /// Writes one ordinary block from its start; the first write, which may close another block, does not count.
    fn alone(&mut self) -> Result<Vec<Duration>, Stop> {
        let mut pool = Pool::new(self.experiment.erase_block, self.experiment.request, Order::Linear);
        let mut times = Vec::new();
        for _ in 0..=BASELINE {
            let written = pool.write(&mut self.session, &mut self.units, 0)?;
            times.extend(written.and_then(|written| written.latency));
        }
        Ok(times.split_off(1.min(times.len())))
    }
}
