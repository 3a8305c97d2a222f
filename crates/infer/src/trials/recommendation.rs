//! The fastest filesystem for each kind of files.

use flashscope_record::{TrialOperation, TrialWorkload};

use super::interval::Comparison;
use super::summary::Cell;
use crate::thresholds::NOTICED;

/// The filesystems that sticks and cards are sold with, as desktops and servers mount them.
pub const AS_SOLD: [&str; 3] = ["vfat", "vfat-flush", "exfat"];
/// The filesystems that `plan` makes. Only these are recommended.
pub const PLANNED: [&str; 8] = ["ext4", "vfat", "exfat", "f2fs", "xfs", "btrfs", "ntfs", "nilfs2"];

/// The fastest filesystem for one kind of files.
#[derive(Debug, Clone, PartialEq)]
pub struct Recommendation {
    /// The files.
    pub workload: TrialWorkload,
    /// The filesystem that writes them fastest, of those that `plan` makes.
    pub fastest: String,
    /// Those from which the trials do not distinguish it.
    pub equals: Vec<String>,
    /// Those that are shown to be faster, which `plan` does not make.
    pub faster: Vec<String>,
    /// The slowest of those that sticks are sold with; the slowest of all if there is none of these. `None`
    /// if nothing else was tried.
    pub baseline: Option<String>,
    /// How much faster it is than the baseline.
    pub gain: Option<Comparison>,
    /// The filesystem that reads fastest, and how much faster, if that is shown and worth mentioning.
    pub faster_read: Option<(String, Comparison)>,
}

impl Recommendation {
    /// Whether it is shown that the fastest is faster than the baseline.
    #[must_use]
    pub fn has_gain(&self) -> bool {
        self.gain.is_some_and(|gain| gain.is_shown())
    }
}

/// Whether `plan` makes this filesystem, in whatever way it is mounted: `ext4-stripe` is an ext4.
#[must_use]
pub fn is_planned(variant: &str) -> bool {
    variant.split('-').next().is_some_and(|name| PLANNED.contains(&name))
}

/// The recommendation for these files; `None` if no write to a filesystem that `plan` makes was timed.
pub fn recommend(cells: &[Cell], workload: TrialWorkload) -> Option<Recommendation> {
    let of = |operation| cells.iter().filter(move |cell| cell.is(workload, operation));
    let fastest = fastest(of(TrialOperation::Write).filter(|cell| is_planned(&cell.variant)))?;
    let others = || of(TrialOperation::Write).filter(|cell| cell.variant != fastest.variant);
    let compared = |cell: &Cell| fastest.estimate.compared_with(&cell.estimate);
    let is_faster = |cell: &&Cell| {
        !is_planned(&cell.variant) && cell.estimate.compared_with(&fastest.estimate).is_shown()
    };
    let as_sold = others().filter(|cell| AS_SOLD.contains(&cell.variant.as_str()));
    let baseline = slowest(as_sold).or_else(|| slowest(others().filter(|cell| !is_faster(cell))));
    let equals = others().filter(|cell| !compared(cell).is_shown() && !is_faster(cell));
    Some(Recommendation {
        workload,
        fastest: fastest.variant.clone(),
        equals: equals.map(|cell| cell.variant.clone()).collect(),
        faster: others().filter(is_faster).map(|cell| cell.variant.clone()).collect(),
        baseline: baseline.map(|cell| cell.variant.clone()),
        gain: baseline.map(compared),
        faster_read: faster_read(&of(TrialOperation::Read).collect::<Vec<_>>(), &fastest.variant),
    })
}

fn fastest<'a>(cells: impl Iterator<Item = &'a Cell>) -> Option<&'a Cell> {
    cells.min_by(|one, other| one.estimate.seconds.total_cmp(&other.estimate.seconds))
}

fn slowest<'a>(cells: impl Iterator<Item = &'a Cell>) -> Option<&'a Cell> {
    cells.max_by(|one, other| one.estimate.seconds.total_cmp(&other.estimate.seconds))
}

/// The fastest reader, if it is shown to be faster than `variant`.
fn faster_read(reads: &[&Cell], variant: &str) -> Option<(String, Comparison)> {
    let own = reads.iter().find(|cell| cell.variant == variant)?;
    let best = fastest(reads.iter().copied())?;
    let comparison = best.estimate.compared_with(&own.estimate);
    let is_worth = comparison.is_shown() && comparison.ratio > NOTICED;
    is_worth.then(|| (best.variant.clone(), comparison))
}
