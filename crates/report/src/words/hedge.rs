//! A finding's value together with how sure it is: no value leaves here alone.

use flashscope_record::finding::{Finding, Outcome};

use crate::quantity::percent;

/// `(very sure)`, or `(likely; between 4 MiB and 16 MiB)`; `None` for an unknown.
pub fn hedge(finding: &Finding) -> Option<String> {
    let Outcome::Found { confidence, .. } = &finding.outcome else { return None };
    let between = interval(finding).map(|interval| format!("; {interval}")).unwrap_or_default();
    Some(format!("({}{between})", confidence.words()))
}

/// The value with its hedge: `8 MiB (very sure)`; `None` for an unknown.
pub fn hedged(finding: &Finding) -> Option<String> {
    Some(format!("{} {}", finding.value()?, hedge(finding)?))
}

/// `very sure, 99.7 %`; `None` for an unknown.
pub fn sureness(finding: &Finding) -> Option<String> {
    let Outcome::Found { confidence, .. } = &finding.outcome else { return None };
    Some(format!("{}, {}", confidence.words(), percent(*confidence)))
}

/// The interval in words, `between 4 MiB and 16 MiB`; `None` where it is the value alone, or nothing is known.
#[must_use]
pub fn interval(finding: &Finding) -> Option<String> {
    match &finding.outcome {
        Outcome::Found { low, high, .. } if low != high => Some(format!("between {low} and {high}")),
        _ => None,
    }
}
