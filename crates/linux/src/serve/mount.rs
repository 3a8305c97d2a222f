//! The mount point of a served file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::io::Errno;
use rustix::mount::UnmountFlags;

use super::error::{ServeError, ServeRemark, shown};
use crate::mounts;
use crate::printable::printable;

/// The source of our mounts in the kernel's list.
pub const SOURCE: &str = "flashscope";

/// A directory to mount on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountPoint {
    /// The absolute path.
    pub path: PathBuf,
    /// Whether this process created it, and so removes it.
    pub is_own: bool,
}

impl MountPoint {
    /// The directory at `path`, created if it is missing.
    pub fn at(path: &Path) -> Result<Self, ServeError> {
        let problem = |problem: &dyn std::fmt::Display| ServeError::MountPoint {
            path: shown(path),
            problem: problem.to_string(),
        };
        let is_own = match fs::create_dir(path) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            Err(error) => return Err(problem(&format!("cannot be created: {error}"))),
        };
        let mount_point = fs::canonicalize(path).map(|path| Self { path, is_own });
        let mount_point = mount_point.map_err(|error| problem(&format!("cannot be used: {error}")))?;
        match fs::read_dir(&mount_point.path).map(|mut entries| entries.next().is_none()) {
            Err(error) => Err(problem(&format!("cannot be used: {error}"))),
            Ok(_) if is_mounted(&mount_point.path) => Err(problem(&"has something mounted on it")),
            Ok(false) => Err(problem(&"is not empty")),
            Ok(true) => Ok(mount_point),
        }
    }

    /// Unmounts, and removes the directory if this process created it. While a program has the file open,
    /// the kernel keeps the filesystem, without a mount point.
    pub fn unmount(&self, file: &Path) -> Option<ServeRemark> {
        let busy = unmount(&self.path, UnmountFlags::empty()) == Err(Errno::BUSY);
        if busy {
            // If the kernel refuses this as well, the next start tries again.
            let _ = unmount(&self.path, UnmountFlags::DETACH);
        }
        self.remove();
        busy.then(|| ServeRemark::StillOpen { file: file.to_owned() })
    }

    /// Removes the directory if this process created it and it is no longer mounted.
    pub fn remove(&self) {
        if self.is_own {
            let _still_mounted = fs::remove_dir(&self.path);
        }
    }
}

/// Whether one of our filesystems is mounted at `path`.
pub fn is_own_mounted(path: &Path) -> bool {
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

/// Unmounts `path`. Without permission it runs fusermount3, which detaches at once.
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
