//! Layouts tried on the twin of a stick: their times, and what each gains over the present one.
//!
//! Two errors are independent and add as squares of logarithms: the spread of the recordings, and the error
//! of the twin ([`twin_error`](super::twin_error)).

use std::collections::BTreeMap;

use flashscope_device::Bytes;
use flashscope_record::finding::Confidence;
use flashscope_record::{Trial, TrialOperation, TrialWorkload};

use super::interval::{Comparison, Estimate};
use super::recommendation::is_planned;
use super::twin_error::{self, TwinFit};
use crate::statistics::student_within;

/// A filesystem with its options, and where its partition starts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Layout {
    /// The filesystem with its options, such as `ext4-stripe`.
    pub variant: String,
    /// The first byte of the partition.
    pub start: Bytes,
}

/// Plans start their first partition at a multiple of the erase block, and not before this or the first
/// erase block.
const PLANNED_START_MIN: Bytes = Bytes::mib(1);

impl Layout {
    /// Whether `plan` makes it on a stick with this erase block.
    #[must_use]
    pub fn is_planned(&self, erase_block: Bytes) -> bool {
        let start_min = PLANNED_START_MIN.min(erase_block);
        is_planned(&self.variant) && self.start >= start_min && self.start.is_multiple_of(erase_block)
    }
}

/// The predicted time of one layout with one kind of files.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The layout.
    pub layout: Layout,
    /// The files.
    pub workload: TrialWorkload,
    /// The direction.
    pub operation: TrialOperation,
    /// The time on the twin, with the spread of the recordings.
    pub estimate: Estimate,
    /// The lower end of the interval on the stick, seconds.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// How much faster it is than the baseline; `None` if that was not tried with these files.
    pub gain: Option<Comparison>,
}

/// The layout with the largest gain for one kind of files, of those that `plan` makes.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// The files.
    pub workload: TrialWorkload,
    /// The layout.
    pub layout: Layout,
    /// How much faster it writes than the baseline; `None` if that was not tried with these files.
    pub gain: Option<Comparison>,
    /// How much faster it reads than the baseline.
    pub read_gain: Option<Comparison>,
}

/// What other layouts would gain.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// The layout that gains count from.
    pub baseline: Layout,
    /// Every layout, by files and direction, the largest gain first; without gains, the shortest time.
    pub predictions: Vec<Prediction>,
    /// The best layout for each kind of files.
    pub best: Vec<Best>,
}

/// The trials of one layout, kind of files and direction.
type Key<'a> = (TrialWorkload, TrialOperation, &'a str, Bytes);

impl Forecast {
    /// The forecast of these trials on a twin that fits so well. Trials of one layout differ in round and
    /// writeback only. `erase_block`: of the stick, at which plans start their partitions.
    #[must_use]
    pub fn of(trials: &[Trial], baseline: &Layout, fit: TwinFit, erase_block: Bytes) -> Self {
        let mut groups: BTreeMap<Key<'_>, Vec<&Trial>> = BTreeMap::new();
        for trial in trials {
            let key = (trial.workload, trial.operation, trial.variant.as_str(), trial.start);
            groups.entry(key).or_default().push(trial);
        }
        let estimates: BTreeMap<Key<'_>, Estimate> =
            groups.into_iter().filter_map(|(key, trials)| Some((key, Estimate::of(&trials)?))).collect();
        let base = |workload, operation| {
            estimates.get(&(workload, operation, baseline.variant.as_str(), baseline.start))
        };
        let mut predictions: Vec<Prediction> = estimates
            .iter()
            .map(|(key, estimate)| prediction(*key, estimate, base(key.0, key.1), fit))
            .collect();
        predictions.sort_by(|one, other| {
            let key = |each: &Prediction| (each.workload, each.operation);
            let gain = |each: &Prediction| each.gain.map_or(0.0, |gain| gain.ratio);
            let gain = gain(other).total_cmp(&gain(one));
            let seconds = one.estimate.seconds.total_cmp(&other.estimate.seconds);
            key(one).cmp(&key(other)).then(gain).then(seconds).then(one.layout.cmp(&other.layout))
        });
        let best = TrialWorkload::STANDARD
            .into_iter()
            .filter_map(|workload| best(&predictions, workload, erase_block));
        Self { baseline: baseline.clone(), best: best.collect(), predictions }
    }

