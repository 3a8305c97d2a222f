//! Findings, ends of experiments and the diagnosis, as they stand in `--json`.

use flashscope_record::finding::{Confidence, Finding, Outcome, Value as FindingValue};
use flashscope_record::observation::{Cause, Ended};
use flashscope_report::words;
use serde::Serialize;

/// One finding. An unknown has nulls, a reason and what would decide it.
#[derive(Serialize)]
pub struct FindingDocument {
    id: &'static str,
    unit: &'static str,
    status: &'static str,
    value: Option<FindingValue>,
    low: Option<FindingValue>,
    high: Option<FindingValue>,
    confidence: Option<Confidence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    would_decide: Option<String>,
    evidence: String,
    caveats: Vec<String>,
}

impl FindingDocument {
    /// The document of a finding.
    pub fn of(finding: &Finding) -> Self {
        let unknown = Self {
            id: finding.id.as_str(),
            unit: finding.id.unit(),
            status: "unknown",
            value: None,
            low: None,
            high: None,
            confidence: None,
            text: None,
            reason: None,
            would_decide: None,
            evidence: finding.evidence.as_ref().map(words::evidence).unwrap_or_default(),
            caveats: finding.caveats.iter().map(words::caveat).collect(),
        };
        match &finding.outcome {
            Outcome::Found { value, low, high, confidence } => Self {
                status: "found",
                value: Some(*value),
                low: Some(*low),
                high: Some(*high),
                confidence: Some(*confidence),
                text: Some(flashscope_report::value_text(*value)),
                ..unknown
            },
            Outcome::Unknown { reason, would_decide } => Self {
                reason: Some(words::reason(reason)),
                would_decide: Some(words::would_decide(would_decide)),
                ..unknown
            },
        }
    }
}

/// How an experiment ended.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedDocument {
    /// It decided everything.
    Complete,
    /// Early.
    Early { reason: String, cause: Cause },
    /// It could not start.
    NotStarted { reason: String, would_decide: String },
}

impl EndedDocument {
    /// The document of an end.
    pub fn of(ended: &Ended) -> Self {
        match ended {
            Ended::Complete => Self::Complete,
            Ended::Early { reason, cause } => Self::Early { reason: words::stop(reason), cause: *cause },
            Ended::NotStarted { reason, would_decide } => Self::NotStarted {
                reason: words::refusal(reason),
                would_decide: words::would_decide(would_decide),
            },
        }
    }
}
