//! How many files fit space and time: chosen once, and the same for all filesystems.

use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_device::host::FreshSpace;
use flashscope_record::TrialWorkload;
use flashscope_record::observation::FilesPart;

use super::{FileModel, Shortage};
use crate::workload::COUNT_MIN;

/// The files of a pilot: enough that a flush does not dominate. Guess.
const PILOT_FILES: usize = 64;
/// The large file of a pilot: it takes 2 s at 4 MB/s.
pub(super) const PILOT_LARGE: Bytes = Bytes::mib(8);
/// The size of a pilot's files where no model has as many: that of a source tree.
const PILOT_SIZE: Bytes = Bytes::kib(12);
/// The share of the free space that files may take. Filesystems slow down when they are full, and their
/// tables need space. Guess.
const SPACE_SHARE: f64 = 0.7;

/// One filesystem with few files.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pilot {
    space: FreshSpace,
    /// The time to make and mount it, seconds.
    prepare_s: f64,
    /// The time to write and read one more file, seconds.
    each_file_s: f64,
    /// The time to write and read one more byte of a large file, seconds.
    each_byte_s: f64,
}

impl Pilot {
    pub(super) fn new(space: FreshSpace, prepare: Duration, small: &FilesPart, large: &FilesPart) -> Self {
        let seconds = |part: &FilesPart| part.durable_s() + part.read_s;
        Self {
            space,
            prepare_s: prepare.as_secs_f64(),
            each_file_s: seconds(small) / f64::from(small.files.max(1)),
            each_byte_s: seconds(large) / PILOT_LARGE.as_f64(),
        }
    }

    /// The expected time of a trial.
    pub(super) fn seconds(&self, model: &FileModel) -> f64 {
        self.prepare_s + self.file_seconds(model)
    }

    fn file_seconds(&self, model: &FileModel) -> f64 {
        self.each_file_s * f64::from(model.count()) + self.each_byte_s * model.bytes().as_f64()
    }

    /// The first files of a model that fit.
    fn fitting(&self, model: &FileModel) -> usize {
        let cluster = self.space.cluster.max(Bytes::new(1));
        let free = self.space.free.as_f64() * SPACE_SHARE;
        let mut taken = Bytes::ZERO;
        let fits = |size: &&Bytes| {
            taken += size.round_up(cluster);
            taken.as_f64() <= free
        };
        let by_space = model.sizes.iter().take_while(fits).count();
        // Folders take inodes as well.
        let names = |files: u64| (files as f64 * SPACE_SHARE) as usize;
        self.space.files.map_or(by_space, |files| by_space.min(names(files)))
    }
}

/// The sizes of a pilot's files: the first ones of the model with most files.
pub(super) fn pilot_sizes(models: &[FileModel]) -> Vec<Bytes> {
    let model = models.iter().max_by_key(|model| model.sizes.len());
    let sizes = model.filter(|model| model.sizes.len() >= PILOT_FILES);
    sizes.map_or_else(|| vec![PILOT_SIZE; PILOT_FILES], |model| model.sizes[..PILOT_FILES].to_vec())
}

/// A change of a model: fewer files, or `None` if even the fewest do not fit.
type Change = (TrialWorkload, Option<(u32, Shortage)>);

