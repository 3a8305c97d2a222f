//! When a comparison needs no further round.

use flashscope_record::{Trial, TrialOperation};

use super::summary::{Cell, Summary};
use crate::thresholds::NO_DIFFERENCE;

/// Whether it is clear for each kind of files which filesystem writes them fastest: the interval of best
/// against second excludes that they are equal, or that they differ by more than a tenth. False without
/// trials.
#[must_use]
pub fn is_clear(trials: &[Trial]) -> bool {
    let summary = Summary::of(trials);
    let workloads = summary.workloads();
    let is_clear_for = |workload| {
        let mut writes = summary.cells.iter().filter(|cell: &&Cell| cell.is(workload, TrialOperation::Write));
        match (writes.next(), writes.next()) {
            (Some(best), Some(second)) => {
                let ratio = best.estimate.compared_with(&second.estimate);
                ratio.is_shown() || ratio.high < NO_DIFFERENCE
            }
            _ => true,
        }
    };
    !workloads.is_empty() && workloads.into_iter().all(is_clear_for)
}

#[cfg(test)]
mod tests {
    use flashscope_record::{TrialWorkload, Writeback};

    use super::*;
    use crate::trials::summary::tests::trial;

    fn trials(variant: &str, seconds: [f64; 3]) -> impl Iterator<Item = Trial> {
        seconds.into_iter().map(move |seconds| trial(variant, Writeback::Host, seconds))
    }

    #[test]
    fn clear_is_a_difference_that_is_shown_or_too_small_to_matter() {
        let compared = |other: [f64; 3]| {
            let all: Vec<Trial> = trials("ext4", [10.0, 10.1, 9.9]).chain(trials("vfat", other)).collect();
            is_clear(&all)
        };
        assert!(compared([40.0, 39.0, 41.0]), "four times");
        assert!(!compared([10.0, 14.0, 9.0]), "overlapping");
        assert!(!is_clear(&[]));
    }

    #[test]
    fn every_kind_of_files_must_be_clear() {
        let mut all: Vec<Trial> =
            trials("ext4", [10.0, 10.1, 9.9]).chain(trials("vfat", [40.0, 39.0, 41.0])).collect();
        assert!(is_clear(&all));
        let unclear = |variant, seconds| {
            trials(variant, seconds).map(|trial| Trial { workload: TrialWorkload::Large, ..trial })
        };
        let more = unclear("ext4", [10.0, 20.0, 15.0]).chain(unclear("vfat", [12.0, 24.0, 11.0]));
        all.extend(more.collect::<Vec<_>>());
        assert!(!is_clear(&all));
    }
}
