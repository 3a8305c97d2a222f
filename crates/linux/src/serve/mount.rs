//! The directory on which a served file appears.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::io::Errno;
use rustix::mount::UnmountFlags;

use super::error::{ServeError, ServeRemark, shown};
use crate::mounts;
use crate::printable::printable;

/// What the kernel's list of mounts calls ours.
pub const SOURCE: &str = "flashscope";

/// A directory to mount on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountPoint {
    /// The directory, absolute.
    pub path: PathBuf,
    /// Whether we made it, and so remove it.
    pub is_ours: bool,
}

impl MountPoint {
    /// The directory at `path`, made if it is not there.
    pub fn at(path: &Path) -> Result<Self, ServeError> {
        let problem = |problem: &dyn std::fmt::Display| ServeError::MountPoint {
            path: shown(path),
            problem: problem.to_string(),
        };
        let is_ours = match fs::create_dir(path) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            Err(error) => return Err(problem(&format!("cannot be made: {error}"))),
        };
        let mount_point = fs::canonicalize(path).map(|path| Self { path, is_ours });
        let mount_point = mount_point.map_err(|error| problem(&format!("cannot be used: {error}")))?;
        match fs::read_dir(&mount_point.path).map(|mut entries| entries.next().is_none()) {
            Err(error) => Err(problem(&format!("cannot be used: {error}"))),
            Ok(_) if is_mounted(&mount_point.path) => Err(problem(&"has something mounted on it")),
            Ok(false) => Err(problem(&"is not empty")),
            Ok(true) => Ok(mount_point),
        }
    }

    /// Unmounts, and removes the directory if it is ours. While a program has the file open, the kernel keeps the
    /// filesystem for it, out of sight.
    pub fn unmount(&self, file: &Path) -> Option<ServeRemark> {
        let busy = unmount(&self.path, UnmountFlags::empty()) == Err(Errno::BUSY);
        if busy {
            // Nothing more can be done if the kernel refuses this as well; the next start tries again.
            let _ = unmount(&self.path, UnmountFlags::DETACH);
        }
        self.remove();
        busy.then(|| ServeRemark::StillOpen { file: file.to_owned() })
    }

    /// Removes the directory if it is ours, and not mounted on any more.
    pub fn remove(&self) {
        if self.is_ours {
            let _still_mounted = fs::remove_dir(&self.path);
        }
    }
}

/// Whether one of our filesystems is mounted at `path`.
pub fn is_ours_mounted(path: &Path) -> bool {
    mounts_at(path).any(|mount| mount.source == SOURCE)
}

fn is_mounted(path: &Path) -> bool {
    mounts_at(path).next().is_some()
}

fn mounts_at(path: &Path) -> impl Iterator<Item = mounts::Mount> {
    let path = printable(&path.to_string_lossy());
    let mounts = mounts::read(Path::new("/proc/self/mountinfo")).unwrap_or_default();
    mounts.into_iter().filter(move |mount| mount.path == path)
}

/// Unmounts what is mounted at `path`; a user who may not do it asks fusermount3, which lets go at once.
pub fn unmount(path: &Path, flags: UnmountFlags) -> Result<(), Errno> {
    let unmounted = rustix::mount::unmount(path, flags | UnmountFlags::NOFOLLOW);
    if unmounted != Err(Errno::PERM) {
        return unmounted;
    }
    let mut fusermount = Command::new("fusermount3");
    fusermount.args(["-u", "-z", "-q", "--"]).arg(path).stdin(Stdio::null());
    match fusermount.status() {
        Ok(status) if status.success() => Ok(()),
        _ => Err(Errno::PERM),
    }
}
