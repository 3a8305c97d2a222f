//! A report in one line, for lists of devices.

use flashscope_record::finding::{Finding, Outcome};

use crate::terms::title_and_value;
use crate::{Report, printable, published_speeds, words};

/// The target and its findings, each with its confidence; without findings, the reason why there are none.
/// Ends without a line break.
#[must_use]
pub fn brief(report: &Report<'_>) -> String {
    let found: Vec<String> = report.findings.iter().filter_map(finding_text).collect();
    let published = published_speeds::headline(report.run).filter(|_| report.findings.is_empty());
    let text = if let Some(speeds) = published {
        speeds
    } else if found.is_empty() {
        unknown(report.findings)
    } else {
        found.join(", ")
    };
    let alarm = words::alarm(report).map(|alarm| format!("{alarm}; ")).unwrap_or_default();
    format!("{}: {}", printable(&report.run.target), printable(&(alarm + &text)))
}

fn finding_text(finding: &Finding) -> Option<String> {
    let Outcome::Found { value, confidence, .. } = &finding.outcome else { return None };
    Some(format!("{} ({:.0} %)", title_and_value(finding.id, *value), confidence.get() * 100.0))
}

fn unknown(findings: &[Finding]) -> String {
    let reason = findings.iter().find_map(Finding::reason).map(words::reason);
    format!("unknown: {}", reason.as_deref().unwrap_or("nothing was measured"))
}