/// The changes that make all models fit the space of every filesystem, and one round of all trials the time
/// `round`. Each model gets an equal share of the time; what one does not need, the larger ones get.
pub(super) fn choose_counts(models: &[FileModel], pilots: &[Pilot], round: Duration) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let mut fitting: Vec<FileModel> = Vec::new();
    for model in models {
        let count = pilots.iter().map(|pilot| pilot.fitting(model)).min().unwrap_or(model.sizes.len());
        if count < model.sizes.len().min(COUNT_MIN as usize) {
            changes.push((model.workload, None));
            continue;
        }
        if count < model.sizes.len() {
            changes.push((model.workload, Some((number(count), Shortage::Space))));
        }
        fitting.push(FileModel { sizes: model.sizes[..count].to_vec(), ..model.clone() });
    }
    let prepare_s: f64 = pilots.iter().map(|pilot| pilot.prepare_s).sum();
    let file_seconds = |model: &FileModel| pilots.iter().map(|pilot| pilot.file_seconds(model)).sum::<f64>();
    fitting.sort_by(|one, other| file_seconds(one).total_cmp(&file_seconds(other)));
    let mut left_s = round.as_secs_f64() - prepare_s * fitting.len() as f64;
    let mut models_left = fitting.len();
    for model in &fitting {
        let (share_s, needed_s) = (left_s.max(0.0) / models_left as f64, file_seconds(model));
        models_left -= 1;
        if needed_s <= share_s || model.sizes.len() <= COUNT_MIN as usize {
            left_s -= needed_s;
            continue;
        }
        left_s -= share_s;
        let count = ((model.sizes.len() as f64 * share_s / needed_s) as usize).max(COUNT_MIN as usize);
        if count < model.sizes.len() {
            changes.retain(|(workload, _)| *workload != model.workload);
            changes.push((model.workload, Some((number(count), Shortage::Time))));
        }
    }
    changes
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pilot(free: Bytes, files: Option<u64>) -> Pilot {
        let space = FreshSpace { free, cluster: Bytes::kib(4), files };
        Pilot { space, prepare_s: 1.0, each_file_s: 0.01, each_byte_s: 1e-7 }
    }

    fn model(workload: TrialWorkload, count: usize, size: Bytes) -> FileModel {
        FileModel { workload, sizes: vec![size; count], files_per_directory: 10 }
    }

    fn models() -> [FileModel; 3] {
        [
            model(TrialWorkload::Tree, 33_000, Bytes::kib(12)),
            model(TrialWorkload::Large, 1, Bytes::mib(64)),
            model(TrialWorkload::Small, 2000, Bytes::new(800)),
        ]
    }

    #[test]
    fn all_files_are_kept_where_space_and_time_suffice() {
        let changes = choose_counts(&models(), &[pilot(Bytes::gib(4), None)], Duration::from_secs(900));
        assert_eq!(changes, []);
    }

    /// Seven files of a cluster each take exactly seven tenths of ten clusters.
    #[test]
    fn files_that_fill_their_share_of_the_space_fit() {
        let (small, time) = (model(TrialWorkload::Small, 7, Bytes::kib(4)), Duration::from_secs(900));
        let changes =
            |kib| choose_counts(std::slice::from_ref(&small), &[pilot(Bytes::kib(kib), None)], time);
        assert_eq!(changes(40), []);
        assert_eq!(changes(39), [(TrialWorkload::Small, None)]);
    }

    #[test]
    fn slow_stick_shortens_the_tree_and_keeps_what_fits_beside_it() {
        let changes = choose_counts(&models(), &[pilot(Bytes::gib(4), None)], Duration::from_secs(200));
        let [(TrialWorkload::Tree, Some((count, Shortage::Time)))] = changes[..] else {
            panic!("{changes:?}")
        };
        // 200 s less 3 s for filesystems, 6.7 s for the large file and 20.2 s for the small ones.
        assert!((14_500..15_500).contains(&count), "{count}");
        let none = choose_counts(&models(), &[pilot(Bytes::gib(4), None)], Duration::ZERO);
        let counts: Vec<_> = none.iter().map(|(_, change)| change.map(|(count, _)| count)).collect();
        assert_eq!(counts, [Some(100), Some(100)], "never fewer");
    }

    #[test]
    fn smallest_filesystem_decides_how_many_files_fit() {
        let long = Duration::from_secs(100_000);
        let pilots = [pilot(Bytes::gib(4), None), pilot(Bytes::mib(100), None)];
        let changes = choose_counts(&models(), &pilots, long);
        let [(TrialWorkload::Tree, Some((count, Shortage::Space)))] = changes[..] else {
            panic!("{changes:?}")
        };
        assert!((5_900..6_000).contains(&count), "70 MiB of 12 KiB each: {count}");
        let changes = choose_counts(&models(), &[pilot(Bytes::mib(50), None)], long);
        assert!(changes.contains(&(TrialWorkload::Large, None)), "{changes:?}");
        let changes = choose_counts(&models(), &[pilot(Bytes::gib(4), Some(10_000))], long);
        assert_eq!(changes, [(TrialWorkload::Tree, Some((7_000, Shortage::Space)))]);
    }
}
