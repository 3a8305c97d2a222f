//! The sizes of the files in a folder, to make others like them.

use std::fs;
use std::path::Path;

use flashscope_device::Bytes;
use rustix::io::Errno;

use super::error::{FilesError, LOOKING};
use crate::printable::printable;

/// Folders with more files are taken as they begin.
const FILES_MAX: usize = 1_000_000;
/// Deeper, names are longer than the system takes.
const DEPTH_MAX: usize = 128;

/// What a folder holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Walked {
    /// The sizes of its files, in the order in which they were found. Empty files are left out.
    pub sizes: Vec<Bytes>,
    /// How many folders they lie in.
    pub folders: u32,
    /// How many folders could not be looked into.
    pub unreadable: u32,
}

/// The sizes of all files in and below the folder at `path`. Links are not followed.
///
/// # Errors
/// [`FilesError`] if it is no folder, cannot be read, or holds nothing.
pub fn walk(path: &Path) -> Result<Walked, FilesError> {
    let shown = printable(&path.to_string_lossy());
    let failed = |error: &std::io::Error| FilesError::of_io(&shown, LOOKING, error, Bytes::ZERO);
    if !fs::metadata(path).map_err(|error| failed(&error))?.is_dir() {
        return Err(FilesError::of(&shown, LOOKING, Errno::NOTDIR, Bytes::ZERO));
    }
    fs::read_dir(path).map_err(|error| failed(&error))?;
    let mut walked = Walked::default();
    walked.below(path, 0);
    if walked.sizes.is_empty() { Err(FilesError::NothingThere { path: shown }) } else { Ok(walked) }
}

impl Walked {
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
        self.folders += u32::from(self.sizes.len() > before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_files_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("sub")).unwrap();
        fs::write(path("a"), [0; 10]).unwrap();
        fs::write(path("empty"), []).unwrap();
        fs::write(path("sub/b"), [0; 300]).unwrap();
        std::os::unix::fs::symlink("/", path("sub/root")).unwrap();
        let mut walked = walk(folder.path()).unwrap();
        walked.sizes.sort();
        assert_eq!(
            walked,
            Walked { sizes: vec![Bytes::new(10), Bytes::new(300)], folders: 2, unreadable: 0 }
        );
    }

    #[test]
    fn what_is_no_model_is_said_to_be_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let of = |path: &Path| walk(path).unwrap_err();
        assert!(matches!(of(folder.path()), FilesError::NothingThere { .. }));
        fs::write(&file, [1]).unwrap();
        assert!(matches!(of(&file), FilesError::NoFolder { .. }));
        assert!(matches!(of(Path::new("/nowhere/at/all")), FilesError::Missing { .. }));
    }
}
