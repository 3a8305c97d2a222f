//! What the test of the capacity means.

use super::sentence::Sentence;
use crate::{Report, capacity, quantity};

/// What a false capacity means.
pub fn consequences(report: &Report<'_>) -> Vec<Sentence> {
    let details = report.run.false_capacity().map(|verdict| capacity::details(verdict, &report.run.target));
    details.unwrap_or_default().into_iter().map(Sentence::new).collect()
}

/// What the test of a true capacity excludes.
pub fn excluded(report: &Report<'_>) -> Option<Sentence> {
    let verdict = report.run.capacity.as_ref().filter(|verdict| !verdict.kind.is_bad())?;
    let kept = quantity::counted(verdict.places.len() as u64, "place");
    Some(Sentence::new(format!(
        "no sign of a false capacity: {} were written, and {kept} kept the data; a fake with a cache above {} would pass (sure: \
         flashscope verify {})",
        verdict.cost.bytes_written, verdict.cache_excluded, report.run.target
    )))
}
