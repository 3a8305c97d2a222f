//! Round-robin writes into several erase blocks.

use std::time::Duration;

use flashscope_device::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding_id::FindingId;
use crate::limits::{Checked, count, each, erase_block, time};
use crate::observation::experiment_data::ExperimentData;
use crate::observation::times::{Order, Times};

/// Round-robin writes into several erase blocks.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenUnitsData {
    /// The assumed erase block.
    pub erase_block: Bytes,
    /// One per combination, as measured.
    pub cells: Vec<OpenUnitsCell>,
    /// Sequential writes into one unit between the searches: a control of the device's speed.
    #[serde(default)]
    pub controls: Vec<Times>,
    /// A sequential search in which each write that did not continue its predecessor took a little longer.
    /// The search in `cells` restarted with two units round-robin.
    #[serde(default)]
    pub appended: Vec<OpenUnitsCell>,
    /// A sequential search that ended undecided. The search in `cells` continued with smaller requests.
    #[serde(default)]
    pub larger: Vec<OpenUnitsCell>,
    /// Whether each of those smaller sequential requests had a leading request at the offset before it; the
    /// times are sums of both.
    #[serde(default)]
    pub led: bool,
    /// Whether the test in random order was given up because others wrote to the device meanwhile.
    #[serde(default)]
    pub others_wrote: bool,
    /// The sequential search repeated with requests of a page, over recently written data.
    #[serde(default)]
    pub rewritten: Vec<OpenUnitsCell>,
    /// Random writes into a recently written part of one unit.
    #[serde(default)]
    #[serde(with = "crate::duration_ns::list")]
    #[schemars(with = "Vec<u64>")]
    pub out_of_order: Vec<Duration>,
    /// Groups of pages of one unit, written sequentially, then again from the last to the first.
    #[serde(default)]
    pub groups: Vec<Group>,
    /// Units written from their start, one at a time, with growing requests; only if no number of units was
    /// too large.
    #[serde(default)]
    pub one_run: Vec<OpenUnitsCell>,
    /// Pages of one unit written from its end to its start, none adjacent to another.
    #[serde(default)]
    #[serde(with = "crate::duration_ns::list")]
    #[schemars(with = "Vec<u64>")]
    pub scattered: Vec<Duration>,
    /// Units opened with random writes under random eviction, each after a unit that may have been open was
    /// written completely and so freed its slot.
    #[serde(default, rename = "given_back")]
    pub freed: Vec<OpenUnitsCell>,
    /// Units that were open sequentially and then got two random writes, the faster one first; after them new
    /// units, opened with random writes.
    #[serde(default, rename = "gone_on")]
    pub continued: Vec<OpenUnitsCell>,
    /// Writes at the starts of units; no unit was open before the first of each pair.
    #[serde(default, rename = "beginnings")]
    pub opening_pairs: Vec<OpeningPair>,
}

/// The largest number of pages that a log maps at once, at a multiple of their size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// After the previous group.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub in_order: Duration,
    /// Over it, after the next group was rewritten.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub backward: Duration,
}

/// Two units that were written to their ends, or nearly, and are then opened again, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpeningPair {
    /// A write into the first unit that evicts nothing: its first write, or one that continues it.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub alone: Duration,
    /// The first write into the second unit, while the first one is incomplete.
    #[serde(rename = "behind", with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub second: Duration,
}

/// One combination of order, number of units and request size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenUnitsCell {
    /// Order inside each unit.
    pub order: Order,
    /// The number of erase blocks written round-robin.
    pub open_units: u32,
    /// The size of each write.
    pub request: Bytes,
    /// Their times.
    pub times: Times,
    /// The unit of each write, numbered as the units of this order were taken. Empty: write i went to unit i
    /// modulo `open_units`.
    #[serde(default)]
    pub units: Vec<u32>,
    /// Units that became full and left the round-robin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<PassedOver>,
}

/// A unit that was full when its turn in the round-robin came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PassedOver {
    /// Which unit.
    pub unit: u32,
    /// After how many writes of its cell.
    pub after: usize,
}

impl OpenUnitsCell {
    /// Round-robin writes: write i went to unit i modulo `open_units`, and no unit became full.
    #[must_use]
    pub const fn round_robin((order, open_units, request): (Order, u32, Bytes), times: Times) -> Self {
        Self { order, open_units, request, times, units: Vec::new(), passed_over: Vec::new() }
    }

