//! *fat-area*: are the first erase blocks mapped more finely, for the file allocation table?
//!
//! Some cards map the first erase blocks page by page, since the FAT lies there: small random writes are fast there and
//! cost a merge elsewhere. As many ordinary blocks as fit are written in turn with one of the first: if that one is
//! ordinary too, it is one too many and merges follow; if it is finely mapped, it takes no place and none do. See
//! docs/methods/fat-area.md.

use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{ByteRange, Bytes, Device};

use super::pool::{Pool, Written};
use super::session::{Refusal, Session, Stop, fill, not_started, range};
use super::units::{self, FIRST_UNITS, Units};
use super::{Estimate, Experiment, Observer};
use crate::belief::{FatTrial, Slowness};
use crate::observation::{Data, FatAreaCell, FatAreaData, Merges, Observations, Order, Times};

/// Writes of the baseline: enough for a median.
const BASELINE: u32 = 8;
/// A trial that has not decided after so many rounds never will.
const ROUNDS_MAX: u32 = 24;
/// No further block is tried after so many bytes, or so long.
const BYTES_MAX: Bytes = Bytes::mib(16);
const TIME_MAX: Duration = Duration::from_secs(120);
/// So often each of the first blocks is begun where one run is taken in order.
const BEGINNINGS: usize = 4;
/// A larger block is not written to its end for that.
const BLOCK_MAX: Bytes = Bytes::mib(32);
/// With fewer places left in the ordinary blocks a trial begins with fresh ones.
const ROUNDS_ENOUGH: u32 = 4;
/// Rounds without a merge, out of order each block's second write included, after which the ordinary blocks are open.
const SETTLED: u32 = 2;
/// Rounds after which they are as open as they will be.
const SETTLING_MAX: u32 = 24;
/// Of so many writes one may be slow for another reason.
const STALLS: u32 = 16;

/// The experiment *fat-area*.
#[derive(Debug, Clone, Copy)]
pub struct FatArea {
    /// The erase block.
    pub erase_block: Bytes,
    /// The size of each write: at least the effective page, at most a sixteenth of the erase block.
    pub request: Bytes,
    /// How many erase blocks fit, and in which order inside each; `None`: unknown, and so is the FAT area then.
    pub fits: Option<(Order, u32)>,
    /// What else is known of merges.
    pub merges: Option<Merges>,
    /// The seed of data and order.
    pub seed: u64,
}

impl FatArea {
    /// The experiment for an erase block, the page and the number of open units, as far as known.
    #[must_use]
    pub fn new(erase_block: Bytes, page: Option<Bytes>, fits: Option<(Order, u32)>, seed: u64) -> Self {
        Self { erase_block, request: units::request(erase_block, page), fits, merges: None, seed }
    }

    fn first_units(self, device: &dyn Device) -> u32 {
        let count = device.capabilities().capacity / self.erase_block.max(Bytes::new(1));
        u32::try_from(count / 8).unwrap_or(u32::MAX).min(FIRST_UNITS)
    }
}

impl Experiment for FatArea {
    fn name(&self) -> &'static str {
        "fat-area"
    }

    fn estimate(&self, device: &dyn Device) -> Estimate {
        let in_turn = self.fits.map_or(0, |(_, fits)| u64::from(fits) + 1);
        let trials = u64::from(self.first_units(device) * ROUNDS_MAX);
        let requests = trials * in_turn + 2 * (u64::from(BASELINE) + 1);
        // Behind each write comes a flush.
        Estimate { requests: requests * 2, bytes_written: self.request * requests }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let mut data = FatAreaData {
            erase_block: self.erase_block,
            fits: self.fits,
            merges: self.merges,
            ..FatAreaData::default()
        };
        let first_units = self.first_units(device);
        let units = Units::to_write(device, self.erase_block);
        let (units, (order, fits)) = match (units, self.fits) {
            (Ok(units), Some(fits)) => (units, fits),
            (Err(refusal), _) => return not_started(device, self.seed, Data::FatArea(data), refusal),
            (_, None) => {
                let refusal = Refusal::new(UNKNOWN_FITS, "a search for open units that finds their number");
                return not_started(device, self.seed, Data::FatArea(data), refusal);
            }
        };
        let estimate = self.estimate(device);
        let session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let far = Pool::new(self.erase_block, self.request, order);
        let mut trials = Trials { experiment: *self, session, units, far, fits, data: &mut data };
        let result = trials.run(first_units);
        trials.session.end(result, Data::FatArea(data))
    }
}

const UNKNOWN_FITS: &str =
    "how many erase blocks can be open is not known: nothing tells a merge in the first of them";

/// The state of one run.
struct Trials<'a, 'b> {
    experiment: FatArea,
    session: Session<'a>,
    units: Units,
    far: Pool,
    fits: u32,
    data: &'b mut FatAreaData,
}

