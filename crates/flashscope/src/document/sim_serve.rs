//! The two documents of `sim serve`.

use std::path::Path;
use std::time::Duration;

use flashscope_device::ByteRange;
use flashscope_device::layer::FaultEvent;
use flashscope_linux::serve::{Lateness, ServeStatistics};
use flashscope_sim::target::Target;
use schemars::JsonSchema;
use serde::Serialize;

use super::body::Body;

/// Where a virtual stick is served: the first line of `sim serve --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ServingDocument {
    /// The stick that is ready.
    pub serving: ServingStick,
}

/// A virtual stick that is served.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ServingStick {
    /// The file that holds it.
    pub file: String,
    /// The block device; null without `--loop`.
    pub block_device: Option<String>,
    /// The name of the profile.
    pub profile: String,
    /// The random seed.
    pub seed: u64,
    /// The capacity.
    pub capacity_bytes: u64,
}

/// What a virtual stick served: the last line of `sim serve --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ServedDocument {
    /// The requests.
    pub served: ServedRequests,
    /// Why serving ended; null if it was stopped.
    pub failure: Option<String>,
    /// The faults that occurred.
    pub faults: Vec<FaultDocument>,
}

/// The requests that were served.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ServedRequests {
    /// How many reads.
    pub reads: u64,
    /// How many writes.
    pub writes: u64,
    /// How many flushes.
    pub flushes: u64,
    /// How many discards.
    pub discards: u64,
    /// How many bytes were read.
    pub bytes_read: u64,
    /// How many bytes were written.
    pub bytes_written: u64,
    /// How many requests failed.
    pub failed: u64,
    /// How late completions were; null if none was due at a time.
    pub completion_error: Option<CompletionErrorDocument>,
}

/// How late completions were.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CompletionErrorDocument {
    /// The median, microseconds.
    pub median_us: f64,
    /// The 99th percentile, microseconds.
    pub percentile_99_us: f64,
    /// The largest, microseconds.
    pub max_us: f64,
    /// How many were late because this machine took longer than the stick.
    pub late: u64,
}

/// A fault that occurred.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FaultDocument {
    /// When, seconds on the stick's clock.
    pub at_s: f64,
    /// Whether the stick stays away.
    pub is_gone: bool,
    /// How many acknowledged writes lost data.
    pub lost_writes: u64,
    /// How many bytes they lost.
    pub lost_bytes: u64,
    /// The first ranges that were lost.
    pub lost_ranges: Vec<RangeDocument>,
    /// How many requests were in flight and failed or were never answered.
    pub unanswered: u64,
}

/// A range of the stick.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RangeDocument {
    /// Its offset, bytes.
    pub offset: u64,
    /// Its length, bytes.
    pub length: u64,
}

impl Body for ServingDocument {
    const NAME: &'static str = "sim-serving";
    const COMMANDS: &'static str = "sim serve, when it is ready";
}

impl Body for ServedDocument {
    const NAME: &'static str = "sim-served";
    const COMMANDS: &'static str = "sim serve, when it ends";
}

impl ServingDocument {
    /// The document of a stick that is ready.
    pub fn new(file: &Path, block_device: Option<&Path>, target: &Target) -> Self {
        Self {
            serving: ServingStick {
                file: file.display().to_string(),
                block_device: block_device.map(|path| path.display().to_string()),
                profile: target.profile.name.clone(),
                seed: target.seed,
                capacity_bytes: target.profile.capacity.get(),
            },
        }
    }
}

impl ServedDocument {
    /// The document of what was served.
    pub fn new(served: &ServeStatistics, failure: Option<String>, faults: &[FaultEvent]) -> Self {
        let served = ServedRequests::from(served);
        Self { served, failure, faults: faults.iter().map(FaultDocument::from).collect() }
    }
}

impl From<&ServeStatistics> for ServedRequests {
    fn from(served: &ServeStatistics) -> Self {
        Self {
            reads: served.reads,
            writes: served.writes,
            flushes: served.flushes,
            discards: served.discards,
            bytes_read: served.bytes_read.get(),
            bytes_written: served.bytes_written.get(),
            failed: served.failed,
            completion_error: served.error.as_ref().map(CompletionErrorDocument::from),
        }
    }
}

impl From<&Lateness> for CompletionErrorDocument {
    fn from(error: &Lateness) -> Self {
        let microseconds = |duration: Duration| duration.as_secs_f64() * 1e6;
        Self {
            median_us: microseconds(error.median),
            percentile_99_us: microseconds(error.percentile_99),
            max_us: microseconds(error.max),
            late: error.late,
        }
    }
}

impl From<&FaultEvent> for FaultDocument {
    fn from(event: &FaultEvent) -> Self {
        Self {
            at_s: Duration::from_nanos(event.at.as_nanos()).as_secs_f64(),
            is_gone: event.is_gone,
            lost_writes: event.lost.requests,
            lost_bytes: event.lost.bytes.get(),
            lost_ranges: event.lost.ranges.iter().map(RangeDocument::from).collect(),
            unanswered: event.lost.unanswered,
        }
    }
}

impl From<&ByteRange> for RangeDocument {
    fn from(range: &ByteRange) -> Self {
        Self { offset: range.offset.get(), length: range.length.get() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_of_completions_is_in_microseconds() {
        let error = Lateness {
            median: Duration::from_millis(250),
            percentile_99: Duration::from_millis(500),
            max: Duration::from_secs(2),
            late: 7,
        };
        let served = ServeStatistics { error: Some(error), ..ServeStatistics::default() };
        let document = serde_json::to_value(ServedDocument::new(&served, None, &[])).unwrap();
        let expected = serde_json::json!({
            "median_us": 250_000.0,
            "percentile_99_us": 500_000.0,
            "max_us": 2_000_000.0,
            "late": 7,
        });
        assert_eq!(document["served"]["completion_error"], expected);
    }
}
