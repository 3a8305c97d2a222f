//! The document of `sim fit`.

use flashscope_twin::{Compared, Fit, Measured, Summary};
use schemars::JsonSchema;
use serde::Serialize;

use super::body::Body;

/// A profile that was fitted to a log, and its errors.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SimFitDocument {
    /// The log or run file.
    pub log: String,
    /// The random seed that chose the held-out cells.
    pub seed: u64,
    /// The share of cells that were held out.
    pub holdout: f64,
    /// How many numbers were fitted.
    pub parameters: usize,
    /// The errors of the fitted cells.
    pub fitted: FitErrorDocument,
    /// The errors of the held-out cells.
    pub held_out: FitErrorDocument,
    /// Each cell.
    pub cells: Vec<CellDocument>,
    /// The profile as TOML.
    pub profile: String,
}

/// The errors of several cells.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FitErrorDocument {
    /// How many cells.
    pub cells: usize,
    /// The median relative error.
    pub median: f64,
    /// The 90th percentile.
    pub p90: f64,
}

/// A cell of the log, measured and simulated.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CellDocument {
    /// The first line of its table in the log.
    pub line: Option<usize>,
    /// What it measures.
    pub cell: String,
    /// The measured time, seconds.
    pub measured_s: f64,
    /// The simulated time, seconds.
    pub simulated_s: f64,
    /// The relative error.
    pub error: f64,
    /// Whether the fit did not see it.
    pub held_out: bool,
}

impl Body for SimFitDocument {
    const NAME: &'static str = "sim-fit";
    const COMMANDS: &'static str = "sim fit";
}

impl SimFitDocument {
    /// The document of a fit.
    pub fn new(fitted: &Fit, measured: &Measured, holdout: f64, seed: u64) -> Self {
        let comparison = &fitted.comparison;
        Self {
            log: measured.name.clone(),
            seed,
            holdout,
            parameters: fitted.parameters,
            fitted: comparison.summary(false).into(),
            held_out: comparison.summary(true).into(),
            cells: comparison.cells.iter().map(|cell| CellDocument::new(cell, measured)).collect(),
            profile: fitted.toml.clone(),
        }
    }
}

impl CellDocument {
    fn new(cell: &Compared, measured: &Measured) -> Self {
        Self {
            line: measured.tables.get(cell.table).map(|table| *table.lines.start()),
            cell: cell.key.to_string(),
            measured_s: cell.measured_s,
            simulated_s: cell.simulated_s,
            error: cell.error(),
            held_out: cell.held_out,
        }
    }
}

impl From<Summary> for FitErrorDocument {
    fn from(summary: Summary) -> Self {
        Self { cells: summary.cells, median: summary.median, p90: summary.p90 }
    }
}
