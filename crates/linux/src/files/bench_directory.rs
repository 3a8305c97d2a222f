//! A directory to measure in: its filesystem, the free space, and what earlier measurements left there.

use std::fs;
use std::path::{Path, PathBuf};

use flashscope_device::Bytes;
use rustix::fs::{StatVfs, StatVfsMountFlags};
use rustix::io::Errno;

use super::backing_filesystem::BackingFilesystem;
use super::error::{EXAMINING, FilesError};
use super::temporary_directory;
use crate::printable::printable;
use crate::roots::Roots;
use crate::sysfs::{Node, Sysfs};

/// The free space that the filesystem's tables need, as a share of the data. Guess.
const MARGIN: f64 = 0.02;

/// A directory to measure in.
#[derive(Debug)]
pub struct BenchDirectory {
    path: PathBuf,
    display_path: String,
    backing_filesystem: BackingFilesystem,
    node: Option<Node>,
}

impl BenchDirectory {
    /// Opens the directory at `path`.
    ///
    /// # Errors
    /// [`FilesError`] if it is not a directory, or not accessible.
    pub fn open(path: &Path) -> Result<Self, FilesError> {
        let display_path = printable(&path.to_string_lossy());
        let failed = |error: &std::io::Error| FilesError::of_io(&display_path, EXAMINING, error, Bytes::ZERO);
        let resolved = fs::canonicalize(path).map_err(|error| failed(&error))?;
        if !fs::metadata(&resolved).map_err(|error| failed(&error))?.is_dir() {
            return Err(FilesError::of(&display_path, EXAMINING, Errno::NOTDIR, Bytes::ZERO));
        }
        let space = rustix::fs::statvfs(&resolved)
            .map_err(|errno| FilesError::of(&display_path, EXAMINING, errno, Bytes::ZERO))?;
        let backing_filesystem =
            BackingFilesystem::of(&resolved, &Roots::default().mounts, Bytes::new(space.f_frsize));
        let node = backing_filesystem.node(&resolved, &Sysfs::default());
        Ok(Self { path: resolved, display_path, backing_filesystem, node })
    }

    /// The filesystem it lies on.
    #[must_use]
    pub const fn backing_filesystem(&self) -> &BackingFilesystem {
        &self.backing_filesystem
    }

    /// Its path, with links resolved.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The block device below, if the kernel counts its requests.
    pub(super) const fn node(&self) -> Option<&Node> {
        self.node.as_ref()
    }

    /// Its name, safe to print.
    pub(super) fn display_path(&self) -> &str {
        &self.display_path
    }

    /// Directories that an earlier, killed measurement left there.
    #[must_use]
    pub fn left_over(&self) -> Vec<String> {
        temporary_directory::left_over(&self.path)
    }

    /// The space that files of these sizes take, in whole clusters.
    #[must_use]
    pub fn needed(&self, sizes: &[Bytes]) -> Bytes {
        let cluster = self.backing_filesystem.cluster.max(Bytes::new(1));
        sizes.iter().fold(Bytes::ZERO, |sum, size| sum + size.round_up(cluster))
    }

    /// The space of the filesystem, if files can be created there. Read-only and virtual filesystems are
    /// checked first, since they also report no space.
    pub(crate) fn space(&self) -> Result<StatVfs, FilesError> {
        let path = || self.display_path.clone();
        let space = rustix::fs::statvfs(&self.path)
            .map_err(|errno| FilesError::of(&self.display_path, EXAMINING, errno, Bytes::ZERO))?;
        if space.f_flag.contains(StatVfsMountFlags::RDONLY) {
            return Err(FilesError::ReadOnly { path: path() });
        }
        if space.f_blocks == 0 {
            return Err(FilesError::NoFilesystemSpace {
                path: path(),
                filesystem: self.backing_filesystem.filesystem.clone(),
            });
        }
        Ok(space)
    }

    /// Checks that files of these sizes fit, before any is written.
    ///
    /// # Errors
    /// [`FilesError::Full`] or [`FilesError::TooManyFiles`]; [`FilesError::ReadOnly`] or
    /// [`FilesError::NoFilesystemSpace`] where no file can be created.
    pub fn check_space(&self, sizes: &[Bytes]) -> Result<(), FilesError> {
        let path = || self.display_path.clone();
        let space = self.space()?;
        let needed = self.needed(sizes);
        let free = space.f_bavail.saturating_mul(space.f_frsize);
        if (free as f64) < needed.as_f64() * (1.0 + MARGIN) {
            return Err(FilesError::Full { path: path(), needed });
        }
        // Filesystems without a limit on files (vfat) report zero.
        let (free, names) = (space.f_favail, sizes.len() as u64);
        if space.f_files > 0 && free < names {
            return Err(FilesError::TooManyFiles { path: path(), free, needed: names });
        }
        Ok(())
    }
}
