//! Reads the sizes of the files in a directory, to create similar ones.

use std::fs;
use std::path::Path;

use flashscope_device::Bytes;
use rustix::io::Errno;

use super::error::{EXAMINING, FilesError};
use crate::printable::printable;

/// The files that are read of a directory. Guess: a million sizes describe any directory.
const FILES_MAX: usize = 1_000_000;
/// The deepest subdirectory. Below that, paths exceed the system's limit.
const DEPTH_MAX: usize = 128;

/// The files of a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DirectoryScan {
    /// The sizes of its files, in the order found. Empty files are left out.
    pub sizes: Vec<Bytes>,
    /// The number of directories that hold them.
    pub directories: u32,
    /// The number of directories that could not be read.
    pub unreadable: u32,
}

/// The sizes of all files in and below the directory at `path`. Links are not followed.
///
/// # Errors
/// [`FilesError`] if it is not a directory, cannot be read, or holds no files.
pub fn scan_directory(path: &Path) -> Result<DirectoryScan, FilesError> {
    let display_path = printable(&path.to_string_lossy());
    let failed = |error: &std::io::Error| FilesError::of_io(&display_path, EXAMINING, error, Bytes::ZERO);
    if !fs::metadata(path).map_err(|error| failed(&error))?.is_dir() {
        return Err(FilesError::of(&display_path, EXAMINING, Errno::NOTDIR, Bytes::ZERO));
    }
    fs::read_dir(path).map_err(|error| failed(&error))?;
    let mut scan = DirectoryScan::default();
    scan.below(path, 0);
    if scan.sizes.is_empty() { Err(FilesError::NoFiles { path: display_path }) } else { Ok(scan) }
}

impl DirectoryScan {
    fn below(&mut self, path: &Path, depth: usize) {
        let Ok(entries) = fs::read_dir(path) else {
            self.unreadable += 1;
            return;
        };
        let before = self.sizes.len();
        for entry in entries.flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_dir() && depth < DEPTH_MAX {
                self.below(&entry.path(), depth + 1);
            } else if metadata.is_file() && metadata.len() > 0 && self.sizes.len() < FILES_MAX {
                self.sizes.push(Bytes::new(metadata.len()));
            }
        }
        self.directories += u32::from(self.sizes.len() > before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_sizes_are_found_and_links_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::create_dir(path("sub")).unwrap();
        fs::write(path("a"), [0; 10]).unwrap();
        fs::write(path("empty"), []).unwrap();
        fs::write(path("sub/b"), [0; 300]).unwrap();
        std::os::unix::fs::symlink("/", path("sub/root")).unwrap();
        let mut scan = scan_directory(directory.path()).unwrap();
        scan.sizes.sort();
        assert_eq!(
            scan,
            DirectoryScan { sizes: vec![Bytes::new(10), Bytes::new(300)], directories: 2, unreadable: 0 }
        );
    }

    #[test]
    fn empty_directory_file_and_missing_path_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        let of = |path: &Path| scan_directory(path).unwrap_err();
        assert!(matches!(of(directory.path()), FilesError::NoFiles { .. }));
        fs::write(&file, [1]).unwrap();
        assert!(matches!(of(&file), FilesError::NotADirectory { .. }));
        assert!(matches!(of(Path::new("/nowhere/at/all")), FilesError::Missing { .. }));
    }
}
