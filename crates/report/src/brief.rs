//! A report in one line, for many devices one below the other.

use flashscope_record::finding::{Finding, Outcome};

use crate::{Report, printable, words};

/// The target and what was found of it, with how sure that is; why nothing was, if nothing was. No line break at the end.
#[must_use]
pub fn brief(report: &Report<'_>) -> String {
    let found: Vec<String> = report.findings.iter().filter_map(value).collect();
    let text = if found.is_empty() { unknown(report.findings) } else { found.join(", ") };
    format!("{}: {}", printable(&report.run.target), printable(&text))
}

fn value(finding: &Finding) -> Option<String> {
    let Outcome::Found { value, confidence, .. } = finding.outcome else { return None };
    let (title, value) = (words::finding_title(finding.id), words::value(value));
    Some(format!("{title} {value} ({:.0} %)", confidence.get() * 100.0))
}

fn unknown(findings: &[Finding]) -> String {
    let reason = findings.iter().find_map(Finding::reason).map(words::reason);
    format!("unknown: {}", reason.as_deref().unwrap_or("nothing was measured"))
}
