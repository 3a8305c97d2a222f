//! Writes on both sides of offsets where erase blocks may end.

use std::time::Duration;

use flashscope_device::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding_id::FindingId;
use crate::limits::{Checked, block, each, size, time};
use crate::observation::experiment_data::ExperimentData;

/// Writes on both sides of offsets where erase blocks may end.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockEndsData {
    /// The size of the writes that are timed.
    pub request: Bytes,
    /// The page, if it was known.
    pub page: Option<Bytes>,
    /// The blocks opened before to fill the controller's slots, in that order.
    pub openings: Vec<Opening>,
    /// The pairs of writes that followed.
    pub crossings: Vec<Crossing>,
}

/// Two writes into a new erase block, each followed by a flush. The first opens the block.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Opening {
    /// Its offset.
    pub offset: Bytes,
    /// The write that opened it.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub first: Duration,
    /// The write after it.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub second: Duration,
}

/// Two sequential writes, each followed by a flush, into a block that was opened just before.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Crossing {
    /// The end of the first and the start of the second.
    pub offset: Bytes,
    /// The write that ends there.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub before: Duration,
    /// The write that starts there.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
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
