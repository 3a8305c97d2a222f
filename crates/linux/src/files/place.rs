//! A folder to measure in: what it lies on, whether there is room, and what was left there before.

use std::fs;
use std::path::{Path, PathBuf};

use flashscope_device::layer::Interrupt;
use flashscope_device::{Bytes, Pattern};
use rustix::fs::{StatVfs, StatVfsMountFlags};
use rustix::io::Errno;

use super::error::{FilesError, LOOKING};
use super::folder;
use super::ground::{Ground, NoStick};
use super::part::{FlushWhen, Job, Part};
use crate::printable::printable;
use crate::roots::Roots;
use crate::sysfs::{Node, Sysfs};

/// So much of the room that is needed must be free on top: for the filesystem's tables.
const MARGIN: f64 = 0.02;

/// A folder to measure in.
#[derive(Debug)]
pub struct FilesPlace {
    path: PathBuf,
    shown: String,
    ground: Ground,
    node: Option<Node>,
}

impl FilesPlace {
    /// The folder at `path`.
    ///
    /// # Errors
    /// [`FilesError`] if it is none, or may not be looked at.
    pub fn open(path: &Path) -> Result<Self, FilesError> {
        let shown = printable(&path.to_string_lossy());
        let failed = |error: &std::io::Error| FilesError::of_io(&shown, LOOKING, error, Bytes::ZERO);
        let whole = fs::canonicalize(path).map_err(|error| failed(&error))?;
        if !fs::metadata(&whole).map_err(|error| failed(&error))?.is_dir() {
            return Err(FilesError::of(&shown, LOOKING, Errno::NOTDIR, Bytes::ZERO));
        }
        let space = rustix::fs::statvfs(&whole)
            .map_err(|errno| FilesError::of(&shown, LOOKING, errno, Bytes::ZERO))?;
        let ground = Ground::of(&whole, &Roots::default().mounts, Bytes::new(space.f_frsize));
        let node = ground.node(&whole, &Sysfs::default());
        Ok(Self { path: whole, shown, ground, node })
    }

    /// What it lies on.
    #[must_use]
    pub const fn ground(&self) -> &Ground {
        &self.ground
    }

    /// The folder itself, with links resolved.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Its name, safe to print.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// Folders that a measurement left behind when it was killed.
    #[must_use]
    pub fn left_behind(&self) -> Vec<String> {
        folder::left_behind(&self.path)
    }

    /// What files of these sizes take, in whole clusters.
    #[must_use]
    pub fn needed(&self, sizes: &[Bytes]) -> Bytes {
        let cluster = self.ground.cluster.max(Bytes::new(1));
        sizes.iter().fold(Bytes::ZERO, |sum, size| sum + size.round_up(cluster))
    }

    /// The space there, where files can be made at all. What takes none, or has no room of its own, is also full: that comes later.
    pub(super) fn space(&self) -> Result<StatVfs, FilesError> {
        let path = || self.shown.clone();
        let space = rustix::fs::statvfs(&self.path)
            .map_err(|errno| FilesError::of(&self.shown, LOOKING, errno, Bytes::ZERO))?;
        if space.f_flag.contains(StatVfsMountFlags::RDONLY) {
            return Err(FilesError::ReadOnly { path: path() });
        }
        if space.f_blocks == 0 {
            return Err(FilesError::NoStorage { path: path(), filesystem: self.ground.filesystem.clone() });
        }
        Ok(space)
    }

    /// Makes sure that files of these sizes fit, before any is made.
    ///
    /// # Errors
    /// [`FilesError::Full`] or [`FilesError::Names`]; [`FilesError::ReadOnly`] or [`FilesError::NoStorage`] where no file fits.
    pub fn permit(&self, sizes: &[Bytes]) -> Result<(), FilesError> {
        let path = || self.shown.clone();
        let space = self.space()?;
        let needed = self.needed(sizes);
        let free = space.f_bavail.saturating_mul(space.f_frsize);
        if (free as f64) < needed.as_f64() * (1.0 + MARGIN) {
            return Err(FilesError::Full { path: path(), needed });
        }
        // Filesystems without a number of their own for files (vfat) say zero of all.
        let (free, names) = (space.f_favail, sizes.len() as u64);
        if space.f_files > 0 && free < names {
            return Err(FilesError::Names { path: path(), free, needed: names });
        }
        Ok(())
    }

    /// Makes files of these sizes, flushes, reads them back and removes them.
    ///
    /// # Errors
    /// [`FilesError`]; nothing is left in any case.
    pub fn run(
        &self,
        sizes: &[Bytes],
        files_per_folder: u32,
        flush: FlushWhen,
        pattern: Pattern,
        interrupt: &Interrupt,
    ) -> Result<Part, FilesError> {
        let job = Job {
            parent: &self.path,
            shown: &self.shown,
            sizes,
            files_per_folder,
            flush,
            pattern,
            node: self.node.as_ref(),
            may_drop_caches: !self.ground.instead.contains(&NoStick::Memory),
            interrupt,
        };
        job.run()
    }
}
