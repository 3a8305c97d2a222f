//! A finding's value together with how sure it is: no value leaves here alone.

use flashscope_record::finding::{Finding, Outcome};

use super::finding_title;
use super::value::value;
use crate::quantity::percent;

/// `(very sure)`, or `(likely; between 4 MiB and 16 MiB)`; `None` for an unknown.
pub fn hedge(finding: &Finding) -> Option<String> {
    let Outcome::Found { confidence, .. } = finding.outcome else { return None };
    let between = interval(finding).map(|interval| format!("; {interval}")).unwrap_or_default();
    Some(format!("({}{between})", finding_title::confidence(confidence)))
}

/// The value with its hedge: `8 MiB (very sure)`; `None` for an unknown.
pub fn hedged(finding: &Finding) -> Option<String> {
    Some(format!("{} {}", value(finding.value()?), hedge(finding)?))
}

/// `very sure, 99.7 %`; `None` for an unknown.
pub fn sureness(finding: &Finding) -> Option<String> {
    let Outcome::Found { confidence, .. } = finding.outcome else { return None };
    Some(format!("{}, {}", finding_title::confidence(confidence), percent(confidence)))
}

/// The interval in words, `between 4 MiB and 16 MiB`; `None` where it is the value alone, or nothing is known.
#[must_use]
pub fn interval(finding: &Finding) -> Option<String> {
    match finding.outcome {
        Outcome::Found { low, high, .. } if low != high => {
            Some(format!("between {} and {}", value(low), value(high)))
        }
        _ => None,
    }
}
