//! Writes on both sides of offsets where erase blocks may end.

use std::time::Duration;

use flashscope_device::Bytes;
use serde::{Deserialize, Serialize};

use crate::finding::FindingId;
use crate::limits::{Checked, block, each, size, time};
use crate::observation::experiment_data::ExperimentData;

/// Writes on both sides of places where erase blocks may end.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockEndsData {
    /// The size of the writes that are timed.
    pub request: Bytes,
    /// The page, if it was known.
    pub page: Option<Bytes>,
    /// What took the controller's places before, in the order in which they were opened.
    pub openings: Vec<Opening>,
    /// What was tried then.
    pub crossings: Vec<Crossing>,
}

/// Two writes into an erase block of its own, of which the first opened it, each with a flush behind it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    /// Where it lies.
    pub offset: Bytes,
    /// The write that opened it.
    #[serde(with = "crate::duration_ns")]
    pub first: Duration,
    /// The write behind that one.
    #[serde(with = "crate::duration_ns")]
    pub second: Duration,
}

/// Two writes one behind the other, each with a flush behind it, into a place that was opened just before.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Crossing {
    /// Where the first ends and the second begins.
    pub offset: Bytes,
    /// The write that ends there.
    #[serde(with = "crate::duration_ns")]
    pub before: Duration,
    /// The write that begins there.
    #[serde(with = "crate::duration_ns")]
    pub after: Duration,
}

impl Crossing {
    /// Both writes together.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.before + self.after
    }
}

impl ExperimentData for BlockEndsData {
    fn check(&self) -> Checked {
        block("request", self.request)?;
        size("page", self.page.unwrap_or_default())?;
        each("openings", &self.openings, |opening| {
            size("offset", opening.offset)?;
            time("first", opening.first)?;
            time("second", opening.second)
        })?;
        each("crossings", &self.crossings, |crossing| {
            size("offset", crossing.offset)?;
            time("before", crossing.before)?;
            time("after", crossing.after)
        })
    }

    fn records(&self) -> usize {
        self.openings.len()
    }

    fn findings(&self) -> &'static [FindingId] {
        &[FindingId::EraseBlockBytes]
    }

    fn is_write_test(&self) -> bool {
        true
    }

    fn latencies(&self) -> Vec<Duration> {
        self.openings.iter().flat_map(|opening| [opening.first, opening.second]).collect()
    }

    /// The second write into each block.
    fn equal_latencies_s(&self) -> Vec<f64> {
        self.openings.iter().map(|opening| opening.second.as_secs_f64()).collect()
    }
}
