//! Times of equal requests, and the order of writes inside an erase block.

use std::time::Duration;

use flashscope_device::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{Checked, block, each, permit, time};

/// The order of writes inside an erase block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Sequential.
    Linear,
    /// Random.
    Random,
}

impl Order {
    /// The order as a word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Random => "random",
        }
    }
}

/// Latencies of equal requests: each one, or their mean in a log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Times {
    /// The latency of each request, in order.
    Each(
        #[serde(with = "crate::duration_ns::list")]
        #[schemars(with = "Vec<u64>")]
        Vec<Duration>,
    ),
    /// The mean of several requests.
    Mean {
        /// Time per request.
        #[serde(with = "crate::duration_ns")]
        #[schemars(with = "u64")]
        per_request: Duration,
        /// The number of requests, if known.
        requests: Option<u64>,
    },
}

impl Times {
    /// The mean time per request, seconds; `None` without requests.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a count of requests is far below 2^53")]
    pub fn mean_seconds(&self) -> Option<f64> {
        match self {
            Self::Each(each) if each.is_empty() => None,
            Self::Each(each) => Some(each.iter().map(Duration::as_secs_f64).sum::<f64>() / each.len() as f64),
            Self::Mean { per_request, .. } => Some(per_request.as_secs_f64()),
        }
    }

    /// The latency of each request, in order; none where single times are not known.
    #[must_use]
    pub fn each(&self) -> &[Duration] {
        match self {
            Self::Each(each) => each,
            Self::Mean { .. } => &[],
        }
    }

    /// Checks these times against their limits.
    pub(crate) fn check(&self) -> Checked {
        match self {
            Self::Each(latencies) => each("each", latencies, |latency| time("", *latency)),
            Self::Mean { per_request, .. } => {
                // A mean of zero would give an infinite speed.
                permit(!per_request.is_zero(), "mean.per_request", "0 s", "it must lie above 0")?;
                time("mean.per_request", *per_request)
            }
        }
    }

    /// Checks these times and the size of their requests.
    pub(crate) fn check_with(&self, request: Bytes) -> Checked {
        block("request", request)?;
        self.check().map_err(|error| error.inside("times"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_request_has_no_mean_time() {
        assert_eq!(Times::Each(Vec::new()).mean_seconds(), None);
        assert_eq!(Times::Each([1, 3].map(Duration::from_secs).to_vec()).mean_seconds(), Some(2.0));
    }
}
