//! What the test of the capacity means.

use flashscope_layout::steps::quoted_path;

use super::sentence::Sentence;
use crate::{Report, capacity, quantity};

/// What a false capacity means. The commands that use the rest are among the actions.
pub fn consequences(report: &Report<'_>) -> Vec<Sentence> {
    let details = report.run.false_capacity().map(|verdict| capacity::details(verdict, None));
    details.unwrap_or_default().into_iter().map(Sentence::new).collect()
}

/// What the test of a true capacity excludes.
pub fn excluded(report: &Report<'_>) -> Option<Sentence> {
    let verdict = report.run.capacity.as_ref().filter(|verdict| !verdict.kind.is_bad())?;
    let kept = quantity::counted(verdict.places.len() as u64, "place");
    Some(Sentence::new(format!(
        "no sign of a false capacity: {} were written, and {kept} kept the data; a fake with a cache above {} would pass (sure: \
         flashscope verify {})",
        verdict.cost.bytes_written,
        verdict.cache_excluded,
        quoted_path(&report.run.target)
    )))
}
