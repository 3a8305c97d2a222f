//! Discards of areas that held data, reads of them, and writes into them before and after.

use std::time::Duration;

use flashscope_device::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{Checked, block, each, permit, size, time};
use crate::observation::experiment_data::{ExperimentData, NamedResult, ResultValue};

/// The most discards of a run file.
const DISCARDS_MAX: u32 = 1 << 20;

/// Discards of areas, one after the other.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiscardData {
    /// The size of each area.
    pub area: Bytes,
    /// The size of each write.
    pub request: Bytes,
    /// Discards that failed, or that the device does not accept.
    pub failed: u32,
    /// The areas whose discard succeeded.
    pub areas: Vec<DiscardedArea>,
}

/// One area that was discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiscardedArea {
    /// Its offset.
    pub offset: Bytes,
    /// Whether it was overwritten before the discard, and not after it.
    pub overwritten_first: bool,
    /// The time to write the whole area while it held data.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub overwrite: Duration,
    /// The latency of the discard.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub discard: Duration,
    /// Its content after the discard.
    pub content: DiscardedContent,
    /// The time to write the whole area after the discard.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub write: Duration,
}

/// The content of a discarded area.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiscardedContent {
    /// Only 0x00.
    Zeros,
    /// Only 0xFF.
    Ones,
    /// The data from before.
    OldData,
    /// Anything else, or a mixture.
    Other,
}

impl DiscardedContent {
    /// The content as a word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Zeros => "zeros",
            Self::Ones => "ones",
            Self::OldData => "old_data",
            Self::Other => "other",
        }
    }
}

impl DiscardData {
    /// The content of all areas, `Other` if they differ. `None` without an area.
    #[must_use]
    pub fn content(&self) -> Option<DiscardedContent> {
        let first = self.areas.first()?.content;
        let is_same = self.areas.iter().all(|area| area.content == first);
        Some(if is_same { first } else { DiscardedContent::Other })
    }

    /// The median latency of a discard, seconds. `None` without an area.
    #[must_use]
    pub fn latency_s(&self) -> Option<f64> {
        median(self.areas.iter().map(|area| area.discard.as_secs_f64()))
    }

    /// The median, over the areas, of the time to write after the discard as a multiple of the time before
    /// it.
    #[must_use]
    pub fn write_time_ratio(&self) -> Option<f64> {
        let timed = self.areas.iter().filter(|area| !area.overwrite.is_zero());
        median(timed.map(|area| area.write.as_secs_f64() / area.overwrite.as_secs_f64()))
    }
}

impl ExperimentData for DiscardData {
    fn check(&self) -> Checked {
        block("area", self.area)?;
        block("request", self.request)?;
        permit(self.failed <= DISCARDS_MAX, "failed", self.failed, "there are at most 2^20 discards")?;
        each("areas", &self.areas, |area| {
            size("offset", area.offset)?;
            time("overwrite", area.overwrite)?;
            time("discard", area.discard)?;
            time("write", area.write)
        })
    }

    fn records(&self) -> usize {
        self.areas.len()
    }

    fn latencies(&self) -> Vec<Duration> {
        self.areas.iter().flat_map(|area| [area.overwrite, area.discard, area.write]).collect()
    }

    fn results(&self) -> Vec<NamedResult> {
        if self.areas.is_empty() && self.failed == 0 {
            return Vec::new();
        }
        let works = NamedResult::new("discard_works", ResultValue::Flag(!self.areas.is_empty()));
        let area = self.content().map(|content| {
            [
                NamedResult::new("discarded_area", ResultValue::Bytes(self.area)),
                NamedResult::new("content_after_discard", ResultValue::Word(content.as_str())),
            ]
        });
        let latency = self.latency_s().map(ResultValue::Seconds);
        let latency = latency.map(|latency| NamedResult::new("discard_latency", latency));
        let ratio = self.write_time_ratio().map(ResultValue::Ratio);
        let ratio = ratio.map(|ratio| NamedResult::new("write_time_after_to_before", ratio));
        std::iter::once(works).chain(area.into_iter().flatten()).chain(latency).chain(ratio).collect()
    }
}

/// The median; of an even number, the upper of the two middle values.
fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_lies_in_the_middle_of_the_sorted_values() {
        let of = |values: &[f64]| median(values.iter().copied());
        assert_eq!(of(&[5.0, 1.0, 4.0, 2.0, 3.0]), Some(3.0));
        assert_eq!(of(&[4.0, 1.0, 3.0, 2.0]), Some(3.0), "the upper of two");
        assert_eq!((of(&[7.0]), of(&[])), (Some(7.0), None));
    }
}