impl Trials<'_, '_> {
    /// What a write takes, the trials, and whether it still takes that.
    fn run(&mut self, first_units: u32) -> Result<(), Stop> {
        let before = self.alone()?;
        let slowness = Slowness::beyond(&before);
        self.data.baseline = Some(Times::Each(before));
        let Some(slowness) = slowness else { return Ok(()) };
        self.trials(first_units, slowness)?;
        self.data.control = Some(Times::Each(self.alone()?));
        Ok(())
    }

    /// One trial for each of the first units, until one of them is ordinary.
    fn trials(&mut self, first_units: u32, slowness: Slowness) -> Result<(), Stop> {
        if self.experiment.merges.is_some_and(|merges| merges.is_one_run) {
            return self.begin_each(first_units, slowness);
        }
        for unit in 0..first_units {
            if self.is_spent() {
                break;
            }
            let is_fresh_due = self.far.is_empty() || self.far.rounds_left() < ROUNDS_ENOUGH;
            if is_fresh_due && !self.open_far(slowness)? {
                break;
            }
            let mut trial = FatTrial::new(self.far.order, slowness, self.fits, self.experiment.merges, unit);
            self.trial(unit, &mut trial)?;
            if trial.is_fine() != Some(true) {
                break;
            }
        }
        Ok(())
    }

    /// Where one run is taken in order: begins a block that was written to its end, and then one of the first, which puts
    /// the other aside if it is ordinary.
    fn begin_each(&mut self, first_units: u32, slowness: Slowness) -> Result<(), Stop> {
        let Some(far) = self.units.take() else { return Ok(()) };
        let (erase_block, request) = (self.experiment.erase_block, self.experiment.request);
        if erase_block > BLOCK_MAX {
            return Ok(());
        }
        fill(&mut self.session, ByteRange::new(far, erase_block))?;
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

    /// Opens as many fresh ordinary blocks as fit. What was open before goes, sooner or later; false if it did not.
    fn open_far(&mut self, slowness: Slowness) -> Result<bool, Stop> {
        self.far = Pool::new(self.experiment.erase_block, self.experiment.request, self.far.order);
        let mut clean = 0;
        for _ in 0..SETTLING_MAX {
            if self.is_spent() {
                break;
            }
            let mut slow = 0;
            for index in 0..self.fits as usize {
                let written = self.far.write(&mut self.session, &mut self.units, index)?;
                let latency = written.and_then(|written| written.latency);
                slow += u32::from(latency.is_none_or(|latency| slowness.is_slow(latency)));
            }
            // Single ones may be stalls.
            clean = if slow * STALLS > self.fits { 0 } else { clean + 1 };
            if clean == SETTLED {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether enough was spent.
    fn is_spent(&self) -> bool {
        self.session.bytes_written() > BYTES_MAX || self.session.device_time() > TIME_MAX
    }

    fn trial(&mut self, unit: u32, trial: &mut FatTrial) -> Result<(), Stop> {
        let offset = self.experiment.erase_block * u64::from(unit);
        let mut first = Pool::new(self.experiment.erase_block, self.experiment.request, self.far.order);
        first.begin_at(offset, &mut self.session);
        let rounds = ROUNDS_MAX.min(self.far.rounds_left()).min(first.rounds_left());
        let mut cells = vec![Vec::new(); self.fits as usize + 1];
        let mut result = Ok(true);
        for _ in 0..rounds {
            result = self.round(&mut first, &mut cells, trial);
            if !matches!(result, Ok(true)) || trial.is_fine().is_some() {
                break;
            }
        }
        self.keep(unit, cells);
        result.map(drop)
    }

    /// One write into the first unit and one into each ordinary one. False if there is no more room. A write that failed
    /// ends the trial too, since the later ones would be taken for others.
    fn round(
        &mut self,
        first: &mut Pool,
        cells: &mut [Vec<Written>],
        trial: &mut FatTrial,
    ) -> Result<bool, Stop> {
        for (index, cell) in cells.iter_mut().enumerate() {
            let written = match index.checked_sub(1) {
                None => first.write(&mut self.session, &mut self.units, 0)?,
                Some(far) => self.far.write(&mut self.session, &mut self.units, far)?,
            };
            let Some(Written { latency: Some(latency), .. }) = written else { return Ok(false) };
            cell.extend(written);
            trial.write(index, latency);
            if trial.is_fine().is_some() {
                break;
            }
        }
        Ok(true)
    }

    fn keep(&mut self, trial: u32, cells: Vec<Vec<Written>>) {
        let (order, request) = (self.far.order, self.experiment.request);
        for written in cells {
            let Some(first) = written.first() else { return };
            let unit = u32::try_from(first.offset / self.experiment.erase_block).unwrap_or(u32::MAX);
            let times = Times::Each(written.iter().filter_map(|each| each.latency).collect());
            self.data.cells.push(FatAreaCell { trial, unit, order, request, times });
        }
    }
}
