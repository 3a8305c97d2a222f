//! A temporary directory that is removed when the measurement ends, however it ends.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use flashscope_device::Bytes;

use super::error::FilesError;
use crate::printable::printable;

/// The prefix of the directory's name; the process id follows.
const PREFIX: &str = ".flashscope-files-";

/// A temporary directory. Dropping it removes it with its contents, also while a panic unwinds.
#[derive(Debug)]
pub struct TemporaryDirectory {
    path: PathBuf,
    /// Whether there is nothing to remove when it is dropped.
    is_removed: bool,
}

impl TemporaryDirectory {
    /// Creates a directory in `parent` that only its owner may read.
    pub fn create(parent: &Path) -> Result<Self, FilesError> {
        let path = parent.join(format!("{PREFIX}{}", std::process::id()));
        let created = DirBuilder::new().mode(0o700).create(&path);
        created.map_err(|error| {
            let display_path = printable(&parent.to_string_lossy());
            FilesError::of_io(&display_path, "creating a directory", &error, Bytes::ZERO)
        })?;
        Ok(Self { path, is_removed: false })
    }

    /// The path of file `number`, with `files_per_directory` files in each subdirectory.
    pub fn file(&self, number: u32, files_per_directory: u32) -> PathBuf {
        self.subdirectory(number, files_per_directory).join(format!("file-{number:06}.data"))
    }

    /// The subdirectory of file `number`.
    fn subdirectory(&self, number: u32, files_per_directory: u32) -> PathBuf {
        self.path.join(format!("folder-{:05}", number / files_per_directory.max(1)))
    }

    /// Creates the subdirectory of file `number`, if that file is the first one in it.
    pub fn create_subdirectory_for(&self, number: u32, files_per_directory: u32) -> std::io::Result<()> {
        if number.is_multiple_of(files_per_directory.max(1)) {
            fs::create_dir(self.subdirectory(number, files_per_directory))?;
        }
        Ok(())
    }

    /// The space that the filesystem allocated for its contents, subdirectories included.
    pub fn allocated(&self) -> Bytes {
        allocated_below(&self.path)
    }

    /// Leaves it where it is.
    pub fn keep(mut self) {
        self.is_removed = true;
    }

    /// Removes it with its contents.
    pub fn remove(mut self) -> std::io::Result<()> {
        fs::remove_dir_all(&self.path)?;
        self.is_removed = true;
        Ok(())
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        if !self.is_removed {
            // Errors have no receiver here; the next measurement reports what is left.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

fn allocated_below(directory: &Path) -> Bytes {
    use std::os::unix::fs::MetadataExt;
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let of = |entry: fs::DirEntry| {
        let metadata = entry.metadata().ok()?;
        let own = Bytes::new(metadata.blocks().saturating_mul(512));
        Some(if metadata.is_dir() { own + allocated_below(&entry.path()) } else { own })
    };
    entries.filter_map(of).fold(Bytes::ZERO, |sum, each| sum + each)
}

/// Directories in `parent` that a killed measurement left: their processes no longer run.
pub fn left_over(parent: &Path) -> Vec<String> {
    let names = fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let is_left_over = |name: &String| {
        let process = name.strip_prefix(PREFIX).and_then(|number| number.parse::<u32>().ok());
        process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists())
    };
    names.map(|name| name.to_string_lossy().into_owned()).filter(is_left_over).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_is_removed_explicitly_on_drop_and_on_panic() {
        let parent = tempfile::tempdir().unwrap();
        let filled = || {
            let directory = TemporaryDirectory::create(parent.path()).unwrap();
            directory.create_subdirectory_for(0, 10).unwrap();
            fs::write(directory.file(0, 10), [7; 5000]).unwrap();
            directory
        };
        let is_empty = || fs::read_dir(parent.path()).unwrap().count() == 0;
        let directory = filled();
        assert!(directory.allocated() >= Bytes::new(5000) && !is_empty());
        directory.remove().unwrap();
        assert!(is_empty());
        drop(filled());
        assert!(is_empty());
        let panicked = std::panic::catch_unwind(|| {
            let _directory = filled();
            panic!("in the middle");
        });
        assert!(panicked.is_err() && is_empty());
    }

    #[test]
    fn only_directories_of_ended_processes_are_left_over() {
        let parent = tempfile::tempdir().unwrap();
        let name = |number: &str| parent.path().join(format!("{PREFIX}{number}"));
        for number in ["4294967295", &std::process::id().to_string(), "x"] {
            fs::create_dir(name(number)).unwrap();
        }
        assert_eq!(left_over(parent.path()), [format!("{PREFIX}4294967295")]);
    }
}
