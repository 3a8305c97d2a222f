//! The write rates of a run, by pattern and request size: the figures behind sentences and charts.

use std::collections::BTreeMap;
use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_record::observation::{AlignSample, Data, OpenUnitsCell, Order, Source, Times};
use flashscope_record::run_file::RunFile;

use crate::Report;
use crate::rate::Rate;

/// Rates by request size.
pub type RatesBySize = BTreeMap<Bytes, Rate>;

/// Every write rate of a run. Equal cells are pooled.
#[derive(Debug, Default)]
pub struct Figures {
    /// Rates of round-robin writes, by order and number of open units.
    pub open_units: BTreeMap<(Order, u32), RatesBySize>,
    /// Rates of single-stream writes, by order.
    pub write_size: BTreeMap<Order, RatesBySize>,
    /// Whether a log has speeds of writes into an unknown number of blocks. No rate is made of them.
    pub has_uncounted: bool,
    /// Rates of writes into single erase blocks, by order and block number from the start of the device.
    pub fat_area: BTreeMap<(Order, u32), RatesBySize>,
    /// Steady-state latencies that need no merge, by order, open units and size; `add_medians` empties it.
    merge_free_times: BTreeMap<(Order, u32, Bytes), Vec<Duration>>,
}

impl Figures {
    /// The figures of a run. The findings give the most open units that need no merge.
    pub fn of(report: &Report<'_>) -> Self {
        let mut figures = Self::default();
        for observations in &report.run.observations {
            let is_log = observations.conditions.source != Source::Measured;
            match &observations.data {
                Data::WriteSize(data) if is_log => figures.has_uncounted |= !data.cells.is_empty(),
                data => figures.add(data, report),
            }
        }
        figures.add_medians();
        figures
    }

    /// Merge-free latencies of all cells are collected first: their median is not a median of medians.
    fn add_open_units(&mut self, cell: &OpenUnitsCell, report: &Report<'_>) {
        let limit = report.open_units(cell.order);
        match &cell.times {
            Times::Each(each) if limit.is_some_and(|limit| cell.open_units <= limit) => {
                let times =
                    self.merge_free_times.entry((cell.order, cell.open_units, cell.request)).or_default();
                times.extend(steady_state(each, cell.open_units));
            }
            _ => {
                let rates = self.open_units.entry((cell.order, cell.open_units)).or_default();
                pool(rates, steady_rate(cell, limit));
            }
        }
    }

    fn add_medians(&mut self) {
        for ((order, open_units, request), each) in std::mem::take(&mut self.merge_free_times) {
            pool(self.open_units.entry((order, open_units)).or_default(), Rate::median(request, &each));
        }
    }

    /// Whether no write was timed.
    pub fn is_empty(&self) -> bool {
        let rates = [self.open_units.is_empty(), self.write_size.is_empty(), self.fat_area.is_empty()];
        rates.into_iter().all(|is_empty| is_empty) && !self.has_uncounted
    }

    fn add(&mut self, data: &Data, report: &Report<'_>) {
        match data {
            Data::Align(_)
            | Data::Sustained(_)
            | Data::WriteBuffer(_)
            | Data::BlockEnds(_)
            | Data::Speed(_)
            | Data::PublishedSpeeds(_)
            | Data::Files(_)
            | Data::Methods(_) => {}
            Data::OpenUnits(data) => data.cells.iter().for_each(|cell| self.add_open_units(cell, report)),
            Data::WriteSize(data) => {
                for cell in &data.cells {
                    // The median excludes merges of blocks that the previous sweep point left open.
                    let rate = match &cell.times {
                        Times::Each(each) => Rate::median(cell.request, each),
                        mean @ Times::Mean { .. } => Rate::mean(cell.request, mean),
                    };
                    pool(self.write_size.entry(cell.order).or_default(), rate);
                }
            }
            Data::FatArea(data) => {
                for cell in &data.cells {
                    let key = (cell.order, cell.unit);
                    pool(self.fat_area.entry(key).or_default(), Rate::mean(cell.request, &cell.times));
                }
            }
            _ => {}
        }
    }

    /// The rates of writes that need no merge, with their numbers of open units: at most `limit`, in
    /// descending order, then the single stream. Without a limit, only the fewest units tried and the single
    /// stream.
    pub fn merge_free(&self, order: Order, limit: Option<u32>) -> Vec<(u32, &RatesBySize)> {
        let fewest = || self.of_order(order).next().map(|(count, _)| count);
        let mut rates = self.round_robin(order, limit.or_else(fewest).unwrap_or(0));
        rates.extend(self.write_size.get(&order).map(|rates| (1, rates)));
        rates
    }

    /// The rates of round-robin writes into at most `most` open units, in descending order of their number.
    pub fn round_robin(&self, order: Order, most: u32) -> Vec<(u32, &RatesBySize)> {
        let mut rates: Vec<(u32, &RatesBySize)> =
            self.of_order(order).take_while(|(count, _)| *count <= most).collect();
        rates.reverse();
        rates
    }

    /// The rates of round-robin writes, in ascending order of open units.
    pub fn of_order(&self, order: Order) -> impl Iterator<Item = (u32, &RatesBySize)> {
        self.open_units.range((order, 0)..=(order, u32::MAX)).map(|((_, count), rates)| (*count, rates))
    }
}

fn pool(rates: &mut RatesBySize, rate: Option<Rate>) {
    if let Some(rate) = rate {
        rates.entry(rate.request).and_modify(|known| *known = known.pooled_with(rate)).or_insert(rate);
    }
}

/// The steady-state rate of a cell; a published mean unchanged.
///
/// Within the limit, steady-state writes need no merge: the median excludes merges of earlier blocks that are
/// still being closed. Beyond it, merges occur at random, and only the mean includes their cost.
pub fn steady_rate(cell: &OpenUnitsCell, limit: Option<u32>) -> Option<Rate> {
    match &cell.times {
        Times::Each(each) => {
            let each = steady_state(each, cell.open_units);
            match limit {
                Some(limit) if cell.open_units <= limit => Rate::median(cell.request, each),
                _ => Rate::mean(cell.request, &Times::Each(each.to_vec())),
            }
        }
        mean @ Times::Mean { .. } => Rate::mean(cell.request, mean),
    }
}

/// The second half of the rounds, at least the last one; a round is one write into each unit. The first half
/// includes merges of blocks that were open before the test.
fn steady_state(each: &[Duration], open_units: u32) -> &[Duration] {
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
    fn steady_state_is_the_second_half_of_the_rounds() {
        let each: Vec<Duration> = (0..6).map(Duration::from_secs).collect();
        let kept = |length: usize, open_units| steady_state(&each[..length], open_units).len();
        assert_eq!(
            [kept(6, 2), kept(6, 3), kept(4, 2), kept(3, 2), kept(2, 2), kept(0, 2)],
            [2, 3, 2, 3, 2, 0]
        );
        assert_eq!(steady_state(&each, 2), &each[4..]);
    }

    #[test]
    fn a_late_merge_is_excluded_within_the_limit_and_included_beyond() {
        let mut each = vec![Duration::from_millis(4); 12];
        each[10] = Duration::from_millis(204);
        let times = Times::Each(each);
        let cell = OpenUnitsCell::round_robin((Order::Linear, 4, Bytes::kib(64)), times);
        let milliseconds = |limit| steady_rate(&cell, Some(limit)).map(|rate| (rate.seconds * 1e3).round());
        assert_eq!([milliseconds(4), milliseconds(3)], [Some(4.0), Some(54.0)]);
    }
}
