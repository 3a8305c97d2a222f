//! A finding's value with its confidence: no value is shown without it.

use flashscope_record::finding::{Confidence, Finding, Outcome};

use crate::quantity::{percent, range};
use crate::terms::value_text;

/// The words for a confidence, highest first.
pub(crate) const LEVELS: [&str; 4] = ["very sure", "sure", "fairly sure", "likely"];

/// `very sure` from 0.99, `sure` from 0.95, `fairly sure` from 0.8, `likely` below.
#[must_use]
pub const fn confidence_level(confidence: Confidence) -> &'static str {
    match confidence.get() {
        p if p >= 0.99 => LEVELS[0],
        p if p >= 0.95 => LEVELS[1],
        p if p >= 0.8 => LEVELS[2],
        _ => LEVELS[3],
    }
}

/// `(very sure)`, or `(likely; 4 to 16 MiB)`; `None` for an unknown.
pub fn confidence(finding: &Finding) -> Option<String> {
    let Outcome::Found { confidence, .. } = &finding.outcome else { return None };
    let interval = interval(finding).map(|interval| format!("; {interval}")).unwrap_or_default();
    Some(format!("({}{interval})", confidence_level(*confidence)))
}

/// The value with its confidence: `8 MiB (very sure)`; `None` for an unknown.
pub fn with_confidence(finding: &Finding) -> Option<String> {
    Some(format!("{} {}", value_text(finding.value()?), confidence(finding)?))
}

/// `very sure, 99.7 %`; `None` for an unknown.
pub fn confidence_percent(finding: &Finding) -> Option<String> {
    let Outcome::Found { confidence, .. } = &finding.outcome else { return None };
    Some(format!("{}, {}", confidence_level(*confidence), percent(*confidence)))
}

/// The interval, `4 to 16 MiB`; `None` for an unknown, and where the interval holds the value alone.
#[must_use]
pub fn interval(finding: &Finding) -> Option<String> {
    match &finding.outcome {
        Outcome::Found { low, high, .. } if low != high => Some(range(&value_text(*low), &value_text(*high))),
        _ => None,
    }
}
