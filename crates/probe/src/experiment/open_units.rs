//! *open-units*: into how many erase blocks can one write in turn before writes cost a merge?
//!
//! The controller keeps K erase blocks open. Writing into N of them in turn is free of merges for N <= K and never for
//! long beyond. Every write moves a probability over all K ([`Belief`]); the next N is the one of which a round tells
//! most for the time it takes, until one K is left. See docs/methods/open-units.md.

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};

use super::pool::{Pool, Written};
use super::session::{Session, Stop, not_started};
use super::units::Units;
use super::{Estimate, Experiment, Observer};
use crate::belief::{self, Belief, OPEN_MAX, Prior, Slowness};
use crate::observation::{Data, Observations, OpenUnitsData, Order, Times};

/// Where the search ends unless told otherwise: twice what the largest cards seen so far keep open.
pub const UNITS_MAX: u32 = OPEN_MAX;
/// Writes into one unit at the start: enough for a typical time, and for how often the device stalls by itself.
const BASELINE: u32 = 12;
/// Writes of a control: enough for a median.
const CONTROL: u32 = 7;
/// A search that has not decided after so many writes for each unit up to its end never will.
const WRITES_PER_UNIT: usize = 12;
/// And after so many in any case, where a stick merges at nearly each of them.
const WRITES_MIN: usize = 300;
/// The smallest request of the survey by size.
const SURVEY_SMALLEST: Bytes = Bytes::kib(4);
/// So many slow writes tell that requests of a size do merge.
const SURVEY_SLOW: usize = 2;
/// So many rounds without tell that they do not.
const SURVEY_ROUNDS: u32 = 3;

/// The experiment *open-units*.
#[derive(Debug, Clone, Copy)]
pub struct OpenUnits {
    /// The erase block.
    pub erase_block: Bytes,
    /// The size of each write in the search: at least the effective page, at most a sixteenth of the erase block.
    pub request: Bytes,
    /// Where the search ends.
    pub units_max: u32,
    /// The seed of data and order.
    pub seed: u64,
}

impl OpenUnits {
    /// The experiment for an erase block and the size of write that suits the device, if that is known: the effective
    /// page, or the smallest request that is written efficiently.
    #[must_use]
    pub fn new(erase_block: Bytes, request: Option<Bytes>, seed: u64) -> Self {
        let request = request
            .unwrap_or(Bytes::kib(64))
            .min(erase_block / 16)
            .max(Bytes::kib(4))
            .round_down(Bytes::kib(4));
        Self { erase_block, request, units_max: UNITS_MAX, seed }
    }

    fn writes_max(self) -> usize {
        (self.units_max as usize * WRITES_PER_UNIT).max(WRITES_MIN)
    }
}

impl Experiment for OpenUnits {
    fn name(&self) -> &'static str {
        "open-units"
    }

    /// What two searches take that do not decide; nearly all end far below.
    fn estimate(&self, _device: &dyn Device) -> Estimate {
        let searches = 2 * self.writes_max() as u64;
        let survey = u64::from(SURVEY_ROUNDS * (self.units_max + 1)) * 4;
        let requests = searches + survey + u64::from(BASELINE + 2 * CONTROL);
        Estimate { requests, bytes_written: self.request * requests }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let mut data = OpenUnitsData { erase_block: self.erase_block, ..OpenUnitsData::default() };
        let units = match Units::to_write(device, self.erase_block) {
            Ok(units) => units,
            Err(reason) => return not_started(device, self.seed, Data::OpenUnits(data), reason),
        };
        let estimate = self.estimate(device);
        let session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let mut search = Search { experiment: *self, session, units, data: &mut data };
        let result = search.run();
        let (conditions, ended) = search.session.end(result);
        Observations { data: Data::OpenUnits(data), conditions, ended }
    }
}

/// The state of one run.
struct Search<'a, 'b> {
    experiment: OpenUnits,
    session: Session<'a>,
    units: Units,
    data: &'b mut OpenUnitsData,
}

