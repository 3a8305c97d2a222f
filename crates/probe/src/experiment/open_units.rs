//! *open-units*: into how many erase blocks can one write in turn before writes cost a merge?
//!
//! The controller keeps K erase blocks open. Writing into N of them in turn is free of merges for N <= K and never for
//! long beyond. Every write moves a probability over all K ([`Belief`]); the next N is the one of which a round tells
//! most for the time it takes, until one K is left. See docs/methods/open-units.md.

mod layer;

use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};

use super::pool::{Pool, Written};
use super::session::{PIECE as FILL_PIECE, Session, Stop, not_started};
use super::units::{self, Units};
use super::{Estimate, Experiment, Observer};
use crate::belief::{self, Belief, OPEN_MAX, Prior, Slowness};
use crate::observation::{Data, Observations, OpenUnitsCell, OpenUnitsData, Order, Times};

/// Where the search ends unless told otherwise: twice what the largest cards seen so far keep open.
pub const UNITS_MAX: u32 = OPEN_MAX;
/// Writes into one unit at the start: enough for a typical time, and for how often the device stalls by itself.
const BASELINE: u32 = 12;
/// Writes of a control: enough for a median.
const CONTROL: u32 = 7;
/// A search that has not decided after so many writes for each unit up to its end never will.
const WRITES_PER_UNIT: usize = 16;
/// And after so many in any case, where a stick merges at nearly each of them.
const WRITES_MIN: usize = 300;
/// Nor after so many bytes in linear order, and in all.
const BYTES_LINEAR_MAX: Bytes = Bytes::mib(96);
const BYTES_MAX: Bytes = Bytes::mib(160);
/// Nor after so long in linear order, and in all.
const TIME_LINEAR_MAX: Duration = Duration::from_secs(300);
const TIME_MAX: Duration = Duration::from_secs(500);
/// Where nothing merges in order, so many units are tried out of order: enough to tell whether that merges.
const RANDOM_IN_VAIN: u32 = 4;
/// So many rounds at most into as many blocks as fit, until they are open again.
const CONFIRMED_MAX: u32 = 6;
/// So many blocks that cost something to open, and nothing to go on with, make it worth the while to ask why. On a stick
/// that was used before, that is no wonder with a few; with large blocks the answer costs more.
const OPENED_SLOWLY: usize = 4;
const OPENED_SLOWLY_LARGE: usize = 7;
const SMALL_BLOCK: Bytes = Bytes::mib(4);

/// The experiment *open-units*.
#[derive(Debug, Clone, Copy)]
pub struct OpenUnits {
    /// The erase block.
    pub erase_block: Bytes,
    /// The size of each write in the search: at least the effective page, at most a sixteenth of the erase block.
    pub request: Bytes,
    /// The effective page, if it is known: what a log maps at once can be as small.
    pub page: Option<Bytes>,
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
        Self {
            erase_block,
            request: units::request(erase_block, request),
            page: None,
            units_max: UNITS_MAX,
            seed,
        }
    }

    fn writes_max(self) -> usize {
        (self.units_max as usize * WRITES_PER_UNIT).max(WRITES_MIN)
    }
}

impl Experiment for OpenUnits {
    fn name(&self) -> &'static str {
        "open-units"
    }

    /// What three searches take that do not decide, and all tests beside them; nearly all end far below.
    fn estimate(&self, _device: &dyn Device) -> Estimate {
        let searches = 3 * self.writes_max() as u64;
        let around =
            u64::from(CONFIRMED_MAX * 2 * (self.units_max + 1)) + layer::requests_max(self.units_max);
        let requests = searches + around + u64::from(BASELINE + 2 * CONTROL);
        let whole_blocks = layer::BEGINNINGS_MAX / FILL_PIECE;
        let bytes_written =
            (self.request * requests).min(BYTES_MAX + self.request * around) + layer::BEGINNINGS_MAX;
        // Behind each write comes a flush.
        Estimate { requests: (requests + whole_blocks) * 2, bytes_written }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let mut data = OpenUnitsData { erase_block: self.erase_block, ..OpenUnitsData::default() };
        let units = match Units::to_write(device, self.erase_block) {
            Ok(units) => units,
            Err(refusal) => return not_started(device, self.seed, Data::OpenUnits(data), refusal),
        };
        let estimate = self.estimate(device);
        let session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let mut search = Search { experiment: *self, session, units, data: &mut data, rewrites: false };
        let result = search.run();
        search.session.end(result, Data::OpenUnits(data))
    }
}

/// The state of one run.
struct Search<'a, 'b> {
    experiment: OpenUnits,
    session: Session<'a>,
    units: Units,
    data: &'b mut OpenUnitsData,
    rewrites: bool,
}

