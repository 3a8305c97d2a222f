//! Writes of every request size.

use std::time::Duration;

use flashscope_device::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding_id::FindingId;
use crate::limits::{Checked, block, each, erase_block, size, time};
use crate::observation::experiment_data::ExperimentData;
use crate::observation::times::{Order, Times};

/// Sequential writes of every size.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WriteSizeData {
    /// The assumed erase block, if one was known.
    pub erase_block: Option<Bytes>,
    /// Small writes across offsets where a page may end.
    #[serde(default)]
    pub edges: Vec<PageEdge>,
    /// Whether a flush followed each of those and counts to its time, because the device buffers writes.
    #[serde(default)]
    pub edges_flushed: bool,
    /// One per size and order, as measured; a size may occur again.
    pub cells: Vec<WriteSizeCell>,
    /// Writes of one of those sizes again, at the end: a control of the device's speed.
    #[serde(default)]
    pub control: Option<WriteSizeCell>,
}

/// Three small sequential writes of one size; the second crosses an offset where a page may end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PageEdge {
    /// The offset in the middle of the second write.
    pub edge: Bytes,
    /// The size of each write.
    pub write: Bytes,
    /// The write before it.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub before: Duration,
    /// The write across it.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub across: Duration,
    /// The write after it.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub after: Duration,
}

/// The writes of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WriteSizeCell {
    /// Order of the writes.
    pub order: Order,
    /// Size of each write.
    pub request: Bytes,
    /// The start of the first write, from a multiple of the erase block; the others follow without a gap.
    /// `None` if it is not known.
    #[serde(default)]
    pub start: Option<Bytes>,
    /// Their times, in order.
    pub times: Times,
}

impl ExperimentData for WriteSizeData {
    fn check(&self) -> Checked {
        erase_block(self.erase_block.unwrap_or_default())?;
        each("edges", &self.edges, edge)?;
        each("cells", &self.cells, |cell| cell.times.check_with(cell.request))?;
        each("control", self.control.as_slice(), |cell| cell.times.check_with(cell.request))
    }

    fn records(&self) -> usize {
        self.edges.len() + self.cells.len()
    }

    fn findings(&self) -> &'static [FindingId] {
        &[FindingId::PageBytes, FindingId::WriteUnitBytes]
    }

    fn is_write_test(&self) -> bool {
        true
    }

    fn erase_block(&self) -> Option<Bytes> {
        self.erase_block
    }

    fn latencies(&self) -> Vec<Duration> {
        self.cells.iter().flat_map(|cell| cell.times.each()).copied().collect()
    }

    /// The small writes before page boundaries.
    fn equal_latencies_s(&self) -> Vec<f64> {
        let write = self.edges.first().map(|edge| edge.write);
        let equal = self.edges.iter().filter(|edge| Some(edge.write) == write);
        equal.map(|edge| edge.before.as_secs_f64()).collect()
    }
}

fn edge(edge: &PageEdge) -> Checked {
    size("edge", edge.edge)?;
    block("write", edge.write)?;
    time("before", edge.before)?;
    time("across", edge.across)?;
    time("after", edge.after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_latencies_are_those_of_the_first_size_before_the_boundary() {
        let edge = |kib, milliseconds| {
            let before = Duration::from_millis(milliseconds);
            let (edge, write) = (Bytes::mib(1), Bytes::kib(kib));
            PageEdge { edge, write, before, across: before * 2, after: before * 3 }
        };
        let edges = vec![edge(1, 500), edge(1, 250), edge(2, 1000), edge(1, 125)];
        let data = WriteSizeData { edges, ..WriteSizeData::default() };
        assert_eq!(data.equal_latencies_s(), [0.5, 0.25, 0.125]);
    }
}
