//! The files that are written in trials.

use std::path::Path;

use flashscope_device::Bytes;
use flashscope_linux::scan_directory;
use flashscope_measure::workload::file_sizes::{FileProfile, like};
use flashscope_measure::workload::trials::FileModel;
use flashscope_record::TrialWorkload;

use super::SEED;
use crate::args::FsCompare;
use crate::exit::Failure;
use crate::printer::Printer;
use crate::target::{directory_failure, unreadable_remark};

/// The files of a kernel's source tree.
const TREE_FILES: u32 = 33_000;
/// The size of the large file.
const LARGE: Bytes = Bytes::mib(64);
/// The most files like those of a folder. Policy: as many as `bench files` takes.
const LIKE_MAX: u32 = 2000;

/// The files that were asked for: by default all standard ones, or those like a folder's if one is named.
///
/// # Errors
/// Exit code 2 for a folder without files.
pub(super) fn models(arguments: &FsCompare, printer: &Printer) -> Result<Vec<FileModel>, Failure> {
    let mut workloads = arguments.workloads.clone();
    if workloads.is_empty() && arguments.like.is_none() {
        workloads.extend(TrialWorkload::STANDARD);
    }
    workloads.sort_unstable();
    workloads.dedup();
    let seed = arguments.seed.unwrap_or(SEED);
    let mut models: Vec<FileModel> = workloads.into_iter().map(|workload| standard(workload, seed)).collect();
    if let Some(folder) = &arguments.like {
        models.push(like_folder(folder, seed, printer)?);
    }
    Ok(models)
}

fn standard(workload: TrialWorkload, seed: u64) -> FileModel {
    let of_profile = |profile: FileProfile, count| FileModel {
        workload,
        sizes: profile.sizes(count, seed),
        files_per_directory: profile.files_per_folder(),
    };
    match workload {
        TrialWorkload::Tree => of_profile(FileProfile::KernelSource, TREE_FILES),
        TrialWorkload::Large => FileModel { workload, sizes: vec![LARGE], files_per_directory: 1 },
        TrialWorkload::Small | TrialWorkload::Like => {
            of_profile(FileProfile::Snippets, FileProfile::Snippets.default_count())
        }
    }
}

fn like_folder(folder: &Path, seed: u64, printer: &Printer) -> Result<FileModel, Failure> {
    let scan = scan_directory(folder).map_err(directory_failure)?;
    let found = u32::try_from(scan.sizes.len()).unwrap_or(u32::MAX);
    unreadable_remark(scan.unreadable).into_iter().for_each(|remark| printer.remark(remark));
    if found > LIKE_MAX {
        printer
            .remark(format!("{} holds {found} files; {LIKE_MAX} of their sizes are drawn", folder.display()));
    }
    Ok(FileModel {
        workload: TrialWorkload::Like,
        sizes: like(&scan.sizes, found.min(LIKE_MAX), seed),
        files_per_directory: (found / scan.directories.max(1)).max(1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_files_are_those_of_the_help() {
        let [tree, large, small] = TrialWorkload::STANDARD.map(|workload| standard(workload, 1));
        assert_eq!((tree.count(), large.count(), small.count()), (33_000, 1, 2000));
        assert!(tree.bytes() > Bytes::mib(350) && tree.bytes() < Bytes::mib(600), "{}", tree.bytes());
        assert_eq!(large.bytes(), Bytes::mib(64));
        assert!(small.sizes.iter().all(|size| *size <= Bytes::kib(2)));
    }
}
