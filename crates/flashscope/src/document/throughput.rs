//! One long stream of writes.

use flashscope_infer::streams::changes::Change;
use flashscope_infer::streams::stalls::Stalls;
use flashscope_infer::streams::sustained::SoFar;
use flashscope_infer::streams::throughput_profile::{Recovered, ThroughputProfile};
use schemars::JsonSchema;
use serde::Serialize;

/// The write speed over one long sequential stream.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ThroughputDocument {
    /// Where the speed changes, in the order of writing.
    pub changes: Vec<ChangeDocument>,
    /// The speed at the end of the stream; null if too little was written.
    pub so_far: Option<SoFarDocument>,
    /// Stalls that come back regularly; null without any.
    pub stalls: Option<StallsDocument>,
    /// The part of the cache that recovered in each pause.
    pub recovered: Vec<RecoveredDocument>,
}

/// A change of the write speed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChangeDocument {
    /// How many bytes were written before it.
    pub written_bytes: u64,
    /// The speed before it, bytes per second.
    pub before_bytes_per_s: f64,
    /// The speed after it, bytes per second.
    #[serde(rename = "behind_bytes_per_s")]
    pub after_bytes_per_s: f64,
}

/// The speed at the end of a stream. It may not be the speed that lasts.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SoFarDocument {
    /// Over how many bytes it was measured.
    pub bytes: u64,
    /// The speed, bytes per second.
    pub bytes_per_s: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
}

/// Stalls at regular intervals.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StallsDocument {
    /// Bytes written from one stall to the next.
    pub period_bytes: u64,
    /// The lower end of that period's interval.
    pub low: u64,
    /// The upper end of that period's interval.
    pub high: u64,
    /// How many were seen.
    pub seen: usize,
    /// How long a stall takes, the median, seconds.
    pub seconds: f64,
    /// The longest, seconds.
    pub seconds_max: f64,
    /// The share of the time spent in stalls, from 0 to 1.
    pub share_of_time: f64,
}

/// The part of the cache that recovered in a pause.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RecoveredDocument {
    /// How long the device was idle, seconds.
    pub pause_s: f64,
    /// How many bytes were written fast after it.
    pub fast_bytes: u64,
    /// True if writing was still fast when the measurement ended: `fast_bytes` is then a lower bound.
    pub at_least: bool,
}

impl ThroughputDocument {
    /// The document of a stream.
    pub fn new(profile: &ThroughputProfile, so_far: Option<SoFar>) -> Self {
        Self {
            changes: profile.changes.iter().map(ChangeDocument::from).collect(),
            so_far: so_far.map(SoFarDocument::from),
            stalls: profile.stalls.map(StallsDocument::from),
            recovered: profile.recovered.iter().map(RecoveredDocument::from).collect(),
        }
    }
}

impl From<&Change> for ChangeDocument {
    fn from(change: &Change) -> Self {
        Self {
            written_bytes: change.written.get(),
            before_bytes_per_s: change.before_bytes_per_s,
            after_bytes_per_s: change.after_bytes_per_s,
        }
    }
}

impl From<SoFar> for SoFarDocument {
    fn from(so_far: SoFar) -> Self {
        Self {
            bytes: so_far.bytes.get(),
            bytes_per_s: so_far.bytes_per_s,
            low: so_far.bytes_per_s_low,
            high: so_far.bytes_per_s_high,
        }
    }
}

impl From<Stalls> for StallsDocument {
    fn from(stalls: Stalls) -> Self {
        Self {
            period_bytes: stalls.period.get(),
            low: stalls.period_low.get(),
            high: stalls.period_high.get(),
            seen: stalls.seen,
            seconds: stalls.seconds,
            seconds_max: stalls.seconds_max,
            share_of_time: stalls.share,
        }
    }
}

impl From<&Recovered> for RecoveredDocument {
    fn from(recovered: &Recovered) -> Self {
        Self {
            pause_s: recovered.pause.as_secs_f64(),
            fast_bytes: recovered.bytes.get(),
            at_least: recovered.is_at_least,
        }
    }
}
