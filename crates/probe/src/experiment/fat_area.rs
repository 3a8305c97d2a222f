//! *fat-area*: are the first erase blocks mapped more finely, for the file allocation table?
//!
//! Some cards map the first erase blocks page by page, since the FAT lies there: small random writes are fast there and
//! cost a merge elsewhere. The experiment writes in turn into the first erase blocks and into more blocks behind them
//! than the controller can keep open. Ordinary blocks then pay merges; finely mapped ones never do. See
//! docs/methods/fat-area.md.

use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};

use super::pool::Pool;
use super::session::{Session, Stop, conditions, range};
use super::units::Units;
use super::write_size::why_not;
use super::{Estimate, Experiment, Observer};
use crate::observation::{Data, Ended, FatAreaCell, FatAreaData, Observations, Order, Times};

/// Rounds: an ordinary block that pays merges in 70 % of the rounds stays without one in six with probability 0.0007.
const ROUNDS: u32 = 7;
/// Writes of the baseline: enough for a median.
const BASELINE: u32 = 8;
/// How many of the first erase blocks are looked at unless told otherwise. No FAT area beyond 16 MiB was ever seen.
const FIRST_UNITS: u32 = 8;
/// Ordinary blocks written beside them if the number of open units is not known.
const FAR_UNITS: u32 = 24;

/// The experiment *fat-area*.
#[derive(Debug, Clone, Copy)]
pub struct FatArea {
    /// The erase block.
    pub erase_block: Bytes,
    /// The size of each write: at least the effective page, at most a sixteenth of the erase block.
    pub request: Bytes,
    /// How many of the first erase blocks to look at.
    pub first_units: u32,
    /// How many ordinary blocks to write beside them, more than the controller keeps open.
    pub far_units: u32,
    /// The seed of data and order.
    pub seed: u64,
}

impl FatArea {
    /// The experiment for an erase block, the page and the number of open units, as far as known.
    #[must_use]
    pub fn new(erase_block: Bytes, page: Option<Bytes>, open_units: Option<u32>, seed: u64) -> Self {
        let request =
            page.unwrap_or(Bytes::kib(32)).min(erase_block / 16).max(Bytes::kib(4)).round_down(Bytes::kib(4));
        let far_units = open_units.map_or(FAR_UNITS, |open| (open * 2 + 2).max(FAR_UNITS));
        Self { erase_block, request, first_units: FIRST_UNITS, far_units, seed }
    }

    fn unit_numbers(self, device: &dyn Device) -> Vec<u32> {
        let count = device.capabilities().capacity / self.erase_block.max(Bytes::new(1));
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let first = self.first_units.min(count / 4);
        let stride = ((count - first) / self.far_units.max(1)).max(1);
        let far = (0..self.far_units).map(|index| first + index * stride).filter(|unit| *unit < count);
        (0..first).chain(far).collect()
    }
}

impl Experiment for FatArea {
    fn name(&self) -> &'static str {
        "fat-area"
    }

    fn estimate(&self, device: &dyn Device) -> Estimate {
        let requests = self.unit_numbers(device).len() as u64 * u64::from(ROUNDS) + u64::from(BASELINE) + 1;
        Estimate { requests, bytes_written: self.request * requests }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let mut data = FatAreaData { erase_block: self.erase_block, baseline: None, cells: Vec::new() };
        let mut units = Units::new(device, self.erase_block, 2);
        if let Some(reason) = why_not(device, &units) {
            let conditions = conditions(device, self.seed);
            return Observations {
                data: Data::FatArea(data),
                conditions,
                ended: Ended::NotStarted { reason },
            };
        }
        let estimate = self.estimate(device);
        let numbers = self.unit_numbers(device);
        let mut session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let mut times = vec![Vec::new(); numbers.len()];
        let result = self
            .write_baseline(&mut session, &mut units)
            .map(|baseline| data.baseline = Some(baseline))
            .and_then(|()| self.write_rounds(&mut session, &numbers, &mut times));
        data.cells = numbers.iter().zip(times).map(|(unit, times)| self.cell(*unit, times)).collect();
        let (conditions, ended) = session.end(result);
        Observations { data: Data::FatArea(data), conditions, ended }
    }
}

impl FatArea {
    fn cell(&self, unit: u32, times: Vec<Duration>) -> FatAreaCell {
        // The first round opens blocks and closes those that earlier experiments left open: it says nothing.
        let times = Times::Each(times.into_iter().skip(1).collect());
        FatAreaCell { unit, order: Order::Random, request: self.request, times }
    }

    /// Writes one block from its start; the first write, which may close another block, does not count.
    fn write_baseline(&self, session: &mut Session<'_>, units: &mut Units) -> Result<Times, Stop> {
        let mut pool = Pool::new(self.erase_block, self.request, Order::Linear);
        let mut times = Vec::new();
        for _ in 0..=BASELINE {
            pool.round(session, units, 1, &mut times)?;
        }
        Ok(Times::Each(times.split_off(1.min(times.len()))))
    }

    fn write_rounds(
        &self,
        session: &mut Session<'_>,
        numbers: &[u32],
        times: &mut [Vec<Duration>],
    ) -> Result<(), Stop> {
        let places = self.erase_block / self.request.max(Bytes::new(1));
        for _ in 0..ROUNDS {
            for (unit, times) in numbers.iter().zip(times.iter_mut()) {
                let place = session.draw(places);
                let offset = self.erase_block * u64::from(*unit) + self.request * place;
                times.extend(session.write(range(offset, self.request))?);
            }
        }
        Ok(())
    }
}
