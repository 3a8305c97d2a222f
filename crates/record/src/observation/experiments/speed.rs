//! Rows of equal requests: the latency and the end of each.

use std::time::Duration;

use flashscope_device::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::align::Contents;
use crate::limits::{Checked, REQUESTS_MAX, block, each, permit, size, time};
use crate::observation::experiment_data::ExperimentData;
use crate::observation::read_back::ReadBack;
use crate::observation::times::Order;

/// Rows of requests, one row per kind.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpeedData {
    /// One per kind of request, as measured.
    pub cells: Vec<SpeedCell>,
    /// The limit of the link, if it is known.
    #[serde(default)]
    pub link: Option<LinkLimit>,
    /// Whether requests went through the page cache, because the filesystem refuses direct I/O.
    #[serde(default)]
    pub is_buffered: bool,
    /// Whether rows of writes continued until they met stalls that come once in several GiB.
    #[serde(default)]
    pub is_thorough: bool,
    /// The contents of the device where it was read, sampled at random offsets.
    #[serde(default)]
    pub contents: Contents,
}

/// The limit of a link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkLimit {
    /// Bytes per second.
    pub bytes_per_s: Bytes,
    /// What it is, e.g. `USB at 480 Mbit/s`.
    pub name: String,
}

/// Reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Reads.
    Read,
    /// Writes.
    Write,
}

impl Direction {
    /// The direction as a word: `read`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// One kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct SpeedCase {
    /// Whether they read or write.
    pub direction: Direction,
    /// Sequential, or at random offsets.
    pub order: Order,
    /// The size of each.
    pub request: Bytes,
    /// The queue depth.
    pub queue_depth: u32,
}

/// The requests of one kind, without failed ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpeedCell {
    /// The kind.
    #[serde(flatten)]
    pub case: SpeedCase,
    /// The latency of each, nanoseconds, in the order of completion.
    pub took_ns: Vec<u64>,
    /// The completion of each, nanoseconds from the submission of the first.
    pub ended_ns: Vec<u64>,
    /// The latency of the final flush; `None` without one.
    #[serde(default)]
    #[serde(with = "crate::duration_ns::option")]
    #[schemars(with = "Option<u64>")]
    pub flush: Option<Duration>,
    /// The result of reading back offsets of this row, after all rows.
    #[serde(default)]
    pub read_back: ReadBack,
}

impl SpeedCell {
    /// No requests of this kind yet.
    #[must_use]
    pub const fn new(case: SpeedCase) -> Self {
        Self {
            case,
            took_ns: Vec::new(),
            ended_ns: Vec::new(),
            flush: None,
            read_back: ReadBack { places: 0, lost: 0 },
        }
    }

    /// Records a request with its latency and its completion.
    pub fn keep(&mut self, took: Duration, ended: Duration) {
        self.took_ns.push(nanoseconds(took));
        self.ended_ns.push(nanoseconds(ended));
    }

    /// The bytes transferred.
    #[must_use]
    pub fn transferred(&self) -> Bytes {
        self.case.request * self.took_ns.len() as u64
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    duration.as_nanos().try_into().unwrap_or(u64::MAX)
}

impl ExperimentData for SpeedData {
    fn check(&self) -> Checked {
        check_link(self.link.as_ref())?;
        each("cells", &self.cells, cell)
    }

    fn records(&self) -> usize {
        self.cells.len()
    }

    fn read_back(&self) -> ReadBack {
        self.cells.iter().map(|cell| cell.read_back).sum()
    }

    fn is_of_speed(&self) -> bool {
        true
    }

    fn latencies(&self) -> Vec<Duration> {
        let latencies_ns = self.cells.iter().flat_map(|cell| &cell.took_ns);
        latencies_ns.map(|nanoseconds| Duration::from_nanos(*nanoseconds)).collect()
    }
}

/// Checks the limit of a link.
pub(super) fn check_link(link: Option<&LinkLimit>) -> Checked {
    size("link.bytes_per_s", link.map_or(Bytes::ZERO, |link| link.bytes_per_s))
}

fn cell(cell: &SpeedCell) -> Checked {
    block("request", cell.case.request)?;
    let (depth, requests) = (cell.case.queue_depth, cell.ended_ns.len());
    permit((1..=REQUESTS_MAX).contains(&depth), "queue_depth", depth, "it must lie between 1 and 2^20")?;
    permit(cell.took_ns.len() == requests, "ended_ns", requests, "it has one for each of took_ns")?;
    let is_sorted = cell.ended_ns.is_sorted();
    permit(is_sorted, "ended_ns", "out of order", "requests are kept in the order in which they ended")?;
    time("flush", cell.flush.unwrap_or_default())?;
    cell.read_back.check()?;
    each("took_ns", &cell.took_ns, |latency| time("", Duration::from_nanos(*latency)))?;
    each("ended_ns", &cell.ended_ns, |ended| time("", Duration::from_nanos(*ended)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The path of the first impossible number in a row of two requests, after this change.
    fn impossible(change: impl FnOnce(&mut SpeedCell)) -> Option<String> {
        let case = SpeedCase {
            direction: Direction::Write,
            order: Order::Linear,
            request: Bytes::kib(4),
            queue_depth: 1,
        };
        let mut cell = SpeedCell::new(case);
        (1..=2).for_each(|second| cell.keep(Duration::from_secs(1), Duration::from_secs(second)));
        change(&mut cell);
        let data = SpeedData { cells: vec![cell], ..SpeedData::default() };
        data.check().err().map(|error| error.path)
    }

    #[test]
    fn every_number_of_a_row_is_checked() {
        assert_eq!(impossible(|_| {}), None);
        assert_eq!(impossible(|cell| cell.case.request = Bytes::ZERO).as_deref(), Some("cells[0].request"));
        for depth in [0, REQUESTS_MAX + 1] {
            let path = impossible(|cell| cell.case.queue_depth = depth);
            assert_eq!(path.as_deref(), Some("cells[0].queue_depth"));
        }
        let ended = Some("cells[0].ended_ns");
        assert_eq!(impossible(|cell| cell.took_ns.push(1)).as_deref(), ended, "one latency more");
        assert_eq!(impossible(|cell| cell.ended_ns.reverse()).as_deref(), ended, "out of order");
        let too_many_lost = impossible(|cell| cell.read_back = ReadBack { places: 1, lost: 2 });
        assert_eq!(too_many_lost.as_deref(), Some("cells[0].lost"));
        let long = Duration::from_nanos(u64::MAX) * 2;
        assert_eq!(impossible(|cell| cell.flush = Some(long)).as_deref(), Some("cells[0].flush"));
    }
}
