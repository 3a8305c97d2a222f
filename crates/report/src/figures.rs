//! The measured figures behind words and charts: mean times and speeds, by what was written how.

use std::collections::BTreeMap;
use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_probe::RunFile;
use flashscope_probe::observation::{AlignSample, Data, OpenUnitsCell, Order, Times};

use crate::quantity;

/// The mean time of equal requests over every cell that measured them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// The size of each request.
    pub request: Bytes,
    /// Mean time per request, seconds; finite and above zero.
    pub seconds: f64,
    /// The fastest cell's mean, seconds.
    pub seconds_low: f64,
    /// The slowest cell's mean, seconds.
    pub seconds_high: f64,
    /// How many cells measured it.
    pub cells: u32,
    /// How many requests, if every cell says so.
    pub requests: Option<u64>,
}

impl Rate {
    fn of(request: Bytes, times: &Times) -> Option<Self> {
        match times {
            Times::Each(each) => Self::of_each(request, each),
            Times::Mean { per_request, requests } => {
                Self::of_mean(request, per_request.as_secs_f64(), *requests)
            }
        }
    }

    fn of_each(request: Bytes, each: &[Duration]) -> Option<Self> {
        let sum: f64 = each.iter().map(Duration::as_secs_f64).sum();
        Self::of_mean(request, sum / each.len() as f64, Some(each.len() as u64))
    }

    fn of_mean(request: Bytes, seconds: f64, requests: Option<u64>) -> Option<Self> {
        let rate = Self { request, seconds, seconds_low: seconds, seconds_high: seconds, cells: 1, requests };
        (seconds.is_finite() && seconds > 0.0).then_some(rate)
    }

    /// Both together, weighted by the number of requests where it is known.
    fn and(self, other: Self) -> Self {
        let weight =
            |rate: &Self| rate.requests.map_or(f64::from(rate.cells), |requests| requests.max(1) as f64);
        let (ours, theirs) = (weight(&self), weight(&other));
        Self {
            seconds: (self.seconds * ours + other.seconds * theirs) / (ours + theirs),
            seconds_low: self.seconds_low.min(other.seconds_low),
            seconds_high: self.seconds_high.max(other.seconds_high),
            cells: self.cells.saturating_add(other.cells),
            requests: self.requests.zip(other.requests).map(|(ours, theirs)| ours.saturating_add(theirs)),
            ..self
        }
    }

    /// Bytes per second.
    pub fn speed(&self) -> f64 {
        self.request.as_f64() / self.seconds
    }

    /// What the figure rests on: `mean of 128 writes`.
    pub fn basis(&self) -> String {
        self.requests.map_or_else(
            || "a published mean".to_owned(),
            |requests| format!("mean of {}", quantity::counted(requests, "write")),
        )
    }
}

/// Rates by request size.
pub type BySize = BTreeMap<Bytes, Rate>;

/// Every write rate of a run. Cells that measured the same are pooled.
#[derive(Debug, Default)]
pub struct Figures {
    /// By order and number of open units.
    pub open_units: BTreeMap<(Order, u32), BySize>,
    /// By order, one place at a time.
    pub write_size: BTreeMap<Order, BySize>,
    /// By order and unit, counted from the start of the device.
    pub fat_area: BTreeMap<(Order, u32), BySize>,
}

impl Figures {
    /// The figures of a run.
    pub fn of(run: &RunFile) -> Self {
        let mut figures = Self::default();
        for observations in &run.observations {
            figures.take(&observations.data);
        }
        figures
    }

    /// Whether no write was timed.
    pub fn is_empty(&self) -> bool {
        self.open_units.is_empty() && self.write_size.is_empty() && self.fat_area.is_empty()
    }

    fn take(&mut self, data: &Data) {
        match data {
            Data::Align(_) => {}
            Data::OpenUnits(data) => {
                for cell in &data.cells {
                    let key = (cell.order, cell.open_units);
                    pool(self.open_units.entry(key).or_default(), settled_rate(cell));
                }
            }
            Data::WriteSize(data) => {
                for cell in &data.cells {
                    pool(self.write_size.entry(cell.order).or_default(), Rate::of(cell.request, &cell.times));
                }
            }
            Data::FatArea(data) => {
                for cell in &data.cells {
                    let key = (cell.order, cell.unit);
                    pool(self.fat_area.entry(key).or_default(), Rate::of(cell.request, &cell.times));
                }
            }
        }
    }