    /// The prediction of a layout.
    #[must_use]
    pub fn prediction(
        &self,
        layout: &Layout,
        workload: TrialWorkload,
        operation: TrialOperation,
    ) -> Option<&Prediction> {
        self.predictions.iter().find(|each| each.layout == *layout && each.is(workload, operation))
    }
}

impl Prediction {
    /// Whether it is of these files and this direction.
    #[must_use]
    pub fn is(&self, workload: TrialWorkload, operation: TrialOperation) -> bool {
        (self.workload, self.operation) == (workload, operation)
    }
}

fn prediction(key: Key<'_>, estimate: &Estimate, base: Option<&Estimate>, fit: TwinFit) -> Prediction {
    let (workload, operation, variant, start) = key;
    let seconds = estimate.seconds;
    let error = twin_error::of_time(fit, workload, operation);
    let [low, high] = [estimate.low / seconds, estimate.high / seconds].map(|end| end.ln().hypot(error));
    Prediction {
        layout: Layout { variant: variant.to_owned(), start },
        workload,
        operation,
        estimate: estimate.clone(),
        low: seconds * (-low).exp(),
        high: seconds * high.exp(),
        gain: base.map(|base| {
            let error = |ratio| twin_error::of_gain(fit, workload, operation, ratio);
            // A layout compared with itself: the twin has no part in that.
            if std::ptr::eq(base, estimate) { EQUAL } else { widened(estimate.compared_with(base), error) }
        }),
    }
}

/// Of a layout compared with itself.
const EQUAL: Comparison = Comparison { ratio: 1.0, low: 1.0, high: 1.0, confidence: Confidence::new(0.5) };

/// A comparison of recordings with the error of the twin: the half of its 95 % interval, as a logarithm.
fn widened(comparison: Comparison, error: impl Fn(f64) -> f64) -> Comparison {
    let Comparison { ratio, low, high, .. } = comparison;
    let error = error(ratio);
    let down = (ratio / low).ln().hypot(error);
    let up = (high / ratio).ln().hypot(error);
    // Many degrees of freedom: the twin's error was measured on many sticks.
    let errors = 1.96 * ratio.ln() / if ratio >= 1.0 { down } else { up };
    let faster = f64::midpoint(1.0, student_within(1000.0, errors.abs()) * errors.signum());
    Comparison {
        ratio,
        low: ratio * (-down).exp(),
        high: ratio * up.exp(),
        confidence: Confidence::new(faster),
    }
}

fn best(predictions: &[Prediction], workload: TrialWorkload, erase_block: Bytes) -> Option<Best> {
    let of = |operation| predictions.iter().filter(move |each| each.is(workload, operation));
    let fastest = of(TrialOperation::Write).find(|each| each.layout.is_planned(erase_block))?;
    let read = of(TrialOperation::Read).find(|each| each.layout == fastest.layout);
    Some(Best {
        workload,
        layout: fastest.layout.clone(),
        gain: fastest.gain,
        read_gain: read.and_then(|read| read.gain),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_plan_makes_is_the_best_layout() {
        let planned =
            |variant: &str, start| Layout { variant: variant.to_owned(), start }.is_planned(Bytes::mib(4));
        assert!(planned("ext4-stripe", Bytes::mib(4)) && planned("vfat-flush", Bytes::mib(8)));
        assert!(!planned("ext4", Bytes::new(63 * 512)) && !planned("nilfs2", Bytes::mib(1)));
        assert!(!planned("reiserfs", Bytes::mib(4)) && !planned("ext2", Bytes::mib(4)));
    }
}
