//! The writes of the search in each order, and the merges among them.

use std::borrow::Cow;
use std::time::Duration;

use flashscope_record::observation::{Merges, Order};

use super::kind::LayerKind;
use super::weighed::Search;
use crate::open_blocks::eviction::EvictionLaw;
use crate::open_blocks::evidence::WriteSequence;
use crate::slow_classifier::SlowClassifier;
use crate::statistics::{count, median};

impl<'a> Search<'a> {
    /// The most units that were written round-robin.
    pub fn units_max(&self, order: Order) -> u32 {
        round_robin_max(&self.of(order), order)
    }

    /// The classifier for the last requests of the sequential search.
    pub fn sequential_classifier(&self) -> SlowClassifier {
        let last = self.sequences.last().filter(|_| self.data.led);
        last.map_or(self.classifier, |sequence| sequence.classifier.for_merges(self.linear.merge_seconds()))
    }

    /// The parts of the search in this order.
    pub(super) fn of(&self, order: Order) -> Cow<'_, [WriteSequence<'a>]> {
        match order {
            Order::Linear => Cow::Borrowed(&self.sequences),
            Order::Random => {
                let cells = self.freed_cells.unwrap_or(&self.data.cells);
                Cow::Owned(vec![WriteSequence::new(cells, self.classifier)])
            }
        }
    }

    /// All writes of the search: the number of units of their round, and the duration of each merge among
    /// them, seconds.
    pub(super) fn judged(&self, order: Order) -> Vec<(u32, Option<f64>)> {
        let of_part = |sequence: &WriteSequence<'a>| {
            let classifier = sequence.classifier.at_least_as_strict_as(self.classifier);
            let merge = move |latency: Duration| {
                classifier.is_slow(latency).then(|| latency.as_secs_f64() - classifier.typical_seconds())
            };
            sequence.writes(order).map(move |(open_units, _, latency)| (open_units, merge(latency)))
        };
        self.of(order).iter().flat_map(of_part).collect()
    }

    /// The last writes of the search, of one size, with the number of units of their round.
    fn searched(&self, order: Order) -> impl Iterator<Item = (u32, Duration)> + '_ {
        let last = self.of(order).last().copied();
        last.into_iter()
            .flat_map(move |sequence| sequence.writes(order))
            .map(|(units, _, latency)| (units, latency))
    }

    /// Whether anything was written in this order.
    pub fn is_tried(&self, order: Order) -> bool {
        self.searched(order).next().is_some()
    }

    /// The median duration of a merge, seconds, and the number of merges with more units than fit.
    pub fn merge(&self, order: Order, fits: u32) -> Option<(f64, usize)> {
        let slow = self.merges_s(order, fits);
        median(&slow).map(|seconds| (seconds, slow.len()))
    }

    /// The duration of each merge with more units than fit, seconds.
    fn merges_s(&self, order: Order, fits: u32) -> Vec<f64> {
        let beyond = self.judged(order).into_iter().filter(|(open_units, _)| *open_units > fits);
        beyond.filter_map(|(_, merge)| merge).collect()
    }

    /// What is known of merges.
    pub fn merges(&self) -> Merges {
        let linear = self.fits(Order::Linear);
        let seconds = match linear {
            Some(fits) => self.merge(Order::Linear, fits).map(|(seconds, _)| seconds),
            None => self.linear.merge_seconds(),
        };
        Merges {
            every_switch: self.linear.eviction_probability(EvictionLaw::Lru),
            takes: seconds.filter(|seconds| *seconds > 0.0).map(Duration::from_secs_f64),
            is_one_run: matches!(self.kind, LayerKind::OneRun),
            too_many: linear.or(self.between(Order::Linear).map(|(_, high)| high)).map(|fits| fits + 1),
        }
    }

    /// The median write into as many units as fit, and the mean write into more, seconds.
    pub fn contrast(&self, order: Order, fits: u32) -> (Option<f64>, Option<f64>) {
        let seconds = |wanted: &dyn Fn(u32) -> bool| -> Vec<f64> {
            let of = self.searched(order).filter(|(open_units, _)| wanted(*open_units));
            of.map(|(_, latency)| latency.as_secs_f64()).collect()
        };
        let within = median(&seconds(&|open_units| open_units <= fits));
        let beyond = seconds(&|open_units| open_units == fits + 1);
        let beyond = if beyond.is_empty() { seconds(&|open_units| open_units > fits) } else { beyond };
        (within, (!beyond.is_empty()).then(|| beyond.iter().sum::<f64>() / count(beyond.len())))
    }
}

/// The most units that were written round-robin.
pub fn round_robin_max(sequences: &[WriteSequence<'_>], order: Order) -> u32 {
    sequences
        .iter()
        .flat_map(|sequence| sequence.writes(order))
        .map(|(open_units, ..)| open_units)
        .max()
        .unwrap_or(0)
}
