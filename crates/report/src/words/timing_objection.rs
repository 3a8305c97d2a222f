//! Why no measured latency can be trusted.

use flashscope_infer::objection_to;
use flashscope_record::diagnosis::DiagnosisReason;

use super::diagnosis::reason_text;
use super::reason::objection;
use crate::Report;

/// Why no measured latency can be trusted, if so; then no advice for use follows from them.
pub fn timing_objection(report: &Report<'_>) -> Option<String> {
    if report.run.attachment.in_memory {
        return Some(reason_text(&DiagnosisReason::InMemory));
    }
    if let Some(name) = report.run.attachment.host_disk.clone() {
        return Some(reason_text(&DiagnosisReason::HostDisk { name }));
    }
    if report.run.fails_often() {
        return Some("too many requests failed".to_owned());
    }
    objection_to(&report.run.observations, report.findings).as_ref().map(objection)
}
