//! The units that were written, and what opening them cost.

use super::Posterior;
use crate::statistics::{count, median, quantile};
use crate::thresholds::{LITTLE, SEVERAL, SURE};

/// The quantile of slow writes that stands for the shortest merges. Guess.
const SHORTEST_QUANTILE: f64 = 0.1;

impl Posterior {
    /// The number of units that were written and can be written again.
    #[must_use]
    pub fn writable_units(&self) -> u32 {
        u32::try_from(self.writable().count()).unwrap_or(u32::MAX)
    }

    /// The number of units that were ever written.
    pub(in crate::open_blocks) fn written_units(&self) -> u32 {
        u32::try_from(self.writes_into.len()).unwrap_or(u32::MAX)
    }

    /// The least recently written of the last `number` writable units, and the number of units written from
    /// its last write on.
    #[must_use]
    pub fn least_recent_of(&self, number: u32) -> Option<(u32, u32)> {
        let index = self.writable().nth(number.checked_sub(1)? as usize)?;
        let since = self.recent.iter().rev().position(|other| *other == index)?;
        Some((self.unit_of(index)?, u32::try_from(since + 1).unwrap_or(u32::MAX)))
    }

    /// The unit with this index.
    fn unit_of(&self, index: usize) -> Option<u32> {
        self.writes_into.iter().find(|(_, (other, _))| *other == index).map(|(unit, _)| *unit)
    }

    /// All units, the most recently written first.
    pub fn most_recent_first(&self) -> impl Iterator<Item = u32> + '_ {
        self.recent.iter().rev().filter_map(|index| self.unit_of(*index))
    }

    /// The units that may still hold one of this number of slots under random eviction, the most recently
    /// written first.
    pub fn may_be_open(&self, slots: u32) -> impl Iterator<Item = u32> + '_ {
        let stays = 1.0 - 1.0 / f64::from(slots.max(1));
        let may_be_open = move |index: &&usize| {
            let merges = self.slow_seconds.len() - self.slow_at_write.get(index).copied().unwrap_or(0);
            stays.powf(count(merges)) > LITTLE
        };
        self.recent.iter().rev().filter(may_be_open).filter_map(|index| self.unit_of(*index))
    }

    /// Whether a unit ran out of room.
    pub(in crate::open_blocks) fn has_retired(&self) -> bool {
        !self.retired.is_empty()
    }

    /// The units that can be written again, the most recently written first.
    pub(super) fn writable(&self) -> impl Iterator<Item = usize> + '_ {
        self.recent.iter().rev().copied().filter(|index| !self.retired.contains(index))
    }

    /// The most units that were seen open at once: written round-robin without a merge.
    #[must_use]
    pub fn open_at_once_max(&self) -> u32 {
        u32::try_from(self.open_at_once_max).unwrap_or(u32::MAX)
    }

    /// The number of slow writes.
    #[must_use]
    pub const fn merges(&self) -> usize {
        self.slow_seconds.len()
    }

    /// The median extra time of a slow write, seconds; `None` before the first.
    #[must_use]
    pub fn merge_seconds(&self) -> Option<f64> {
        median(&self.slow_seconds).map(|seconds| seconds - self.classifier.typical_seconds())
    }

    /// The extra time of the fastest tenth of slow writes, seconds; `None` before the first. If garbage is
    /// collected as blocks are opened, most slow writes are collections.
    #[must_use]
    pub fn shortest_merges_seconds(&self) -> Option<f64> {
        let shortest = quantile(&self.slow_seconds, SHORTEST_QUANTILE);
        shortest.map(|seconds| seconds - self.classifier.typical_seconds())
    }

    /// Whether all but one of the last openings were slow.
    #[must_use]
    pub fn openings_were_slow(&self, last: u32) -> bool {
        self.slow_openings(last) + 1 >= last as usize
    }

    /// Whether most openings beyond this number of units were fast: no block that was open before was evicted
    /// for them, or its eviction costs nothing.
    #[must_use]
    pub fn opens_fast_beyond(&self, number: u32) -> bool {
        let beyond = || self.opening_seconds.iter().skip(number as usize);
        let slow = beyond().filter(|seconds| self.is_slow_opening(**seconds)).count();
        beyond().count() >= SEVERAL && slow * 2 < beyond().count()
    }

    /// The number of slow ones among the last openings.
    pub(super) fn slow_openings(&self, last: u32) -> usize {
        let opened = self.opening_seconds.iter().rev().take(last as usize);
        opened.filter(|seconds| self.is_slow_opening(**seconds)).count()
    }

    fn is_slow_opening(&self, seconds: f64) -> bool {
        seconds > self.classifier.threshold_seconds()
    }

    /// Whether at least this number of units was opened, all but the first slowly, and all are still open.
    #[must_use]
    pub fn opens_slowly(&self, units: usize) -> bool {
        let fewer = |opened: usize| self.numbers().iter().take(opened).sum::<f64>();
        self.writes_into.len() >= units
            && self.opening_seconds.iter().skip(1).all(|seconds| self.is_slow_opening(*seconds))
            && fewer(self.writes_into.len()) < 1.0 - SURE
    }
}
