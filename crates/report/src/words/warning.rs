//! What has to be said before anything else: a device on which requests failed may be dying.

use super::sentence::Sentence;
use crate::Report;

/// What happened, and what to do at once.
pub fn sentence(report: &Report<'_>) -> Option<Sentence> {
    let failed = failures(report)?;
    Some(Sentence::new(format!(
        "{failed}: the {} may be dying, or its contacts are; save what it holds",
        report.noun()
    )))
}

/// `3 of 5000 requests failed`, if any did.
pub fn failures(report: &Report<'_>) -> Option<String> {
    let (failed, all) = (report.run.failed_requests, report.run.requests());
    let told = || {
        if failed <= all {
            format!("{failed} of {all} requests failed")
        } else {
            format!("{failed} requests failed")
        }
    };
    (failed > 0).then(told)
}
