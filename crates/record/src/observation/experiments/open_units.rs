//! Round-robin writes into several erase blocks.

use std::time::Duration;

use flashscope_device::Bytes;
use serde::{Deserialize, Serialize};

use crate::finding::FindingId;
use crate::limits::{Checked, count, each, erase_block, time};
use crate::observation::experiment_data::ExperimentData;
use crate::observation::times::{Order, Times};

/// Writes into several erase blocks in turn.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenUnitsData {
    /// The erase block that was assumed.
    pub erase_block: Bytes,
    /// One per combination that was tried, in that order.
    pub cells: Vec<OpenUnitsCell>,
    /// Linear writes into one unit between the searches: whether the device is still as fast as at the start.
    #[serde(default)]
    pub controls: Vec<Times>,
    /// A search in linear order with requests that pay no merge, whatever the number of units, before the one in `cells` began anew
    /// with smaller ones.
    #[serde(default)]
    pub free: Vec<OpenUnitsCell>,
    /// A search in linear order in which whatever did not go on behind the write before it took longer by little, before the one in
    /// `cells` began anew with two units in turn.
    #[serde(default)]
    pub appended: Vec<OpenUnitsCell>,
    /// A search in linear order whose number was too small, since something else held a place throughout, before the one in `cells` began
    /// anew.
    #[serde(default)]
    pub outgrown: Vec<OpenUnitsCell>,
    /// A search in linear order that ended undecided, before the one in `cells` went on with smaller requests.
    #[serde(default)]
    pub larger: Vec<OpenUnitsCell>,
    /// Whether each of those smaller requests in linear order was led by one over the place before it; the times are those of both.
    #[serde(default)]
    pub led: bool,
    /// The search once more, in linear order and with requests of a page, over data that was written just before.
    #[serde(default)]
    pub rewritten: Vec<OpenUnitsCell>,
    /// Writes out of order into the part of one unit that was written just before.
    #[serde(default)]
    #[serde(with = "crate::duration_ns::list")]
    pub out_of_order: Vec<Duration>,
    /// Groups of pages of one unit, written in order and then once more from the last to the first.
    #[serde(default)]
    pub groups: Vec<Group>,
    /// One unit after the other written from its start, with larger and larger requests, where no number of units was too many.
    #[serde(default)]
    pub one_run: Vec<OpenUnitsCell>,
    /// Pages of one unit written from its end to its start, each apart from the others.
    #[serde(default)]
    #[serde(with = "crate::duration_ns::list")]
    pub scattered: Vec<Duration>,
    /// Units begun out of order where any unit may have to go, each once another that may have been open was written whole: one of these
    /// holds a place no more, so that each finds one until all are taken.
    #[serde(default)]
    pub given_back: Vec<OpenUnitsCell>,
    /// Units that were open in order and then written twice out of order, the quicker one of both writes first; and behind them fresh ones,
    /// begun out of order.
    #[serde(default)]
    pub gone_on: Vec<OpenUnitsCell>,
    /// Units that were begun out of order, outside the search, and behind each one of the search that was begun in order.
    #[serde(default)]
    pub apart: Vec<BegunApart>,
    /// Writes at the starts of units, where no unit was open before the first of each pair.
    #[serde(default)]
    pub beginnings: Vec<Beginnings>,
}

/// As many pages as a log maps at once at most, at a multiple of their size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Behind the group before it.
    #[serde(with = "crate::duration_ns")]
    pub in_order: Duration,
    /// Over that, once the group behind it was written anew.
    #[serde(with = "crate::duration_ns")]
    pub backward: Duration,
}

/// Two units that were written to their ends, or nearly, and are then begun anew one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beginnings {
    /// A write into the first one that has nothing to put aside: its first, or one that goes on behind that.
    #[serde(with = "crate::duration_ns")]
    pub alone: Duration,
    /// The first write into the other, while the first one is unfinished.
    #[serde(with = "crate::duration_ns")]
    pub behind: Duration,
}

/// A unit that was begun out of order, and one that was begun in order behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BegunApart {
    /// The slower one of two writes out of order into a fresh unit.
    #[serde(with = "crate::duration_ns")]
    pub apart: Duration,
    /// The first write at the start of another.
    #[serde(with = "crate::duration_ns")]
    pub in_order: Duration,
}

/// One combination of order, number of units and request size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenUnitsCell {
    /// Order inside each unit.
    pub order: Order,
    /// How many erase blocks were written in turn.
    pub open_units: u32,
    /// The size of each write.
    pub request: Bytes,
    /// Their times.
    pub times: Times,
    /// Into which unit each write went, counted in the order in which this order's units were taken; empty: write i went
    /// to unit i modulo `open_units`.
    #[serde(default)]
    pub units: Vec<u32>,
    /// Units that became full, and took turns no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<PassedOver>,
}

