//! *open-units*: into how many erase blocks can one write in turn before each write costs a merge?
//!
//! The controller keeps K erase blocks open. Writing into N of them in turn is fast for N <= K. For N > K at least one
//! of N consecutive writes must hit a block that is not open, whatever the controller's policy (N blocks do not fit
//! into K places), so no round of N writes is ever without a merge. The experiment therefore looks for *clean rounds*:
//! it doubles N until rounds stay unclean, then bisects. See docs/methods/open-units.md.

use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};

use super::pool::Pool;
use super::session::{Session, Stop, conditions};
use super::units::Units;
use super::write_size::why_not;
use super::{Estimate, Experiment, Observer};
use crate::observation::{Data, Ended, Observations, OpenUnitsCell, OpenUnitsData, Order, Times};
use crate::rounds::{Rounds, Slow};

/// Where the search ends unless told otherwise: as many open units as the largest cards seen so far have.
pub const UNITS_MAX: u32 = 64;
/// Rounds once all units are open. If one unit were too many, each round would hold a merge: six of them without one
/// are no accident.
const SETTLED_ROUNDS: u32 = 6;
/// So many attempts to have all units open at once; the blocks that the search left open are in the way.
const SETTLING_TRIALS: u32 = 3;
/// Rounds of the survey by request size; three rounds without a merge are no accident.
const SURVEY_ROUNDS: u32 = 3;
/// The survey's smallest request.
const SURVEY_SMALLEST: Bytes = Bytes::kib(4);
/// And its largest: beyond, a merge hides behind the transfer.
const SURVEY_LARGEST: Bytes = Bytes::kib(512);

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
    /// The experiment for an erase block and the smallest request that is written efficiently, if that is known.
    #[must_use]
    pub fn new(erase_block: Bytes, write_unit: Option<Bytes>, seed: u64) -> Self {
        let request = write_unit
            .unwrap_or(Bytes::kib(64))
            .min(erase_block / 16)
            .max(Bytes::kib(4))
            .round_down(Bytes::kib(4));
        Self { erase_block, request, units_max: UNITS_MAX, seed }
    }

    fn survey_sizes(self) -> Vec<Bytes> {
        std::iter::successors(Some(SURVEY_SMALLEST), |size| Some(*size * 2))
            .take_while(|size| *size <= SURVEY_LARGEST.min(self.erase_block / 32))
            .collect()
    }
}

impl Experiment for OpenUnits {
    fn name(&self) -> &'static str {
        "open-units"
    }

    /// What a search with [`Self::units_max`] units takes whose trials all decide in a few rounds; most end far below, and
    /// a device that stalls now and then takes more.
    fn estimate(&self, _device: &dyn Device) -> Estimate {
        let trials: u64 = 2 * u64::from(self.units_max.ilog2() + 3);
        let search = trials * u64::from(self.units_max) * u64::from(Rounds::MISSES_PER_UNIT);
        let survey: Bytes = self.survey_sizes().into_iter().sum();
        let surveyed = u64::from(SURVEY_ROUNDS + 2) * u64::from(self.units_max);
        Estimate {
            requests: search + surveyed * self.survey_sizes().len() as u64,
            bytes_written: self.request * search + survey * surveyed,
        }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let mut data = OpenUnitsData { erase_block: self.erase_block, ..OpenUnitsData::default() };
        let wanted = u64::from(self.units_max) * 4;
        let units = Units::new(device, self.erase_block, wanted);
        if let Some(reason) = why_not(device, &units) {
            let conditions = conditions(device, self.seed);
            return Observations {
                data: Data::OpenUnits(data),
                conditions,
                ended: Ended::NotStarted { reason },
            };
        }
        let estimate = self.estimate(device);
        let session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let mut search = Search { experiment: *self, session, units, slow: None, data: &mut data };
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
    slow: Option<Slow>,
    data: &'b mut OpenUnitsData,
}

impl Search<'_, '_> {
    fn run(&mut self) -> Result<(), Stop> {
        let linear = self.search(Order::Linear)?;
        self.control()?;
        self.search(Order::Random)?;
        self.control()?;
        match linear {
            Some(open) => self.survey(open),
            None => Ok(()),
        }
    }

    /// The largest number of units that fits; `None` if not even one does, or none was found not to fit.
    fn search(&mut self, order: Order) -> Result<Option<u32>, Stop> {
        let request = self.experiment.request;
        let mut pool = Pool::new(self.experiment.erase_block, request, order);
        let (mut fits, mut too_many) = (0, None);
        let mut count = 1;
        while too_many.is_none() && count <= self.experiment.units_max {
            match self.trial(&mut pool, count)? {
                Some(true) => fits = count,
                Some(false) => too_many = Some(count),
                None => return Ok(None),
            }
            count *= 2;
        }
        let Some(mut too_many) = too_many else { return Ok(None) };
        loop {
            while too_many - fits > 1 {
                let middle = u32::midpoint(fits, too_many);
                match self.trial(&mut pool, middle)? {
                    Some(true) => fits = middle,
                    Some(false) => too_many = middle,
                    None => return Ok(None),
                }
            }
            // Once more with fresh units: blocks left open by earlier trials can make a fitting number look unclean.
            pool = Pool::new(self.experiment.erase_block, request, order);
            match self.trial(&mut pool, too_many)? {
                Some(true) => (fits, too_many) = (too_many, too_many * 2),
                _ => break,
            }
        }
        self.settled_rounds(order, fits)?;
        Ok((fits > 0).then_some(fits))
    }

