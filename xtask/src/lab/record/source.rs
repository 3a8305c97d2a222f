//! The files that are copied, on a second disk of the machine.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use flashscope_device::{Bytes, Lba, Pattern};
use flashscope_measure::workload::file_sizes::FileProfile;
use flashscope_record::TrialWorkload;

use crate::process;

/// The seed of sizes and contents: every recording copies the same files.
const SEED: u64 = 1;

/// Folders in a folder. Guess: the kernel's tree has some twenty folders at its top, with a hundred in each.
const FOLDERS_PER_FOLDER: u32 = 100;

/// The number of files, and their sizes.
#[derive(Debug)]
pub struct Source {
    /// The size of each file.
    pub sizes: Vec<Bytes>,
    /// The number of files in a folder.
    files_per_folder: u32,
}

impl Source {
    /// The files of a workload.
    pub fn of(workload: TrialWorkload) -> anyhow::Result<Self> {
        let (profile, count) = match workload {
            // The kernel 2.6.34 has some 33,000 files.
            TrialWorkload::Tree => (FileProfile::KernelSource, 33_000),
            TrialWorkload::Small => (FileProfile::Snippets, 2_000),
            TrialWorkload::Large => return Ok(Self { sizes: vec![Bytes::mib(64)], files_per_folder: 1 }),
            TrialWorkload::Like => anyhow::bail!("a folder of the user's own is not recorded"),
        };
        Ok(Self { sizes: profile.sizes(count, SEED), files_per_folder: profile.files_per_folder() })
    }

    /// The number of files.
    pub fn count(&self) -> u32 {
        u32::try_from(self.sizes.len()).unwrap_or(u32::MAX)
    }

    /// The bytes of all files.
    pub fn bytes(&self) -> Bytes {
        self.sizes.iter().fold(Bytes::ZERO, |sum, size| sum + *size)
    }

    /// An image with the files, stored in `folder`; made if it is missing.
    pub fn image(&self, folder: &Path, workload: TrialWorkload) -> anyhow::Result<PathBuf> {
        let name = format!("source-{}-{}-{}.img", workload.name(), self.count(), self.bytes().get());
        let image = folder.join(name);
        if image.is_file() {
            return Ok(image);
        }
        fs::create_dir_all(folder)?;
        let scratch = tempfile::tempdir_in(folder)?;
        self.write(&scratch.path().join("tree/files"))?;
        let unfinished = scratch.path().join("image");
        // A block a file more than its data, and what the filesystem needs.
        let size = self.bytes() * 2 + Bytes::new(4096) * u64::from(self.count()) + Bytes::mib(64);
        File::create(&unfinished)?.set_len(size.round_up(Bytes::mib(1)).get())?;
        process::output(
            Command::new("mkfs.ext4")
                .args(["-q", "-F", "-O", "^has_journal", "-i", "8192"])
                .args(["-U", "00000000-0000-0000-0000-000000000001"])
                .args(["-E", "hash_seed=00000000-0000-0000-0000-000000000001", "-d"])
                .arg(scratch.path().join("tree"))
                .arg(&unfinished),
        )
        .context("the files to copy need mkfs.ext4 (Debian's package e2fsprogs)")?;
        fs::rename(&unfinished, &image)?;
        Ok(image)
    }

    /// Writes the files below `folder`.
    fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let pattern = Pattern::new(SEED);
        let mut buffer = Vec::new();
        let mut first = 0;
        for (number, size) in (0..).zip(&self.sizes) {
            let parent = folder.join(self.parent(number));
            fs::create_dir_all(&parent)?;
            buffer.resize(size.round_up(Bytes::new(512)).to_usize(), 0);
            pattern.fill(Lba(first), &mut buffer);
            first += size.get().div_ceil(512);
            let mut file = BufWriter::new(File::create(parent.join(format!("f{number:05}")))?);
            file.write_all(&buffer[..size.to_usize()])?;
            file.flush()?;
        }
        Ok(())
    }

    /// The folder of a file: one level if it has few folders, else two.
    fn parent(&self, file: u32) -> PathBuf {
        let folder = file / self.files_per_folder;
        if self.count() <= self.files_per_folder {
            return PathBuf::new();
        }
        format!("t{:02}/d{:04}", folder / FOLDERS_PER_FOLDER, folder).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_has_the_files_and_bytes_of_the_published_one() {
        let tree = Source::of(TrialWorkload::Tree).unwrap();
        assert_eq!(tree.count(), 33_000);
        assert!((430e6..455e6).contains(&tree.bytes().as_f64()), "{}", tree.bytes());
        assert_eq!(tree.parent(32_999), Path::new("t21/d2199"));
        assert_eq!(Source::of(TrialWorkload::Small).unwrap().parent(1_999), Path::new(""));
    }
}
