//! What follows from a run: its findings, and what other layouts would gain.

use flashscope_record::finding::Finding;
use flashscope_record::run_file::RunFile;
use flashscope_record::verdict::PredictedGains;
use flashscope_report::Report;
use flashscope_twin::whatif::gains_of_actions;

/// What follows from a run.
#[derive(Debug, Default)]
pub struct Concluded {
    /// The findings.
    findings: Vec<Finding>,
    /// What other layouts gain; empty if nothing was predicted.
    predicted: PredictedGains,
}

impl Concluded {
    /// Findings without predictions: of a part of a check.
    pub fn from_findings(findings: Vec<Finding>) -> Self {
        Self { findings, predicted: PredictedGains::default() }
    }

    /// The findings of a check, with predictions if the run has a twin and `goes_on` does not say no.
    pub fn of_check(run: &RunFile, findings: Vec<Finding>, goes_on: impl FnMut() -> bool) -> Self {
        Self { findings, predicted: gains_of_actions(run, goes_on).unwrap_or_default() }
    }

    /// The report of the run that this follows from.
    pub fn report<'a>(&'a self, run: &'a RunFile) -> Report<'a> {
        Report { run, findings: &self.findings, predicted: self.predicted }
    }
}