    /// Rounds with as many units as fit, once all are open. If they did not fit, each of these rounds would hold a merge.
    /// The units are fresh, so that none of them is full and merged for that.
    fn settled_rounds(&mut self, order: Order, fits: u32) -> Result<(), Stop> {
        for _ in 0..SETTLING_TRIALS {
            let mut pool = Pool::new(self.experiment.erase_block, self.experiment.request, order);
            if fits > 0 && self.trial(&mut pool, fits)? == Some(true) {
                return self.keep_settled(&mut pool, fits);
            }
        }
        Ok(())
    }

    fn keep_settled(&mut self, pool: &mut Pool, fits: u32) -> Result<(), Stop> {
        let mut times = Vec::new();
        let result = self.rounds(pool, fits, SETTLED_ROUNDS, &mut times);
        let cell = OpenUnitsCell {
            order: pool.order,
            open_units: fits,
            request: pool.request,
            times: Times::Each(times),
        };
        self.data.settled.push(cell);
        result.map(drop)
    }

    /// Linear writes into one fresh unit, as in the very first trial; the first one, which may close a block, left out.
    fn control(&mut self) -> Result<(), Stop> {
        let mut pool = Pool::new(self.experiment.erase_block, self.experiment.request, Order::Linear);
        let mut times = Vec::new();
        self.rounds(&mut pool, 1, Rounds::FIRST + 1, &mut times)?;
        self.data.controls.push(Times::Each(times.split_off(1.min(times.len()))));
        Ok(())
    }

    /// Writes into `count` units in turn and keeps the times; whether they fit, or `None` if the device has no more units.
    fn trial(&mut self, pool: &mut Pool, count: u32) -> Result<Option<bool>, Stop> {
        let mut rounds = Rounds::new(count);
        let mut stopped = Ok(());
        for _ in 0..Rounds::MOST {
            if rounds.is_decided(self.slow) {
                break;
            }
            match pool.round(&mut self.session, &mut self.units, count, &mut rounds.times) {
                Ok(true) => {}
                Ok(false) => break,
                Err(stop) => {
                    stopped = Err(stop);
                    break;
                }
            }
        }
        self.keep(pool.order, count, pool.request, &rounds.times);
        stopped?;
        if self.slow.is_none() {
            self.slow = Slow::beyond(&rounds.times);
        }
        Ok(rounds.fits(self.slow))
    }

    fn keep(&mut self, order: Order, open_units: u32, request: Bytes, times: &[Duration]) {
        if times.len() >= open_units as usize {
            let times = Times::Each(times.to_vec());
            self.data.cells.push(OpenUnitsCell { order, open_units, request, times });
        }
    }

    /// Every request size, into as many units as fit and into one more: what a merge costs, and which requests escape it.
    fn survey(&mut self, fitting: u32) -> Result<(), Stop> {
        let sizes = self.experiment.survey_sizes();
        for count in [fitting, fitting + 1] {
            let Some(largest) = sizes.last() else { return Ok(()) };
            let mut pool = Pool::new(self.experiment.erase_block, *largest, Order::Linear);
            if !self.settle(&mut pool, count, count > fitting)? {
                return Ok(());
            }
            // From the largest request down, the next place in each block stays aligned.
            for size in sizes.iter().rev() {
                pool.set_request(*size);
                let mut times = Vec::new();
                let result = self.rounds(&mut pool, count, SURVEY_ROUNDS, &mut times);
                self.keep(Order::Linear, count, *size, &times);
                if !result? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Writes until all blocks of the pool are open; once each, where they never all are. False without fresh units.
    fn settle(&mut self, pool: &mut Pool, count: u32, too_many: bool) -> Result<bool, Stop> {
        let mut settling = Rounds::new(count);
        let slow = self.slow.map(|slow| slow.scaled(self.experiment.request, pool.request));
        for _ in 0..Rounds::MOST {
            if !pool.round(&mut self.session, &mut self.units, count, &mut settling.times)? {
                return Ok(false);
            }
            if too_many || settling.is_decided(slow) {
                break;
            }
        }
        Ok(true)
    }

    fn rounds(
        &mut self,
        pool: &mut Pool,
        count: u32,
        rounds: u32,
        times: &mut Vec<Duration>,
    ) -> Result<bool, Stop> {
        for _ in 0..rounds {
            if !pool.round(&mut self.session, &mut self.units, count, times)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
