//! Speeds that another program measured, as it printed them.

use flashscope_device::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::speed::Direction;
use crate::limits::{Checked, REQUESTS_MAX, block, each, permit};
use crate::observation::experiment_data::ExperimentData;
use crate::observation::read_back::ReadBack;
use crate::observation::times::Order;

/// Speeds that another program measured. They show nothing of how a device is built.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedSpeedsData {
    /// One row for each kind of request, in the order of the output.
    pub rows: Vec<PublishedSpeed>,
    /// What the program read back of the data that it wrote, in sectors, if it did.
    #[serde(default, skip_serializing_if = "ReadBack::is_empty")]
    pub read_back: ReadBack,
}

/// One kind of request and its speed. What the output does not state is `None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedSpeed {
    /// The row's name in the output; empty without one.
    pub name: String,
    /// Whether they read or write.
    pub direction: Direction,
    /// Sequential, or at random offsets.
    pub order: Option<Order>,
    /// The size of each.
    pub request: Option<Bytes>,
    /// The queue depth of each thread.
    pub queue_depth: Option<u32>,
    /// The number of threads or processes.
    pub threads: Option<u32>,
    /// Whether the requests bypassed the page cache.
    pub is_direct: Option<bool>,
    /// The throughput, bytes per second.
    pub bytes_per_s: f64,
    /// Requests per second.
    pub requests_per_s: Option<f64>,
}

impl PublishedSpeed {
    /// A speed of which nothing else is stated.
    #[must_use]
    pub const fn new(direction: Direction, bytes_per_s: f64) -> Self {
        Self {
            name: String::new(),
            direction,
            order: None,
            request: None,
            queue_depth: None,
            threads: None,
            is_direct: None,
            bytes_per_s,
            requests_per_s: None,
        }
    }

    /// Whether its speeds are possible: above 0, up to 10^15 a second.
    #[must_use]
    pub fn is_possible(&self) -> bool {
        is_possible(self.bytes_per_s) && self.requests_per_s.is_none_or(is_possible)
    }
}

/// The largest speed, bytes per second: far above any memory.
const SPEED_MAX: f64 = 1e15;

impl ExperimentData for PublishedSpeedsData {
    fn check(&self) -> Checked {
        self.read_back.check()?;
        each("rows", &self.rows, |row| {
            row.request.map_or(Ok(()), |request| block("request", request))?;
            let counts = [("queue_depth", row.queue_depth), ("threads", row.threads)];
            for (name, count) in counts.into_iter().filter_map(|(name, count)| Some((name, count?))) {
                permit((1..=REQUESTS_MAX).contains(&count), name, count, "it must lie between 1 and 2^20")?;
            }
            speed("bytes_per_s", row.bytes_per_s)?;
            row.requests_per_s.map_or(Ok(()), |rate| speed("requests_per_s", rate))
        })
    }

    fn records(&self) -> usize {
        self.rows.len()
    }

    fn read_back(&self) -> ReadBack {
        self.read_back
    }

    fn is_of_speed(&self) -> bool {
        true
    }

    fn has_random_choices(&self) -> bool {
        false
    }
}

fn is_possible(speed: f64) -> bool {
    speed > 0.0 && speed <= SPEED_MAX
}

fn speed(name: &str, speed: f64) -> Checked {
    permit(is_possible(speed), name, speed, "speeds lie above 0, up to 10^15 a second")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_lie_above_0_and_may_reach_the_largest() {
        let is_allowed = |bytes_per_s, requests_per_s| {
            let row = PublishedSpeed { requests_per_s, ..PublishedSpeed::new(Direction::Read, bytes_per_s) };
            let is_possible = row.is_possible();
            let data = PublishedSpeedsData { rows: vec![row], ..PublishedSpeedsData::default() };
            assert_eq!(data.check().is_ok(), is_possible, "{data:?}");
            is_possible
        };
        for speed in [1e-3, 1e6, 1e15] {
            assert!(is_allowed(speed, None) && is_allowed(1e6, Some(speed)), "{speed}");
        }
        for speed in [0.0, -1.0, 1.1e15, f64::INFINITY, f64::NAN] {
            assert!(!is_allowed(speed, None) && !is_allowed(1e6, Some(speed)), "{speed}");
        }
    }
}