    /// The rates of writes that need no merge, each with how many units were open: the most that are at most `limit` first,
    /// then fewer, last one place at a time. Where the limit is not known, only the fewest units that were tried.
    pub fn unhindered(&self, order: Order, limit: Option<u32>) -> Vec<(u32, &BySize)> {
        let tried: Vec<(u32, &BySize)> = self.of_order(order).collect();
        let most = limit.or_else(|| tried.first().map(|(count, _)| *count)).unwrap_or(0);
        let within = tried.into_iter().rev().filter(|(count, _)| *count <= most);
        within.chain(self.write_size.get(&order).map(|rates| (1, rates))).collect()
    }

    /// The rates by number of open units, the fewest first.
    pub fn of_order(&self, order: Order) -> impl Iterator<Item = (u32, &BySize)> {
        self.open_units.range((order, 0)..=(order, u32::MAX)).map(|((_, count), rates)| (*count, rates))
    }
}

fn pool(rates: &mut BySize, rate: Option<Rate>) {
    if let Some(rate) = rate {
        rates.entry(rate.request).and_modify(|known| *known = known.and(rate)).or_insert(rate);
    }
}

/// The rate of a cell once it has settled; a published mean as it is.
fn settled_rate(cell: &OpenUnitsCell) -> Option<Rate> {
    match &cell.times {
        Times::Each(each) => Rate::of_each(cell.request, settled(each, cell.open_units)),
        mean @ Times::Mean { .. } => Rate::of(cell.request, mean),
    }
}

/// The later half of the rounds, a round being one write into each unit, and never less than the last one. The earlier
/// writes also pay for closing the blocks that were open before, whatever the number of units.
pub fn settled(each: &[Duration], open_units: u32) -> &[Duration] {
    let round = (open_units as usize).max(1);
    let rounds = each.len() / round;
    let skipped = rounds.div_ceil(2).min(rounds.saturating_sub(1));
    &each[skipped * round..]
}

/// Every boundary sample of a run.
pub fn align_samples(run: &RunFile) -> impl Iterator<Item = &AlignSample> {
    run.observations.iter().flat_map(|observations| match &observations.data {
        Data::Align(data) => data.samples.as_slice(),
        _ => &[],
    })
}

/// Every open-units cell of a run.
pub fn open_units_cells(run: &RunFile) -> impl Iterator<Item = &OpenUnitsCell> {
    run.observations.iter().flat_map(|observations| match &observations.data {
        Data::OpenUnits(data) => data.cells.as_slice(),
        _ => &[],
    })
}

/// The value below which the fraction `part` of `sorted` lies, interpolated; `None` if it is empty.
pub fn quantile(sorted: &[f64], part: f64) -> Option<f64> {
    let position = part * (sorted.len().checked_sub(1)?) as f64;
    let (below, above) = (position.floor() as usize, position.ceil() as usize);
    Some(sorted[below] + (sorted[above] - sorted[below]) * position.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rounds_that_close_other_blocks_are_left_out() {
        let each: Vec<Duration> = (0..6).map(Duration::from_secs).collect();
        let left = |length: usize, open_units| settled(&each[..length], open_units).len();
        assert_eq!(
            [left(6, 2), left(6, 3), left(4, 2), left(3, 2), left(2, 2), left(0, 2)],
            [2, 3, 2, 3, 2, 0]
        );
        assert_eq!(settled(&each, 2), &each[4..]);
    }

    #[test]
    fn pooled_means_are_weighted_by_their_requests() {
        let rate = |seconds, requests| Rate::of_mean(Bytes::kib(4), seconds, requests).unwrap();
        assert!((rate(1.0, Some(3)).and(rate(5.0, Some(1))).seconds - 2.0).abs() < 1e-9);
        assert!((rate(1.0, None).and(rate(5.0, None)).seconds - 3.0).abs() < 1e-9);
    }
}
