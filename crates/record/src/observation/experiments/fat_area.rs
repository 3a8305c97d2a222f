//! Identical writes in each of the first erase blocks.

use std::time::Duration;

use flashscope_device::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding_id::FindingId;
use crate::limits::{Checked, count, each, erase_block, time};
use crate::observation::experiment_data::ExperimentData;
use crate::observation::times::{Order, Times};

/// Identical writes in each of the first erase blocks.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FatAreaData {
    /// The assumed erase block.
    pub erase_block: Bytes,
    /// The merges that the search for open units found; `None` in a published table.
    #[serde(default)]
    pub merges: Option<Merges>,
    /// Blocks opened one after the other; one more than can be open.
    #[serde(default, rename = "begun")]
    pub opened: Vec<OpenedBlock>,
    /// Writes at the start of each of the first blocks, by block, each while another block is incomplete.
    /// Only for controllers that take one sequential run.
    #[serde(default, rename = "beginnings", with = "crate::duration_ns::lists")]
    #[schemars(with = "Vec<Vec<u64>>")]
    pub start_writes: Vec<Vec<Duration>>,
    /// Sequential writes of the same size into one ordinary erase block alone: the time without a merge.
    #[serde(default)]
    pub baseline: Option<Times>,
    /// The same at the end: a control of the device's speed.
    #[serde(default)]
    pub control: Option<Times>,
    /// One per unit and request size.
    pub cells: Vec<FatAreaCell>,
}

/// An erase block that was not open before this write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenedBlock {
    /// Its number among the first blocks, from the start of the device; `None`: an ordinary block.
    pub unit: Option<u32>,
    /// The latency of the write.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub time: Duration,
}

/// The merges that were found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Merges {
    /// The probability that with one block too many every switch merges, rather than some.
    pub every_switch: f64,
    /// The time of a merge beyond the write.
    #[serde(default, with = "crate::duration_ns::option")]
    #[schemars(with = "Option<u64>")]
    pub takes: Option<Duration>,
    /// Whether the controller takes one sequential run only.
    pub is_one_run: bool,
    /// The number of erase blocks of which at least one is not open.
    #[serde(default)]
    pub too_many: Option<u32>,
}

/// The writes of one size into one unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FatAreaCell {
    /// The unit, counted from the start of the device.
    pub unit: u32,
    /// Order inside the unit.
    pub order: Order,
    /// Size of each write.
    pub request: Bytes,
    /// Their times, in order.
    pub times: Times,
}

impl ExperimentData for FatAreaData {
    fn check(&self) -> Checked {
        erase_block(self.erase_block)?;
        self.baseline.as_ref().map_or(Ok(()), Times::check).map_err(|error| error.inside("baseline"))?;
        self.control.as_ref().map_or(Ok(()), Times::check).map_err(|error| error.inside("control"))?;
        let takes = self.merges.and_then(|merges| merges.takes);
        takes.map_or(Ok(()), |takes| time("merges.takes", takes))?;
        each("begun", &self.opened, |block| {
            count("unit", block.unit.unwrap_or(0), 0)?;
            time("time", block.time)
        })?;
        each("beginnings", &self.start_writes, |block| each("", block, |latency| time("", *latency)))?;
        each("cells", &self.cells, |cell| {
            count("unit", cell.unit, 0)?;
            cell.times.check_with(cell.request)
        })
    }

    fn records(&self) -> usize {
        self.cells.len() + usize::from(self.baseline.is_some())
    }

    fn findings(&self) -> &'static [FindingId] {
        &[FindingId::FatAreaBytes]
    }

    fn is_write_test(&self) -> bool {
        true
    }

    fn erase_block(&self) -> Option<Bytes> {
        Some(self.erase_block)
    }

    fn latencies(&self) -> Vec<Duration> {
        let opened = self.opened.iter().map(|block| block.time);
        self.cells.iter().flat_map(|cell| cell.times.each()).copied().chain(opened).collect()
    }
}
