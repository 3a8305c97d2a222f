//! The document of `report compare`.

use std::path::Path;

use flashscope_device::Bytes;
use flashscope_record::run_file::RunFile;
use flashscope_report::compare::{Compared, FIRST_BYTES};
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
