//! The warning above everything else: a device on which requests failed may be failing.

use super::sentence::Sentence;
use crate::{Report, quantity};

/// The failed requests, and what to do at once.
pub fn sentence(report: &Report<'_>) -> Option<Sentence> {
    let failed = failed_requests(report)?;
    Some(Sentence::new(format!(
        "{failed}: the {} may be failing, or its contacts are bad. Back up its data now",
        report.noun()
    )))
}

/// `3 of 5,000 requests failed`, if any did.
pub fn failed_requests(report: &Report<'_>) -> Option<String> {
    let (failed, all) = (report.run.failed_requests, report.run.requests());
    let of = if failed <= all { format!(" of {}", quantity::integer(all)) } else { String::new() };
    (failed > 0).then(|| format!("{}{of} requests failed", quantity::integer(failed)))
}
