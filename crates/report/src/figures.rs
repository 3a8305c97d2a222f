//! The measured figures behind words and charts: mean times and speeds, by what was written how.

use std::collections::BTreeMap;

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
        let seconds = times.mean_seconds().filter(|mean| mean.is_finite() && *mean > 0.0)?;
        let requests = match times {
            Times::Each(each) => Some(each.len() as u64),
            Times::Mean { requests, .. } => *requests,
        };
        Some(Self { request, seconds, seconds_low: seconds, seconds_high: seconds, cells: 1, requests })
    }

    fn and(self, other: Self) -> Self {
        let cells = self.cells.saturating_add(other.cells);
        let sum = self.seconds * f64::from(self.cells) + other.seconds * f64::from(other.cells);
        Self {
            seconds: sum / f64::from(cells),
            seconds_low: self.seconds_low.min(other.seconds_low),
            seconds_high: self.seconds_high.max(other.seconds_high),
            cells,
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

    fn take(&mut self, data: &Data) {
        match data {
            Data::Align(_) => {}
            Data::OpenUnits(data) => {
                for cell in &data.cells {
                    let key = (cell.order, cell.open_units);
                    pool(self.open_units.entry(key).or_default(), cell.request, &cell.times);
                }
            }
            Data::WriteSize(data) => {
                for cell in &data.cells {
                    pool(self.write_size.entry(cell.order).or_default(), cell.request, &cell.times);
                }
            }
            Data::FatArea(data) => {
                for cell in &data.cells {
                    let key = (cell.order, cell.unit);
                    pool(self.fat_area.entry(key).or_default(), cell.request, &cell.times);
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

fn pool(rates: &mut BySize, request: Bytes, times: &Times) {
    if let Some(rate) = Rate::of(request, times) {
        rates.entry(request).and_modify(|known| *known = known.and(rate)).or_insert(rate);
    }
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
