//! How a write updates the posterior.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::observation::Order;

use super::openings::Openings;
use super::{HIDDEN_MAX, HIDDEN_MIN, NEARLY_FULL_WRITES, Posterior};
use crate::open_blocks::eviction::BlockWrite;
use crate::open_blocks::hypothesis::{Hypothesis, WRITES_PER_LOGARITHM};
use crate::slow_classifier::SlowClassifier;
use crate::thresholds::NEGLIGIBLE_NATS;

/// The probability that an opening is slow if a slot was freed for it. Guess.
const FREED_SLOT_SLOW: f64 = 0.002;

impl Posterior {
    /// Continues with writes of another size and another classifier.
    pub(in crate::open_blocks) fn continue_with(&mut self, classifier: SlowClassifier, request: Bytes) {
        let longer = classifier.typical_seconds() - self.classifier.typical_seconds();
        for seconds in self.slow_seconds.iter_mut().chain(&mut self.opening_seconds) {
            *seconds = (*seconds + longer).max(classifier.typical_seconds());
        }
        self.classifier = classifier;
        self.request = Some(request);
        if let Some(erase_block) = self.erase_block {
            let writes = erase_block.as_f64() / request.as_f64();
            self.hidden_share = (NEARLY_FULL_WRITES / writes.max(1.0)).clamp(HIDDEN_MIN, HIDDEN_MAX);
        }
    }

    /// Takes a write into a unit into account. In random order, two consecutive writes into one unit are a
    /// pair, of which the slower one counts: the first one alone may not open the unit.
    pub fn write(&mut self, unit: u32, latency: Duration) {
        if self.order == Order::Linear {
            return self.take(unit, latency, None);
        }
        match self.unpaired.take() {
            Some((other, first)) if other == unit => {
                let (faster, hidden) = (self.classifier.probability(first.min(latency)), self.hidden_share);
                if self.writes_into.contains_key(&unit) {
                    self.hypotheses.iter_mut().for_each(|each| each.weigh_faster(faster, hidden));
                }
                self.take(unit, first.max(latency), Some((first, latency)));
            }
            unpaired => {
                self.unpaired = Some((unit, latency));
                unpaired.into_iter().for_each(|(other, first)| self.take(other, first, None));
            }
        }
    }

    /// Takes the last random write into account without a second one.
    pub fn finish_pair(&mut self) {
        if let Some((unit, latency)) = self.unpaired.take() {
            self.take(unit, latency, None);
        }
    }

    fn take(&mut self, unit: u32, latency: Duration, pair: Option<(Duration, Duration)>) {
        let slow = self.classifier.probability(latency);
        let has_freed_slot = std::mem::take(&mut self.last_is_retired);
        let pair_slow = pair
            .map(|(first, second)| (self.classifier.probability(first), self.classifier.probability(second)));
        let write = BlockWrite { pair_slow, ..self.block_write(unit, slow > 0.5, pair.is_some()) };
        for hypothesis in &mut self.hypotheses {
            hypothesis.weigh(write, slow, self.hidden_share);
        }
        self.slow_probabilities.push(slow);
        if self.writes().is_multiple_of(WRITES_PER_LOGARITHM) {
            self.drop_improbable();
        }
        if slow > 0.5 {
            self.slow_seconds.push(latency.as_secs_f64());
        }
        self.slow_at_write.insert(write.unit, self.slow_seconds.len());
        if write.writes_before == 0 && !has_freed_slot {
            self.opening_seconds.push(latency.as_secs_f64());
            self.openings.take(slow > 0.5);
            pair_slow.into_iter().for_each(|(first, _)| self.first_openings.take(first > 0.5));
        }
    }

    /// Drops hypotheses that have become impossible.
    fn drop_improbable(&mut self) {
        let weights: Vec<f64> = self.hypotheses.iter_mut().map(Hypothesis::collect_factors).collect();
        let best = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut weights = weights.into_iter();
        self.hypotheses.retain(|_| weights.next().is_some_and(|weight| weight > best - NEGLIGIBLE_NATS));
    }

    fn block_write(&mut self, unit: u32, slow: bool, is_pair: bool) -> BlockWrite {
        let known = self.writes_into.len();
        let index = self.writes_into.get(&unit).map(|(index, _)| *index);
        if let Some(again) = index.filter(|_| self.order == Order::Linear) {
            self.retire_skipped(again);
        }
        let entry = self.writes_into.entry(unit).or_insert((known, 0));
        let (unit, writes_before) = *entry;
        entry.1 += 1 + u32::from(is_pair);
        if self.filled.len() <= unit {
            self.filled.resize(unit + 1, Bytes::ZERO);
        }
        self.filled[unit] += self.request.unwrap_or(Bytes::ZERO);
        let last = self.recent.iter().rposition(|other| *other == unit);
        let since = &self.recent[last.map_or(0, |last| last + 1)..];
        let distance = since.len();
        let distance_writable = since.iter().filter(|other| !self.retired.contains(other)).count();
        if let Some(last) = last {
            self.recent.remove(last);
        }
        self.recent.push(unit);
        BlockWrite {
            unit,
            writes_before,
            distance,
            distance_writable,
            is_pair,
            open_at_once: self.count_open(unit, slow || is_pair, slow),
            pair_slow: None,
            first_opening_slow: self.next_opening_slow(self.first_openings),
            opening_slow: self.next_opening_slow(self.openings),
        }
    }

    /// The probability that the next opening is slow while slots are left.
    fn next_opening_slow(&self, openings: Openings) -> f64 {
        if self.frees_slots { FREED_SLOT_SLOW } else { openings.next_slow(self.order) }
    }

    /// The number of units that are open at once if this write is fast: those written since the last merge.
    /// In random order a unit must have been written twice since.
    fn count_open(&mut self, unit: usize, is_open: bool, slow: bool) -> usize {
        if slow {
            self.open_at_once.clear();
            self.written_once.clear();
        }
        if is_open || self.order == Order::Linear || !self.written_once.insert(unit) {
            self.open_at_once.insert(unit);
        }
        self.open_at_once_max = self.open_at_once_max.max(self.open_at_once.len());
        self.open_at_once.len()
    }

    /// Removes a unit without room for another write: it may still be open, but that cannot be tested.
    pub fn retire(&mut self, unit: u32) {
        if let Some((index, _)) = self.writes_into.get(&unit).copied() {
            self.retire_index(index);
        }
    }

    fn retire_index(&mut self, index: usize) {
        if self.retired.insert(index) {
            self.last_is_retired = self.recent.last() == Some(&index);
            self.hypotheses.iter_mut().for_each(|each| each.slots.retire(index));
        }
    }

    /// Retires the full units that were skipped: those after `index` in the round-robin turn.
    fn retire_skipped(&mut self, index: usize) {
        while let Some(next) = self.writable().take_while(|other| *other != index).last()
            && self.is_full(next)
        {
            self.retire_index(next);
        }
    }

    /// Whether the only sequential write left in this unit is the last one, which would reach its end.
    fn is_full(&self, index: usize) -> bool {
        let sizes = self.erase_block.zip(self.request);
        sizes.is_some_and(|(erase_block, request)| self.filled[index] + request * 2 > erase_block)
    }
}
