//! The measured figures behind words and charts: typical times and speeds, by what was written how.

use std::collections::BTreeMap;
use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_record::observation::{AlignSample, Data, OpenUnitsCell, Order, Times};
use flashscope_record::run_file::RunFile;

use crate::Report;
use crate::rate::Rate;

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
    /// Times of settled writes within the limit, by order, open units and size, until their medians are taken.
    unmerged: BTreeMap<(Order, u32, Bytes), Vec<Duration>>,
}

impl Figures {
    /// The figures of a run. The findings say which numbers of open units need no merge.
    pub fn of(report: &Report<'_>) -> Self {
        let mut figures = Self::default();
        for observations in &report.run.observations {
            figures.take(&observations.data, report);
        }
        figures.take_medians();
        figures
    }

    /// Settled writes within the limit are kept until all cells are seen: a median of all is not made of medians.
    fn take_open_units(&mut self, cell: &OpenUnitsCell, report: &Report<'_>) {
        let limit = report.open_units(cell.order);
        match &cell.times {
            Times::Each(each) if limit.is_some_and(|limit| cell.open_units <= limit) => {
                let kept = self.unmerged.entry((cell.order, cell.open_units, cell.request)).or_default();
                kept.extend(settled(each, cell.open_units));
            }
            _ => {
                let rates = self.open_units.entry((cell.order, cell.open_units)).or_default();
                pool(rates, settled_rate(cell, limit));
            }
        }
    }

    fn take_medians(&mut self) {
        for ((order, open_units, request), each) in std::mem::take(&mut self.unmerged) {
            pool(self.open_units.entry((order, open_units)).or_default(), Rate::median(request, &each));
        }
    }

    /// Whether no write was timed.
    pub fn is_empty(&self) -> bool {
        self.open_units.is_empty() && self.write_size.is_empty() && self.fat_area.is_empty()
    }

    fn take(&mut self, data: &Data, report: &Report<'_>) {
        match data {
            Data::OpenUnits(data) => data.cells.iter().for_each(|cell| self.take_open_units(cell, report)),
            Data::WriteSize(data) => {
                for cell in &data.cells {
                    // The median leaves out the merges of blocks that the rung before left open.
                    let rate = match &cell.times {
                        Times::Each(each) => Rate::median(cell.request, each),
                        mean @ Times::Mean { .. } => Rate::of(cell.request, mean),
                    };
                    pool(self.write_size.entry(cell.order).or_default(), rate);
                }
            }
            Data::FatArea(data) => {
                for cell in &data.cells {
                    let key = (cell.order, cell.unit);
                    pool(self.fat_area.entry(key).or_default(), Rate::of(cell.request, &cell.times));
                }
            }
            _ => {}
        }
    }

    /// The rates of writes that need no merge, each with how many units were open: the most that are at most `limit` first,
    /// then fewer, last one place at a time. Where the limit is not known, only the fewest units that were tried.
    pub fn unhindered(&self, order: Order, limit: Option<u32>) -> Vec<(u32, &BySize)> {
        let fewest = || self.of_order(order).next().map(|(count, _)| count);
        let mut rates = self.in_turn(order, limit.or_else(fewest).unwrap_or(0));
        rates.extend(self.write_size.get(&order).map(|rates| (1, rates)));
        rates
    }

    /// The rates of writes into at most so many open units in turn, the most first.
    pub fn in_turn(&self, order: Order, most: u32) -> Vec<(u32, &BySize)> {
        let mut rates: Vec<(u32, &BySize)> =
            self.of_order(order).take_while(|(count, _)| *count <= most).collect();
        rates.reverse();
        rates
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
///
/// Within the limit a settled write needs no merge, so the median leaves out the merges of blocks that are still being
/// closed. Beyond it merges come at random, and only the mean tells what they cost.
pub fn settled_rate(cell: &OpenUnitsCell, limit: Option<u32>) -> Option<Rate> {
    match &cell.times {
        Times::Each(each) => {
            let settled = settled(each, cell.open_units);
            match limit {
                Some(limit) if cell.open_units <= limit => Rate::median(cell.request, settled),
                _ => Rate::of(cell.request, &Times::Each(settled.to_vec())),
            }
        }
        mean @ Times::Mean { .. } => Rate::of(cell.request, mean),
    }
}

/// The later half of the rounds, a round being one write into each unit, and never less than the last one. The earlier
/// writes also pay for closing the blocks that were open before, whatever the number of units.
fn settled(each: &[Duration], open_units: u32) -> &[Duration] {
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
    fn a_late_merge_within_the_limit_does_not_count_and_one_beyond_it_does() {
        let mut each = vec![Duration::from_millis(4); 12];
        each[10] = Duration::from_millis(204);
        let times = Times::Each(each);
        let cell = OpenUnitsCell::round_robin((Order::Linear, 4, Bytes::kib(64)), times);
        let milliseconds = |limit| settled_rate(&cell, Some(limit)).map(|rate| (rate.seconds * 1e3).round());
        assert_eq!([milliseconds(4), milliseconds(3)], [Some(4.0), Some(54.0)]);
    }
}