    /// Records one write, in the last of these cells if it belongs there.
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
                cells.push(Self {
                    units: vec![unit],
                    ..Self::round_robin((order, open_units, request), times)
                });
            }
        }
    }

    /// Records that this unit is full at its turn in this order.
    pub fn pass_over(cells: &mut [Self], order: Order, unit: u32) {
        if let Some(cell) = cells.iter_mut().rfind(|cell| cell.order == order) {
            cell.passed_over.push(PassedOver { unit, after: cell.units.len() });
        }
    }

    /// The unit and the latency of each write with a time of its own.
    pub fn writes(&self) -> impl Iterator<Item = (u32, Duration)> + '_ {
        let each = match &self.times {
            Times::Each(each) => each.as_slice(),
            Times::Mean { .. } => &[],
        };
        let round_robin = |index: usize| u32::try_from(index).unwrap_or(u32::MAX) % self.open_units.max(1);
        each.iter().enumerate().map(move |(index, latency)| {
            (self.units.get(index).copied().unwrap_or_else(|| round_robin(index)), *latency)
        })
    }
}

impl OpenUnitsData {
    /// The searches, as measured.
    fn searches(&self) -> impl Iterator<Item = &OpenUnitsCell> {
        let of_search = self.appended.iter().chain(&self.larger).chain(&self.cells);
        of_search.chain(&self.freed).chain(&self.continued).chain(&self.one_run)
    }
}

impl ExperimentData for OpenUnitsData {
    fn check(&self) -> Checked {
        erase_block(self.erase_block)?;
        each("cells", &self.cells, cell)?;
        each("controls", &self.controls, Times::check)?;
        each("appended", &self.appended, cell)?;
        each("larger", &self.larger, cell)?;
        each("rewritten", &self.rewritten, cell)?;
        each("out_of_order", &self.out_of_order, |latency| time("", *latency))?;
        each("groups", &self.groups, |group| {
            time("in_order", group.in_order)?;
            time("backward", group.backward)
        })?;
        each("one_run", &self.one_run, cell)?;
        each("given_back", &self.freed, cell)?;
        each("gone_on", &self.continued, cell)?;
        each("scattered", &self.scattered, |latency| time("", *latency))?;
        each("beginnings", &self.opening_pairs, |pair| {
            time("alone", pair.alone)?;
            time("behind", pair.second)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_of_writes_is_checked() {
        let none = || OpenUnitsCell::round_robin((Order::Linear, 0, Bytes::kib(4)), Times::Each(Vec::new()));
        type Cells = fn(&mut OpenUnitsData) -> &mut Vec<OpenUnitsCell>;
        let lists: [(&str, Cells); 7] = [
            ("cells", |data| &mut data.cells),
            ("appended", |data| &mut data.appended),
            ("larger", |data| &mut data.larger),
            ("rewritten", |data| &mut data.rewritten),
            ("one_run", |data| &mut data.one_run),
            ("given_back", |data| &mut data.freed),
            ("gone_on", |data| &mut data.continued),
        ];
        assert!(OpenUnitsData::default().check().is_ok());
        for (name, list) in lists {
            let mut data = OpenUnitsData::default();
            list(&mut data).push(none());
            let path = data.check().unwrap_err().path;
            assert_eq!(path, format!("{name}[0].open_units"));
        }
    }

    #[test]
    fn equal_writes_in_a_row_are_kept_in_one_cell() {
        let mut cells = Vec::new();
        let mut keep = |order, open_units, kib, unit| {
            let latency = Duration::from_millis(u64::from(unit) + 1);
            OpenUnitsCell::keep(&mut cells, (order, open_units, Bytes::kib(kib)), unit, latency);
        };
        keep(Order::Linear, 2, 4, 0);
        keep(Order::Linear, 2, 4, 1);
        keep(Order::Random, 2, 4, 0);
        keep(Order::Random, 3, 4, 2);
        keep(Order::Random, 3, 8, 1);
        let units: Vec<&[u32]> = cells.iter().map(|cell| cell.units.as_slice()).collect();
        assert_eq!(units, [&[0, 1][..], &[0], &[2], &[1]]);
        let first: Vec<(u32, Duration)> = cells[0].writes().collect();
        assert_eq!(first, [(0, Duration::from_millis(1)), (1, Duration::from_millis(2))]);
    }
}
