//! All trials of a comparison: the time of each filesystem with each kind of files, and what to take.

use std::collections::BTreeMap;

use flashscope_record::{Trial, TrialOperation, TrialWorkload};

use super::interval::Estimate;
use super::recommendation::{Recommendation, recommend};

/// One filesystem, one kind of files, one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The filesystem with its options.
    pub variant: String,
    /// The files.
    pub workload: TrialWorkload,
    /// The direction.
    pub operation: TrialOperation,
    /// The time.
    pub estimate: Estimate,
}

/// The summary of a comparison.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// The cells by files and direction, the fastest filesystem first.
    pub cells: Vec<Cell>,
    /// What to take for each kind of files.
    pub recommendations: Vec<Recommendation>,
}

impl Cell {
    /// Whether it is one of these files and this direction.
    #[must_use]
    pub fn is(&self, workload: TrialWorkload, operation: TrialOperation) -> bool {
        (self.workload, self.operation) == (workload, operation)
    }
}

impl Summary {
    /// The summary of these trials. Trials of one cell differ in round and writeback only.
    #[must_use]
    pub fn of(trials: &[Trial]) -> Self {
        let mut groups: BTreeMap<(TrialWorkload, TrialOperation, &str), Vec<&Trial>> = BTreeMap::new();
        for trial in trials {
            groups.entry((trial.workload, trial.operation, &trial.variant)).or_default().push(trial);
        }
        let mut cells: Vec<Cell> = groups
            .into_iter()
            .filter_map(|((workload, operation, variant), trials)| {
                let estimate = Estimate::of(&trials)?;
                Some(Cell { variant: variant.to_owned(), workload, operation, estimate })
            })
            .collect();
        cells.sort_by(|one, other| {
            let key = |cell: &Cell| (cell.workload, cell.operation);
            key(one)
                .cmp(&key(other))
                .then(one.estimate.seconds.total_cmp(&other.estimate.seconds))
                .then(one.variant.cmp(&other.variant))
        });
        let recommendations =
            workloads(&cells).into_iter().filter_map(|workload| recommend(&cells, workload)).collect();
        Self { cells, recommendations }
    }

    /// The kinds of files that were tried.
    #[must_use]
    pub fn workloads(&self) -> Vec<TrialWorkload> {
        workloads(&self.cells)
    }

    /// The cell of a filesystem.
    #[must_use]
    pub fn cell(&self, variant: &str, workload: TrialWorkload, operation: TrialOperation) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.variant == variant && cell.is(workload, operation))
    }
}

fn workloads(cells: &[Cell]) -> Vec<TrialWorkload> {
    let mut workloads: Vec<TrialWorkload> = cells.iter().map(|cell| cell.workload).collect();
    workloads.sort_unstable();
    workloads.dedup();
    workloads
}

#[cfg(test)]
pub(super) mod tests {
    use flashscope_device::Bytes;
    use flashscope_record::Writeback;

    use super::*;

    /// One trial that writes small files.
    pub fn trial(variant: &str, writeback: Writeback, seconds: f64) -> Trial {
        Trial {
            variant: variant.to_owned(),
            workload: TrialWorkload::Small,
            operation: TrialOperation::Write,
            start: Bytes::mib(4),
            round: 1,
            writeback,
            seconds,
        }
    }

    fn three(variant: &str, seconds: f64) -> Vec<Trial> {
        [1.0, 1.02, 0.98].map(|factor| trial(variant, Writeback::Late, seconds * factor)).to_vec()
    }

    fn read(trials: Vec<Trial>) -> Vec<Trial> {
        trials.into_iter().map(|trial| Trial { operation: TrialOperation::Read, ..trial }).collect()
    }

    #[test]
    fn fastest_is_recommended_over_the_slowest_that_sticks_are_sold_with() {
        let trials = [three("ntfs", 900.0), three("vfat", 220.0), three("exfat", 210.0), three("ext4", 10.0)];
        let summary = Summary::of(&trials.concat());
        let order: Vec<&str> = summary.cells.iter().map(|cell| cell.variant.as_str()).collect();
        assert_eq!(order, ["ext4", "exfat", "vfat", "ntfs"]);
        let [recommendation] = summary.recommendations.as_slice() else { panic!("{summary:?}") };
        assert_eq!(recommendation.fastest, "ext4");
        assert_eq!(recommendation.baseline.as_deref(), Some("vfat"));
        assert!(recommendation.equals.is_empty() && recommendation.has_gain());
        assert!((recommendation.gain.unwrap().ratio - 22.0).abs() < 0.1);
    }

    #[test]
    fn a_filesystem_that_no_plan_makes_is_not_recommended() {
        let trials = [three("reiserfs", 1.0), three("ext4-stripe", 10.0), three("vfat", 220.0)];
        let recommendation = Summary::of(&trials.concat()).recommendations.remove(0);
        assert_eq!((recommendation.fastest.as_str(), recommendation.has_gain()), ("ext4-stripe", true));
        assert_eq!((recommendation.faster, recommendation.equals), (vec!["reiserfs".to_owned()], vec![]));
        // What is faster is no baseline either.
        let alone = Summary::of(&[three("reiserfs", 1.0), three("vfat", 220.0)].concat());
        let [alone] = alone.recommendations.as_slice() else { panic!("{alone:?}") };
        assert_eq!((alone.fastest.as_str(), &alone.baseline, alone.gain), ("vfat", &None, None));
        assert_eq!(alone.faster, ["reiserfs"]);
        assert!(Summary::of(&three("reiserfs", 1.0)).recommendations.is_empty());
    }

    #[test]
    fn filesystems_that_the_trials_do_not_distinguish_are_named() {
        let trials = [three("ext4", 10.0), three("btrfs", 10.1), three("vfat", 10.2)];
        let recommendation = Summary::of(&trials.concat()).recommendations.remove(0);
        assert_eq!(recommendation.equals, ["btrfs", "vfat"]);
        assert!(!recommendation.has_gain());
    }

    #[test]
    fn fastest_as_sold_is_compared_with_another_one_as_sold_or_else_with_the_slowest() {
        let baseline =
            |trials: &[Vec<Trial>]| Summary::of(&trials.concat()).recommendations[0].baseline.clone();
        let sold = [three("vfat", 10.0), three("exfat", 11.0), three("ntfs", 99.0)];
        assert_eq!(baseline(&sold).as_deref(), Some("exfat"));
        assert_eq!(baseline(&[three("vfat", 10.0), three("ntfs", 99.0)]).as_deref(), Some("ntfs"));
        assert_eq!(baseline(&[three("vfat", 10.0)]), None);
    }

    #[test]
    fn slower_reads_of_the_fastest_writer_are_reported() {
        let writes = [three("nilfs2", 10.0), three("ext4", 20.0)];
        let slow = [writes.concat(), read(three("nilfs2", 9.0)), read(three("ext4", 3.0))].concat();
        let (faster, by) = Summary::of(&slow).recommendations.remove(0).faster_read.unwrap();
        assert_eq!(faster, "ext4");
        assert!((by.ratio - 3.0).abs() < 0.01);
        let equal = [writes.concat(), read(three("nilfs2", 3.0)), read(three("ext4", 3.0))].concat();
        assert_eq!(Summary::of(&equal).recommendations[0].faster_read, None);
    }

    #[test]
    fn without_trials_there_is_nothing() {
        assert_eq!(Summary::of(&[]), Summary::default());
        let zero = [trial("ext4", Writeback::Late, 0.0)];
        assert_eq!(Summary::of(&zero), Summary::default());
    }
}
