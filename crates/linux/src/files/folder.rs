//! A folder of our own, which is gone when the measurement is, however it ends.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use flashscope_device::Bytes;

use super::error::FilesError;
use crate::printable::printable;

/// Names of folders of ours begin so; the number of the process follows.
const PREFIX: &str = ".flashscope-files-";

/// A folder with everything in it. Dropping it removes all of it, also while a panic unwinds.
#[derive(Debug)]
pub struct OwnFolder {
    path: PathBuf,
    is_removed: bool,
}

impl OwnFolder {
    /// A new folder in `parent`, which nobody else may look into.
    pub fn make(parent: &Path) -> Result<Self, FilesError> {
        let path = parent.join(format!("{PREFIX}{}", std::process::id()));
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|error| {
            let shown = printable(&parent.to_string_lossy());
            FilesError::of_io(&shown, "making a folder", &error, Bytes::ZERO)
        })?;
        Ok(Self { path, is_removed: false })
    }

    /// The file of this number, with `files_per_folder` in each folder below.
    pub fn file(&self, number: u32, files_per_folder: u32) -> PathBuf {
        self.sub(number, files_per_folder).join(format!("file-{number:06}.data"))
    }

    /// The folder that this file lies in.
    fn sub(&self, number: u32, files_per_folder: u32) -> PathBuf {
        self.path.join(format!("folder-{:05}", number / files_per_folder.max(1)))
    }

    /// Makes the folder below that begins with this file, if one does.
    pub fn begin(&self, number: u32, files_per_folder: u32) -> std::io::Result<()> {
        if number.is_multiple_of(files_per_folder.max(1)) {
            fs::create_dir(self.sub(number, files_per_folder))?;
        }
        Ok(())
    }

    /// Opened, to flush the filesystem it lies on.
    pub fn open(&self) -> std::io::Result<File> {
        File::open(&self.path)
    }

    /// What the filesystem gave to everything in it, the folders included.
    pub fn allocated(&self) -> Bytes {
        allocated_below(&self.path)
    }

    /// Removes all of it.
    pub fn remove(mut self) -> std::io::Result<()> {
        fs::remove_dir_all(&self.path)?;
        self.is_removed = true;
        Ok(())
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        if !self.is_removed {
            // Nobody is left to tell; the next measurement there says what it finds.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

fn allocated_below(folder: &Path) -> Bytes {
    use std::os::unix::fs::MetadataExt;
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let of = |entry: fs::DirEntry| {
        let metadata = entry.metadata().ok()?;
        let own = Bytes::new(metadata.blocks().saturating_mul(512));
        Some(if metadata.is_dir() { own + allocated_below(&entry.path()) } else { own })
    };
    entries.filter_map(of).fold(Bytes::ZERO, |sum, each| sum + each)
}

/// Folders in `parent` that a measurement left behind when it was killed: those of processes that run no more.
pub fn left_behind(parent: &Path) -> Vec<String> {
    let names = fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let is_left = |name: &String| {
        let process = name.strip_prefix(PREFIX).and_then(|number| number.parse::<u32>().ok());
        process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists())
    };
    names.map(|name| name.to_string_lossy().into_owned()).filter(is_left).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_gone_whether_it_is_removed_dropped_or_a_panic_unwinds() {
        let parent = tempfile::tempdir().unwrap();
        let filled = || {
            let folder = OwnFolder::make(parent.path()).unwrap();
            folder.begin(0, 10).unwrap();
            fs::write(folder.file(0, 10), [7; 5000]).unwrap();
            folder
        };
        let is_empty = || fs::read_dir(parent.path()).unwrap().count() == 0;
        let folder = filled();
        assert!(folder.allocated() >= Bytes::new(5000) && !is_empty());
        folder.remove().unwrap();
        assert!(is_empty());
        drop(filled());
        assert!(is_empty());
        let panicked = std::panic::catch_unwind(|| {
            let _folder = filled();
            panic!("in the middle");
        });
        assert!(panicked.is_err() && is_empty());
    }

    #[test]
    fn what_a_killed_measurement_left_is_found_and_what_runs_is_not() {
        let parent = tempfile::tempdir().unwrap();
        let name = |number: &str| parent.path().join(format!("{PREFIX}{number}"));
        for number in ["4294967295", &std::process::id().to_string(), "x"] {
            fs::create_dir(name(number)).unwrap();
        }
        assert_eq!(left_behind(parent.path()), [format!("{PREFIX}4294967295")]);
    }
}
