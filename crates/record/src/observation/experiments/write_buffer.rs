//! Small sequential writes after pauses.

use std::time::Duration;

use flashscope_device::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding_id::FindingId;
use crate::limits::{Checked, block, each, time};
use crate::observation::experiment_data::ExperimentData;

/// Bursts of small writes, each after a pause.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WriteBufferData {
    /// The size of each write.
    pub request: Bytes,
    /// As measured.
    pub bursts: Vec<Burst>,
}

/// A pause, and the sequential writes after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Burst {
    /// The length of the pause.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub pause: Duration,
    /// The latency of each write, in order.
    #[serde(with = "crate::duration_ns::list")]
    #[schemars(with = "Vec<u64>")]
    pub each: Vec<Duration>,
}

impl ExperimentData for WriteBufferData {
    fn check(&self) -> Checked {
        block("request", self.request)?;
        each("bursts", &self.bursts, |burst| {
            time("pause", burst.pause)?;
            each("each", &burst.each, |latency| time("", *latency))
        })
    }

    fn records(&self) -> usize {
        self.bursts.len()
    }

    fn findings(&self) -> &'static [FindingId] {
        &[FindingId::WriteBufferBytes]
    }

    fn latencies(&self) -> Vec<Duration> {
        self.bursts.iter().flat_map(|burst| &burst.each).copied().collect()
    }
}
