//! Reads across boundaries, and what the device holds.

use std::time::Duration;

use flashscope_device::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding_id::FindingId;
use crate::limits::{Checked, block, each, permit, size, time};
use crate::observation::experiment_data::ExperimentData;

/// Reads before, across and after boundaries of candidate sizes.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AlignData {
    /// The size of each read; `None` if a log does not state it.
    pub read: Option<Bytes>,
    /// One sample per boundary and round (published: one per candidate, already averaged).
    pub samples: Vec<AlignSample>,
    /// The contents of the device, sampled at random offsets.
    #[serde(default)]
    pub contents: Contents,
}

/// The contents at random offsets. A controller may answer without touching flash where nothing was written
/// or everything was trimmed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Contents {
    /// The number of sampled offsets.
    pub looked_at: u32,
    /// The number of offsets that hold only 0x00, or only 0xFF.
    pub blank: u32,
}

impl Contents {
    /// Whether most offsets are blank; `None` without samples.
    #[must_use]
    pub const fn mostly_blank(self) -> Option<bool> {
        match self.looked_at {
            0 => None,
            looked_at => Some(self.blank > looked_at / 2),
        }
    }
}

impl std::fmt::Display for Contents {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} of {} sampled offsets hold only 0x00 or 0xFF", self.blank, self.looked_at)
    }
}

/// Three reads at one boundary.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AlignSample {
    /// The candidate size: the boundary is an odd multiple of it.
    pub candidate: Bytes,
    /// The boundary's offset; `None` in an averaged sample.
    pub boundary: Option<Bytes>,
    /// The read that ends at the boundary.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub before: Duration,
    /// The read that straddles it.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub across: Duration,
    /// The read that starts at it.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub after: Duration,
}

impl AlignSample {
    /// The extra time of the read across, compared with those beside it, seconds; may be negative.
    #[must_use]
    pub fn difference(&self) -> f64 {
        self.across.as_secs_f64() - (self.before.as_secs_f64() + self.after.as_secs_f64()) / 2.0
    }
}

impl ExperimentData for AlignData {
    fn check(&self) -> Checked {
        self.read.map_or(Ok(()), |read| block("read", read))?;
        each("samples", &self.samples, sample)
    }

    fn records(&self) -> usize {
        self.samples.len()
    }

    fn findings(&self) -> &'static [FindingId] {
        &[FindingId::EraseBlockBytes, FindingId::ReadBoundarySignal]
    }

    fn latencies(&self) -> Vec<Duration> {
        self.samples.iter().flat_map(|sample| [sample.before, sample.across, sample.after]).collect()
    }

    /// The mean of the reads beside each boundary.
    fn equal_latencies_s(&self) -> Vec<f64> {
        let mean = |sample: &AlignSample| (sample.before.as_secs_f64() + sample.after.as_secs_f64()) / 2.0;
        self.samples.iter().map(mean).collect()
    }
}

fn sample(sample: &AlignSample) -> Checked {
    let candidate = sample.candidate;
    permit(!candidate.is_zero(), "candidate", candidate, "it must be at least 1 byte")?;
    size("candidate", candidate)?;
    size("boundary", sample.boundary.unwrap_or_default())?;
    time("before", sample.before)?;
    time("across", sample.across)?;
    time("after", sample.after)
}
