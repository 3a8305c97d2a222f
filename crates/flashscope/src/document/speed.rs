//! The speed of one test: equal requests of one size, order and queue depth.

use flashscope_infer::streams::drift::Drift;
use flashscope_infer::streams::speed::{Latencies, Speed, Unsettled};
use flashscope_record::observation::Order;
use flashscope_record::observation::{Direction, SpeedCase};
use flashscope_report::words;
use schemars::JsonSchema;
use serde::Serialize;

use super::finding::FindingStatus;

/// The result of one test: requests of one direction, order, size and queue depth.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SpeedDocument {
    /// Whether the requests read or write.
    pub direction: DirectionDocument,
    /// The order of the requests.
    pub order: OrderDocument,
    /// The size of each request.
    pub request_bytes: u64,
    /// How many requests were in flight at a time.
    pub queue_depth: u32,
    /// Whether the speed is known. The other fields are there only if it is.
    pub status: FindingStatus,
    /// The speed.
    #[serde(flatten)]
    pub figures: Option<SpeedFigures>,
}

/// Whether requests read or write.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DirectionDocument {
    /// They read.
    Read,
    /// They write.
    Write,
}

/// The order of requests.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderDocument {
    /// Sequential.
    Linear,
    /// Random.
    Random,
}

/// The speed and latency of a test.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SpeedFigures {
    /// The speed, bytes per second.
    pub bytes_per_s: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
    /// The probability that the true speed lies in the interval, from 0 to 0.999.
    pub confidence: f64,
    /// The speed in requests per second (IOPS).
    pub requests_per_s: f64,
    /// How many requests were measured.
    pub requests: usize,
    /// How long they took.
    pub seconds: f64,
    /// How many bytes all write tests had written when it started and when it ended; null for reads.
    pub written_bytes: Option<WrittenDocument>,
    /// A faster or slower start that is not part of the speed; null without one.
    pub startup: Option<StartupDocument>,
    /// The latency of a request, seconds.
    pub latency_s: LatencyDocument,
    /// Why the speed is not the one that lasts; null if it is.
    pub unsettled: Option<UnsettledDocument>,
    /// Why the speed is a cache's and not the device's; null if it is the device's.
    pub cached: Option<String>,
}

/// How many bytes all write tests of the run had written.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WrittenDocument {
    /// When the test started.
    pub from: u64,
    /// When it ended.
    pub to: u64,
}

/// The start of a test, before its speed settled.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StartupDocument {
    /// How many bytes were transferred.
    pub bytes: u64,
    /// The speed, bytes per second.
    pub bytes_per_s: f64,
}

/// Percentiles of the latency, seconds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LatencyDocument {
    /// The shortest.
    pub min: f64,
    /// The median.
    pub p50: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The 99.9th percentile.
    pub p999: f64,
    /// The longest.
    pub max: f64,
}

/// Why a speed is not the one that lasts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum UnsettledDocument {
    /// It was still rising.
    Faster,
    /// It was still falling.
    Slower,
    /// An earlier test exhausted the SLC cache, and this one ended before the controller had emptied it
    /// again.
    #[serde(rename = "behind_cache")]
    AfterExhaustedCache {
        /// The size of the cache.
        cache_bytes: u64,
    },
}

impl SpeedDocument {
    /// The document of a test.
    pub fn new(case: SpeedCase, speed: Option<&Speed>) -> Self {
        Self {
            direction: match case.direction {
                Direction::Read => DirectionDocument::Read,
                Direction::Write => DirectionDocument::Write,
            },
            order: match case.order {
                Order::Linear => OrderDocument::Linear,
                Order::Random => OrderDocument::Random,
            },
            request_bytes: case.request.get(),
            queue_depth: case.queue_depth,
            status: FindingStatus::of(speed),
            figures: speed.map(SpeedFigures::from),
        }
    }
}

impl From<&Speed> for SpeedFigures {
    fn from(speed: &Speed) -> Self {
        Self {
            bytes_per_s: speed.bytes_per_s,
            low: speed.bytes_per_s_low,
            high: speed.bytes_per_s_high,
            confidence: speed.confidence.get(),
            requests_per_s: speed.requests_per_s(),
            requests: speed.requests,
            seconds: speed.seconds,
            written_bytes: speed.written.map(|(from, to)| WrittenDocument { from: from.get(), to: to.get() }),
            startup: speed.startup.map(|startup| StartupDocument {
                bytes: startup.bytes.get(),
                bytes_per_s: startup.bytes_per_s,
            }),
            latency_s: LatencyDocument::from(&speed.latency),
            unsettled: speed.unsettled.map(UnsettledDocument::from),
            cached: speed.cached.as_ref().map(words::cached),
        }
    }
}

impl From<&Latencies> for LatencyDocument {
    fn from(latency: &Latencies) -> Self {
        let &Latencies { min, p50, p90, p99, p999, max } = latency;
        Self { min, p50, p90, p99, p999, max }
    }
}

impl From<Unsettled> for UnsettledDocument {
    fn from(unsettled: Unsettled) -> Self {
        match unsettled {
            Unsettled::Drifts(Drift::Faster) => Self::Faster,
            Unsettled::Drifts(Drift::Slower) => Self::Slower,
            Unsettled::AfterExhaustedCache(cache) => Self::AfterExhaustedCache { cache_bytes: cache.get() },
        }
    }
}