/// A unit that took turns had no place left when its turn came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedOver {
    /// Which unit.
    pub unit: u32,
    /// After how many writes of its cell.
    pub after: usize,
}

impl OpenUnitsCell {
    /// Writes into so many units in turn: write i went to unit i modulo `open_units`, and none became full.
    #[must_use]
    pub const fn in_turn((order, open_units, request): (Order, u32, Bytes), times: Times) -> Self {
        Self { order, open_units, request, times, units: Vec::new(), passed_over: Vec::new() }
    }

    /// Keeps one write, in the last of these cells if it belongs there.
    pub fn keep(
        cells: &mut Vec<Self>,
        (order, open_units, request): (Order, u32, Bytes),
        unit: u32,
        latency: Duration,
    ) {
        let here =
            |cell: &&mut Self| (cell.order, cell.open_units, cell.request) == (order, open_units, request);
        match cells.last_mut().filter(here) {
            Some(Self { times: Times::Each(each), units, .. }) => {
                each.push(latency);
                units.push(unit);
            }
            _ => {
                let times = Times::Each(vec![latency]);
                cells.push(Self { units: vec![unit], ..Self::in_turn((order, open_units, request), times) });
            }
        }
    }

    /// This unit has no place left for the write that comes next in this order.
    pub fn pass_over(cells: &mut [Self], order: Order, unit: u32) {
        if let Some(cell) = cells.iter_mut().rfind(|cell| cell.order == order) {
            cell.passed_over.push(PassedOver { unit, after: cell.units.len() });
        }
    }

    /// Each write that was timed by itself: into which unit, and how long it took.
    pub fn writes(&self) -> impl Iterator<Item = (u32, Duration)> + '_ {
        let each = match &self.times {
            Times::Each(each) => each.as_slice(),
            Times::Mean { .. } => &[],
        };
        let in_turn = |index: usize| u32::try_from(index).unwrap_or(u32::MAX) % self.open_units.max(1);
        each.iter().enumerate().map(move |(index, latency)| {
            (self.units.get(index).copied().unwrap_or_else(|| in_turn(index)), *latency)
        })
    }
}

impl OpenUnitsData {
    /// The searches, in the order in which they were made.
    fn searches(&self) -> impl Iterator<Item = &OpenUnitsCell> {
        let before = self.free.iter().chain(&self.appended).chain(&self.outgrown);
        let of_search = before.chain(&self.larger).chain(&self.cells);
        of_search.chain(&self.given_back).chain(&self.gone_on).chain(&self.one_run)
    }
}

impl ExperimentData for OpenUnitsData {
    fn check(&self) -> Checked {
        erase_block(self.erase_block)?;
        each("cells", &self.cells, cell)?;
        each("controls", &self.controls, Times::check)?;
        each("free", &self.free, cell)?;
        each("appended", &self.appended, cell)?;
        each("apart", &self.apart, |pair| {
            time("apart", pair.apart)?;
            time("in_order", pair.in_order)
        })?;
        each("larger", &self.larger, cell)?;
        each("rewritten", &self.rewritten, cell)?;
        each("out_of_order", &self.out_of_order, |latency| time("", *latency))?;
        each("groups", &self.groups, |group| {
            time("in_order", group.in_order)?;
            time("backward", group.backward)
        })?;
        each("one_run", &self.one_run, cell)?;
        each("outgrown", &self.outgrown, cell)?;
        each("given_back", &self.given_back, cell)?;
        each("gone_on", &self.gone_on, cell)?;
        each("scattered", &self.scattered, |latency| time("", *latency))?;
        each("beginnings", &self.beginnings, |pair| {
            time("alone", pair.alone)?;
            time("behind", pair.behind)
        })
    }

    fn records(&self) -> usize {
        self.cells.len()
    }

    fn findings(&self) -> &'static [FindingId] {
        &[
            FindingId::OpenUnitsLinear,
            FindingId::OpenUnitsRandom,
            FindingId::FtlClass,
            FindingId::MergeSeconds,
        ]
    }

    fn is_write_test(&self) -> bool {
        true
    }

    fn erase_block(&self) -> Option<Bytes> {
        Some(self.erase_block)
    }

    fn latencies(&self) -> Vec<Duration> {
        self.searches().flat_map(|cell| cell.times.each()).copied().collect()
    }
}

fn cell(cell: &OpenUnitsCell) -> Checked {
    count("open_units", cell.open_units, 1)?;
    cell.times.check_with(cell.request)
}
