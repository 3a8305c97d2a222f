//! The document of `report compare`.

use std::path::Path;

use flashscope_device::Bytes;
use flashscope_record::run_file::RunFile;
use flashscope_report::compare::{Compared, FIRST_BYTES, ratios};
use schemars::JsonSchema;
use serde::Serialize;

use super::body::Body;
use super::finding::FindingDocument;
use super::throughput::SoFarDocument;

/// The write speed of several devices over one long stream each.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CompareDocument {
    /// One element a run, in the order of the command line.
    pub compared: Vec<ComparedDocument>,
    /// The fastest device over each other one; without devices to which too little was written.
    pub ratios: Vec<RatioDocument>,
}

/// How many times as fast one device writes as another.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RatioDocument {
    /// The name of the faster one.
    pub faster: String,
    /// The name of the slower one.
    pub slower: String,
    /// The ratio of their write speeds.
    pub likely: f64,
    /// The lower end of its 95 % interval. At most 1: they may be equally fast.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Whether both speeds are sustained; else one is that of what was written so far.
    pub is_sustained: bool,
}

/// One run of a comparison.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ComparedDocument {
    /// The run file.
    pub run: String,
    /// Its name in the comparison.
    pub name: String,
    /// The target that was measured.
    pub target: String,
    /// The sustained write speed; null if nothing was concluded.
    pub sustained: Option<FindingDocument>,
    /// The speed at the end of the stream; null if too little was written.
    pub so_far: Option<SoFarDocument>,
    /// The mean speed of the first 10 MB, bytes per second; null if less was written.
    pub first_10_mb_bytes_per_s: Option<f64>,
    /// The mean speed of the first 100 MB, bytes per second; null if less was written.
    pub first_100_mb_bytes_per_s: Option<f64>,
    /// The mean speed of the first 1 GB, bytes per second; null if less was written.
    pub first_1_gb_bytes_per_s: Option<f64>,
}

impl Body for CompareDocument {
    const NAME: &'static str = "report-compare";
    const COMMANDS: &'static str = "report compare";
}

impl RatioDocument {
    /// All ratios of these devices.
    pub fn all(devices: &[Compared<'_>]) -> Vec<Self> {
        let name = |index: usize| devices.get(index).map_or_else(String::new, |device| device.name.clone());
        let document = |ratio: flashscope_report::compare::SpeedRatio| Self {
            faster: name(ratio.faster),
            slower: name(ratio.slower),
            likely: ratio.likely,
            low: ratio.low,
            high: ratio.high,
            is_sustained: ratio.is_sustained,
        };
        ratios(devices).into_iter().map(document).collect()
    }
}

impl ComparedDocument {
    /// The document of the run in `file`.
    pub fn new(file: &Path, run: &RunFile, compared: &Compared<'_>) -> Self {
        let [first_10_mb, first_100_mb, first_1_gb] =
            FIRST_BYTES.map(|(_, bytes): (&str, Bytes)| compared.speed_of_first(bytes.as_f64()));
        Self {
            run: file.display().to_string(),
            name: compared.name.clone(),
            target: run.target.clone(),
            sustained: compared.sustained.as_ref().map(FindingDocument::from),
            so_far: compared.so_far().map(SoFarDocument::from),
            first_10_mb_bytes_per_s: first_10_mb,
            first_100_mb_bytes_per_s: first_100_mb,
            first_1_gb_bytes_per_s: first_1_gb,
        }
    }
}
