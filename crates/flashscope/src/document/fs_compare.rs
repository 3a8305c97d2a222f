//! The document of `fs compare`.

use std::collections::BTreeMap;

use flashscope_infer::trials::summary::Cell;
use flashscope_infer::trials::{Comparison, Recommendation};
use flashscope_record::{Trial, TrialOperation, TrialWorkload};
use flashscope_report::filesystems::{Compared, TrialSource};
use schemars::JsonSchema;
use serde::Serialize;

use super::body::Body;

/// The same files on each filesystem of one stick.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FsCompareDocument {
    /// The target as it was typed.
    pub target: String,
    /// The device in one line.
    pub device: String,
    /// The first byte of each filesystem.
    pub start: u64,
    /// The random seed of the first round.
    pub seed: u64,
    /// Where the times come from.
    pub source: TrialSourceDocument,
    /// What to take for each kind of files.
    pub recommendations: Vec<RecommendationDocument>,
    /// The time of each filesystem by files and direction, the fastest first.
    pub times: Vec<TrialTimeDocument>,
    /// All trials that succeeded.
    pub trials: Vec<Trial>,
    /// One sentence for each trial that failed.
    pub failures: Vec<String>,
    /// What does not fit the stick, and other conditions.
    pub notes: Vec<String>,
}

/// Where the times of trials come from.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TrialSourceDocument {
    /// From recordings of a real kernel, replayed on a virtual stick.
    Replayed {
        /// The kernels.
        kernels: Vec<String>,
        /// The memory of the recorded hosts, bytes.
        memories: Vec<u64>,
        /// The capacities of the recorded filesystems, bytes.
        capacities: Vec<u64>,
    },
    /// Measured on the stick.
    Measured {
        /// The kernel of this host.
        kernel: String,
    },
}

/// The fastest filesystem for one kind of files.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RecommendationDocument {
    /// The files.
    pub workload: TrialWorkload,
    /// The filesystem that writes them fastest.
    pub fastest: String,
    /// Those that may be as fast.
    pub equals: Vec<String>,
    /// Those that are faster, which no plan makes.
    pub faster: Vec<String>,
    /// The slowest of those that sticks are sold with, or of all; null if nothing else was tried.
    pub baseline: Option<String>,
    /// How much faster it writes than the baseline.
    pub gain: Option<GainDocument>,
    /// The filesystem that reads faster; null if none does by much.
    pub faster_read: Option<FasterReadDocument>,
}

/// A filesystem that reads faster than the one that writes fastest.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FasterReadDocument {
    /// The filesystem.
    pub variant: String,
    /// How much faster it reads.
    pub gain: GainDocument,
}

/// How much faster one filesystem is than another.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GainDocument {
    /// The ratio of both times.
    pub ratio: f64,
    /// The lower end of its 95 % interval. At most 1: there may be no difference.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The probability that it is faster.
    pub confidence: f64,
}

/// The time of one filesystem with one kind of files in one direction.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrialTimeDocument {
    /// The filesystem with its options.
    pub variant: String,
    /// The files.
    pub workload: TrialWorkload,
    /// The direction.
    pub operation: TrialOperation,
    /// The median, seconds; with late and early writeback the geometric mean of both medians.
    pub seconds: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The longest time over the shortest.
    pub spread: f64,
    /// The number of trials.
    pub trials: usize,
    /// The median of each kind of writeback: late, early, or that of this host.
    pub by_writeback: BTreeMap<&'static str, f64>,
}

impl Body for FsCompareDocument {
    const NAME: &'static str = "fs-compare";
    const COMMANDS: &'static str = "fs compare";
}

impl FsCompareDocument {
    /// The document of this comparison.
    pub fn new(compared: &Compared<'_>, trials: &[Trial], seed: u64) -> Self {
        Self {
            target: compared.target.to_owned(),
            device: compared.device.to_owned(),
            start: compared.start.get(),
            seed,
            source: compared.source.into(),
            recommendations: compared.summary.recommendations.iter().map(Into::into).collect(),
            times: compared.summary.cells.iter().map(Into::into).collect(),
            trials: trials.to_vec(),
            failures: compared.failures.to_vec(),
            notes: compared.notes.to_vec(),
        }
    }
}

impl From<&TrialSource> for TrialSourceDocument {
    fn from(source: &TrialSource) -> Self {
        match source {
            TrialSource::Replayed { kernels, memories, capacities } => Self::Replayed {
                kernels: kernels.clone(),
                memories: memories.iter().map(|each| each.get()).collect(),
                capacities: capacities.iter().map(|each| each.get()).collect(),
            },
            TrialSource::Measured { kernel } => Self::Measured { kernel: kernel.clone() },
        }
    }
}

impl From<&Recommendation> for RecommendationDocument {
    fn from(each: &Recommendation) -> Self {
        let faster_read = each
            .faster_read
            .as_ref()
            .map(|(variant, gain)| FasterReadDocument { variant: variant.clone(), gain: (*gain).into() });
        Self {
            workload: each.workload,
            fastest: each.fastest.clone(),
            equals: each.equals.clone(),
            faster: each.faster.clone(),
            baseline: each.baseline.clone(),
            gain: each.gain.map(Into::into),
            faster_read,
        }
    }
}

impl From<Comparison> for GainDocument {
    fn from(gain: Comparison) -> Self {
        Self { ratio: gain.ratio, low: gain.low, high: gain.high, confidence: gain.confidence.get() }
    }
}

impl From<&Cell> for TrialTimeDocument {
    fn from(cell: &Cell) -> Self {
        let estimate = &cell.estimate;
        Self {
            variant: cell.variant.clone(),
            workload: cell.workload,
            operation: cell.operation,
            seconds: estimate.seconds,
            low: estimate.low,
            high: estimate.high,
            spread: estimate.spread,
            trials: estimate.trials,
            by_writeback: estimate.by_writeback.iter().map(|(each, time)| (each.name(), *time)).collect(),
        }
    }
}
