//! Findings by their kind.

use flashscope_record::finding::{Finding, FindingId};

/// The finding of this kind; `None` if there is none.
pub fn find(findings: &[Finding], id: FindingId) -> Option<&Finding> {
    findings.iter().find(|finding| finding.id == id)
}