impl Search<'_, '_> {
    fn run(&mut self) -> Result<(), Stop> {
        let mut pool = self.pool(Order::Linear);
        self.rounds(&mut pool, 1, BASELINE)?;
        let Some(slowness) = belief::unmerged(self.data) else { return Ok(()) };
        let mut linear = belief::of(self.data, Order::Linear, slowness, Prior::Linear);
        self.search(&mut pool, &mut linear)?;
        let verdict = linear.verdict();
        if verdict.tells(self.experiment.units_max) {
            self.survey(&mut pool, verdict.number + 1, slowness)?;
        }
        self.control()?;
        let mut random = Belief::new(Order::Random, slowness, Prior::after(&linear));
        self.search(&mut self.pool(Order::Random), &mut random)?;
        self.control()
    }

    const fn pool(&self, order: Order) -> Pool {
        Pool::new(self.experiment.erase_block, self.experiment.request, order)
    }

    /// Rounds into as many units as tell most, until one number of open units is left, or the device has no more units.
    fn search(&mut self, pool: &mut Pool, belief: &mut Belief) -> Result<(), Stop> {
        let mut most = self.experiment.units_max;
        while belief.writes() < self.experiment.writes_max() {
            let Some(number) = belief.next(most) else { break };
            if !self.round(pool, number, belief)? {
                most = number - 1;
            }
        }
        Ok(())
    }

    /// One round, cut short once its number is clearly too large. False if the device has no more fresh units.
    fn round(&mut self, pool: &mut Pool, number: u32, belief: &mut Belief) -> Result<bool, Stop> {
        for index in 0..number {
            let Some(written) = self.write(pool, number, index)? else { return Ok(false) };
            if let Some(latency) = written.latency {
                belief.write(written.unit, latency);
            }
            if belief.is_too_many(number) {
                break;
            }
        }
        Ok(true)
    }

    /// One write, kept in the cell of its number of units; `None` if the device has no more fresh units.
    fn write(&mut self, pool: &mut Pool, number: u32, index: u32) -> Result<Option<Written>, Stop> {
        let written = pool.write(&mut self.session, &mut self.units, index as usize)?;
        if let Some(Written { unit, latency: Some(latency), .. }) = written {
            self.data.keep(pool.order, number, pool.request, unit, latency);
        }
        Ok(written)
    }

    fn rounds(&mut self, pool: &mut Pool, number: u32, rounds: u32) -> Result<bool, Stop> {
        for index in (0..rounds).flat_map(|_| 0..number) {
            if self.write(pool, number, index)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Linear writes into one fresh unit, as at the start; the first one, which may close a block, left out.
    fn control(&mut self) -> Result<(), Stop> {
        let mut pool = self.pool(Order::Linear);
        let mut times = Vec::new();
        for _ in 0..=CONTROL {
            let written = pool.write(&mut self.session, &mut self.units, 0)?;
            times.extend(written.and_then(|written| written.latency));
        }
        self.data.controls.push(Times::Each(times.split_off(1.min(times.len()))));
        Ok(())
    }

    /// Smaller and smaller requests into one unit too many, until a size pays no merge: the largest that takes another path.
    fn survey(&mut self, pool: &mut Pool, too_many: u32, slowness: Slowness) -> Result<(), Stop> {
        let halves = std::iter::successors(Some(self.experiment.request / 2), |size| Some(*size / 2));
        for size in halves.take_while(|size| *size >= SURVEY_SMALLEST && size.is_multiple_of(SURVEY_SMALLEST))
        {
            pool.set_request(size);
            let mut slow = 0;
            for index in (0..SURVEY_ROUNDS).flat_map(|_| 0..too_many) {
                let Some(written) = self.write(pool, too_many, index)? else { return Ok(()) };
                slow += usize::from(written.latency.is_some_and(|latency| slowness.is_slow(latency)));
                if slow >= SURVEY_SLOW {
                    break;
                }
            }
            if slow < SURVEY_SLOW {
                return Ok(());
            }
        }
        Ok(())
    }
}
