//! The document of `sim replay`. Times are in nanoseconds.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::body::Body;

/// An I/O trace replayed on a virtual stick, compared with the recording.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SimReplayDocument {
    /// The trace.
    pub trace: TraceDocument,
    /// The virtual stick.
    pub stick: StickDocument,
    /// The recorded result.
    pub recorded: OutcomeDocument,
    /// The replayed result.
    pub replayed: OutcomeDocument,
    /// What happened inside the virtual stick.
    pub inside: StatisticsDocument,
}

/// A trace.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TraceDocument {
    /// Its file.
    pub file: String,
    /// What was traced.
    pub label: String,
    /// How many requests it holds.
    pub requests: usize,
}

/// A virtual stick.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StickDocument {
    /// The name of its profile.
    pub name: String,
    /// Its random seed.
    pub seed: u64,
}

/// How one device handled the requests.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OutcomeDocument {
    /// From the first submission to the last completion.
    pub time_ns: u64,
    /// Bytes read and written by requests that succeeded.
    pub bytes: u64,
    /// Bytes per second; null if no time passed.
    pub bytes_per_s: Option<f64>,
    /// The latencies, by kind of request: `read`, `write`, `flush` or `discard`.
    pub kinds: BTreeMap<String, KindDocument>,
}

/// The latencies of one kind of request.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KindDocument {
    /// How many requests.
    pub requests: usize,
    /// How many of them failed.
    pub failed: u64,
    /// The mean latency.
    pub mean_ns: u64,
    /// The median latency.
    pub p50_ns: u64,
    /// The 90th percentile.
    pub p90_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
    /// The 99.9th percentile.
    pub p999_ns: u64,
    /// The longest latency.
    pub longest_ns: u64,
}

/// The counters of a virtual stick.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StatisticsDocument {
    /// How many commands it received.
    pub commands: u64,
    /// How many merges it did.
    pub merges: u64,
    /// How many erase blocks it erased.
    pub erases: u64,
    /// How many pages it programmed.
    pub page_programs: u64,
    /// How many bytes it was asked to write.
    pub bytes_written: u64,
    /// How many bytes it programmed.
    pub bytes_programmed: u64,
    /// Bytes programmed for each byte written; null if nothing was written.
    pub write_amplification: Option<f64>,
}

impl Body for SimReplayDocument {
    const NAME: &'static str = "sim-replay";
    const COMMANDS: &'static str = "sim replay";
}
