//! The document of `whatif`.

use flashscope_infer::trials::forecast::{Best, Layout, Prediction};
use flashscope_record::{TrialOperation, TrialWorkload};
use flashscope_report::whatif::Outlook;
use schemars::JsonSchema;
use serde::Serialize;

use super::body::Body;
use super::fs_compare::GainDocument;

/// What other layouts would gain on a stick, predicted on its virtual twin.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WhatifDocument {
    /// The run file or virtual stick as it was typed.
    pub target: String,
    /// The device in one line.
    pub device: String,
    /// The twin.
    pub twin: TwinDocument,
    /// The layout that gains count from.
    pub baseline: LayoutDocument,
    /// Whether the baseline is the present layout; else it is that of sticks as they are sold.
    pub baseline_is_present: bool,
    /// The layout that writes each kind of files fastest.
    pub best: Vec<BestDocument>,
    /// Every layout by files and direction, the fastest first.
    pub predictions: Vec<PredictionDocument>,
    /// What does not fit the stick, and other conditions.
    pub notes: Vec<String>,
}

/// A virtual stick that was fitted to what a run measured.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TwinDocument {
    /// Its erase block, bytes.
    pub erase_block: u64,
    /// The number of measured times that it was fitted to.
    pub fitted_times: usize,
    /// The median relative error for them.
    pub fitted_error: f64,
    /// The factor within which it repeats the speeds of the check, above 1; null if they were not measured.
    pub repeats_within: Option<f64>,
}

/// A filesystem and where its partition starts.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LayoutDocument {
    /// The filesystem with its options, such as `ext4-stripe`.
    pub variant: String,
    /// The first byte of the partition.
    pub start: u64,
}

/// The layout that writes one kind of files fastest.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BestDocument {
    /// The files.
    pub workload: TrialWorkload,
    /// The layout.
    pub layout: LayoutDocument,
    /// How much faster it writes than the baseline; null if that was not recorded with these files.
    pub gain: Option<GainDocument>,
    /// How much faster it reads than the baseline.
    pub read_gain: Option<GainDocument>,
    /// Whether the interval of the gain is above 1; if not, no gain is certain.
    pub is_shown: bool,
}

/// The predicted time of one layout with one kind of files.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PredictionDocument {
    /// The layout.
    pub layout: LayoutDocument,
    /// The files.
    pub workload: TrialWorkload,
    /// The direction.
    pub operation: TrialOperation,
    /// The time, seconds.
    pub seconds: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The number of replayed recordings.
    pub trials: usize,
    /// How much faster it is than the baseline; null if that was not recorded with these files.
    pub gain: Option<GainDocument>,
}

impl Body for WhatifDocument {
    const NAME: &'static str = "whatif";
    const COMMANDS: &'static str = "whatif";
}

impl WhatifDocument {
    /// The document of this forecast.
    pub fn new(outlook: &Outlook<'_>) -> Self {
        let forecast = outlook.forecast;
        Self {
            target: outlook.target.to_owned(),
            device: outlook.device.to_owned(),
            twin: TwinDocument {
                erase_block: outlook.erase_block.get(),
                fitted_times: outlook.fitted_times,
                fitted_error: outlook.fitted_error,
                repeats_within: outlook.repeats_within,
            },
            baseline: (&forecast.baseline).into(),
            baseline_is_present: outlook.is_present_known,
            best: forecast.best.iter().map(Into::into).collect(),
            predictions: forecast.predictions.iter().map(Into::into).collect(),
            notes: outlook.notes.to_vec(),
        }
    }
}

impl From<&Layout> for LayoutDocument {
    fn from(layout: &Layout) -> Self {
        Self { variant: layout.variant.clone(), start: layout.start.get() }
    }
}

impl From<&Best> for BestDocument {
    fn from(best: &Best) -> Self {
        Self {
            workload: best.workload,
            layout: (&best.layout).into(),
            gain: best.gain.map(Into::into),
            read_gain: best.read_gain.map(Into::into),
            is_shown: best.gain.is_some_and(|gain| gain.is_shown()),
        }
    }
}

impl From<&Prediction> for PredictionDocument {
    fn from(each: &Prediction) -> Self {
        Self {
            layout: (&each.layout).into(),
            workload: each.workload,
            operation: each.operation,
            seconds: each.estimate.seconds,
            low: each.low,
            high: each.high,
            trials: each.estimate.trials,
            gain: each.gain.map(Into::into),
        }
    }
}