impl Search<'_, '_> {
    fn run(&mut self) -> Result<(), Stop> {
        let mut pool = self.pool(Order::Linear);
        self.rounds(&mut pool, 1, BASELINE)?;
        let Some(slowness) = belief::unmerged(&self.data.cells) else { return Ok(()) };
        let mut linear = self.belief(Order::Linear, slowness, Prior::Linear);
        let most = self.experiment.units_max;
        self.search(&mut pool, &mut linear, most)?;
        self.confirm(&mut pool, &mut linear, most)?;
        let verdict = linear.verdict();
        if verdict.tells(most) {
            self.survey(&mut pool, verdict.number + 1, slowness)?;
        }
        self.control()?;
        if self.is_one_run(slowness) {
            return Ok(());
        }
        self.written_before(&linear)?;
        let slowness = belief::out_of_order(&linear, most);
        let mut random = Belief::new(Order::Random, slowness, Prior::after(&linear));
        let most = if linear.is_beyond(most) { RANDOM_IN_VAIN } else { most };
        self.search(&mut self.pool(Order::Random), &mut random, most)?;
        self.control()
    }

    fn belief(&self, order: Order, slowness: Slowness, prior: Prior) -> Belief {
        belief::of(self.cells(), self.experiment.erase_block, order, slowness, prior)
    }

    const fn cells(&self) -> &Vec<OpenUnitsCell> {
        if self.rewrites { &self.data.rewritten } else { &self.data.cells }
    }

    const fn pool(&self, order: Order) -> Pool {
        Pool::new(self.experiment.erase_block, self.experiment.request, order)
    }

    /// Rounds into as many units as tell most, until one number of open units is left, or the device has no more units.
    fn search(&mut self, pool: &mut Pool, belief: &mut Belief, mut most: u32) -> Result<(), Stop> {
        let is_first = pool.order == Order::Linear && !self.rewrites;
        let (bytes_max, time_max) =
            if is_first { (BYTES_LINEAR_MAX, TIME_LINEAR_MAX) } else { (BYTES_MAX, TIME_MAX) };
        while belief.writes() < self.experiment.writes_max()
            && !belief.fits_all(most)
            && !belief.is_in_vain()
            && self.session.device_time() < time_max
            && self.session.bytes_written() < bytes_max
        {
            let Some(number) = belief.next(most) else { break };
            if pool.order == Order::Linear && self.may_be_one_run(belief) {
                self.begin_pairs()?;
                if self.is_one_run(belief.slowness()) {
                    break;
                }
                self.open_again(pool, belief.slowness())?;
            }
            if !self.round(pool, number, belief)? {
                most = number - 1;
            }
        }
        Ok(())
    }

    /// Rounds into as many as were found to fit until one is quick; the first may have to open them again. So a cache that
    /// filled up during the search is told from one unit too many.
    fn confirm(&mut self, pool: &mut Pool, belief: &mut Belief, most: u32) -> Result<(), Stop> {
        let verdict = belief.verdict();
        for _ in 0..if verdict.tells(most) { CONFIRMED_MAX } else { 0 } {
            let slow = belief.slow_writes();
            self.round(pool, verdict.number, belief)?;
            if belief.slow_writes() == slow {
                break;
            }
        }
        Ok(())
    }

    /// Writes into all blocks of the pool in turn until none is slow, without a word to the belief: other blocks were opened in
    /// between.
    fn open_again(&mut self, pool: &mut Pool, slowness: Slowness) -> Result<(), Stop> {
        for _ in 0..CONFIRMED_MAX {
            let mut is_slow = false;
            for index in 0..pool.len() {
                let written = pool.write(&mut self.session, &mut self.units, index)?;
                is_slow |= written
                    .and_then(|written| written.latency)
                    .is_none_or(|latency| slowness.is_slow(latency));
            }
            if !is_slow {
                break;
            }
        }
        Ok(())
    }

    /// Whether every block that was opened cost something, and none that was gone on with: asked once.
    fn may_be_one_run(&self, belief: &Belief) -> bool {
        let enough =
            if self.experiment.erase_block > SMALL_BLOCK { OPENED_SLOWLY_LARGE } else { OPENED_SLOWLY };
        self.begins_whole()
            && self.data.beginnings.is_empty()
            && !self.rewrites
            && belief.opens_slowly(enough)
    }

    /// One round, cut short once its number is clearly too large. False if the device has no more fresh units.
    fn round(&mut self, pool: &mut Pool, number: u32, belief: &mut Belief) -> Result<bool, Stop> {
        if self.rewrites {
            pool.prepare(&mut self.session, &mut self.units, number)?;
        }
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
            let cells = if self.rewrites { &mut self.data.rewritten } else { &mut self.data.cells };
            OpenUnitsCell::keep(cells, (pool.order, number, pool.request), unit, latency);
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
}
