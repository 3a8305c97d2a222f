//! Mounts the filesystem of a trial where nobody else sees it, and unmounts it however the trial ends.
//!
//! The mounts are made in a mount namespace of the thread's own. They are gone when the program ends, also
//! if it is killed, and no file manager shows them.

mod driver;
mod files;

use std::ffi::CString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use flashscope_device::host::FreshSpace;
use flashscope_device::{Bytes, Consent, Instant};
use flashscope_layout::filesystem::Command;
use nix::sched::CloneFlags;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags};

use crate::clock::Clock;
use crate::erasable;
use crate::files::{BenchDirectory, FilesError};
use crate::printable::printable;
use crate::roots::Roots;
use crate::scratch_files::run_tool;
use crate::sysfs::Sysfs;

pub use driver::{MountType, has_driver, has_mount_program};
pub use files::TrialFiles;

/// The folders to mount on start with this and the number of their process.
const PREFIX: &str = ".flashscope-mount-";

/// Why a filesystem could not be mounted, unmounted or used.
#[derive(Debug, thiserror::Error)]
pub enum TrialMountError {
    /// Mounting needs root.
    #[error("mounting a filesystem needs root: put sudo before the command")]
    NeedsRoot,
    /// The kernel, or the program that mounts, refused.
    #[error("the kernel does not mount it as {filesystem}: {reason}")]
    Refused {
        /// The filesystem.
        filesystem: String,
        /// What was said.
        reason: String,
    },
    /// A system call failed.
    #[error("{during} {path}: {reason}")]
    System {
        /// The action.
        during: &'static str,
        /// The path, printable.
        path: String,
        /// What the system said.
        reason: String,
    },
    /// The files on it failed.
    #[error(transparent)]
    Files(#[from] FilesError),
}

impl TrialMountError {
    fn of(during: &'static str, path: &Path, reason: impl ToString) -> Self {
        Self::System { during, path: printable(&path.to_string_lossy()), reason: reason.to_string() }
    }

    /// Whether the filesystem is too small for the files, or cannot hold as many.
    #[must_use]
    pub const fn is_limit(&self) -> bool {
        matches!(
            self,
            Self::Files(
                FilesError::Full { .. } | FilesError::TooManyFiles { .. } | FilesError::TooLarge { .. }
            )
        )
    }
}

/// A device with a filesystem, and the folder where it is mounted.
#[derive(Debug)]
struct Volume {
    device: PathBuf,
    kind: MountType,
    folder: PathBuf,
}

/// A folder of this process, in which filesystems are mounted for trials. Dropping it unmounts and removes
/// it.
#[derive(Debug)]
pub struct TrialMount {
    folder: PathBuf,
    clock: Clock,
    mounted: Option<(Volume, BenchDirectory)>,
}

impl TrialMount {
    /// A new folder below `parent`, in a mount namespace of this thread's own. The main thread should call
    /// it, since the kernel's list of mounts is that of the main thread.
    ///
    /// # Errors
    /// [`TrialMountError`] without root, or if the folder cannot be made.
    pub fn new(parent: &Path) -> Result<Self, TrialMountError> {
        if !rustix::process::geteuid().is_root() {
            return Err(TrialMountError::NeedsRoot);
        }
        let parent =
            fs::canonicalize(parent).map_err(|error| TrialMountError::of("opening", parent, error))?;
        remove_stale(&parent);
        leave_shared_mounts()
            .map_err(|error| TrialMountError::of("making a mount namespace for", &parent, error))?;
        let folder = parent.join(format!("{PREFIX}{}", std::process::id()));
        fs::create_dir(&folder).map_err(|error| TrialMountError::of("making", &folder, error))?;
        Ok(Self { folder, clock: Clock::start(), mounted: None })
    }

    /// Host time since it was made.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Mounts the filesystem on `device`. Returns its free space.
    ///
    /// # Errors
    /// [`TrialMountError::Refused`] if it cannot be mounted.
    pub fn mount(&mut self, device: &Path, kind: &MountType) -> Result<FreshSpace, TrialMountError> {
        self.unmount()?;
        let volume = Volume { device: device.to_owned(), kind: kind.clone(), folder: self.folder.clone() };
        volume.mount()?;
        let opened = BenchDirectory::open(&self.folder).map_err(TrialMountError::from);
        let found = opened.and_then(|directory| Ok((directory.fresh_space()?, directory)));
        match found {
            Ok((space, directory)) => {
                self.mounted = Some((volume, directory));
                Ok(space)
            }
            Err(error) => {
                // The first error counts.
                drop(volume.unmount());
                Err(error)
            }
        }
    }

    /// The files of the mounted filesystem.
    ///
    /// # Errors
    /// If nothing is mounted.
    pub fn files<E: From<TrialMountError>>(&self) -> Result<TrialFiles<'_, E>, E> {
        match &self.mounted {
            Some((volume, directory)) => Ok(TrialFiles::new(directory.files(), volume)),
            None => Err(TrialMountError::of("using", &self.folder, "nothing is mounted there").into()),
        }
    }

    /// Unmounts the filesystem, if one is mounted.
    ///
    /// # Errors
    /// [`TrialMountError`] if the kernel refuses.
    pub fn unmount(&mut self) -> Result<(), TrialMountError> {
        match self.mounted.take() {
            Some((volume, _)) => volume.unmount(),
            None => Ok(()),
        }
    }
}

impl Drop for TrialMount {
    fn drop(&mut self) {
        // Errors have no receiver here. A folder that is not empty is not removed, and the kernel unmounts
        // what is left when the process ends.
        let _ = self.unmount();
        let _ = fs::remove_dir(&self.folder);
    }
}

impl Volume {
    fn mount(&self) -> Result<(), TrialMountError> {
        let refused = |filesystem: &str, reason: String| TrialMountError::Refused {
            filesystem: filesystem.to_owned(),
            reason,
        };
        match self.kind {
            MountType::Kernel { filesystem, data } => {
                let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
                let options = CString::new(data).map_err(|error| refused(filesystem, error.to_string()))?;
                rustix::mount::mount(&self.device, &self.folder, filesystem, flags, options.as_c_str())
                    .map_err(|errno| refused(filesystem, errno.to_string()))
            }
            MountType::Program { program } => {
                let [device, folder] = [&self.device, &self.folder].map(|path| path.to_string_lossy());
                run_tool(&Command::new(program, [&*device, &*folder]))
                    .map(drop)
                    .map_err(|error| refused(program, error.to_string()))
            }
        }
    }

    /// Unmounts it. A flush that was interrupted still uses it; that is waited for first.
    fn unmount(&self) -> Result<(), TrialMountError> {
        let failed = |errno: Errno| TrialMountError::of("unmounting", &self.folder, errno);
        match rustix::mount::unmount(&self.folder, UnmountFlags::empty()) {
            // Not mounted.
            Ok(()) | Err(Errno::INVAL) => return Ok(()),
            Err(Errno::BUSY) => {}
            Err(errno) => return Err(failed(errno)),
        }
        if let Ok(folder) = fs::File::open(&self.folder) {
            let _ = rustix::fs::syncfs(&folder);
        }
        match rustix::mount::unmount(&self.folder, UnmountFlags::empty()) {
            Ok(()) => Ok(()),
            // Nobody finds it any more; the kernel lets the device go when the last user ends.
            Err(Errno::BUSY) => rustix::mount::unmount(&self.folder, UnmountFlags::DETACH).map_err(failed),
            Err(errno) => Err(failed(errno)),
        }
    }
}

/// Gives this thread mounts of its own. Mounts of others still appear there; its own appear nowhere else.
fn leave_shared_mounts() -> io::Result<()> {
    nix::sched::unshare(CloneFlags::CLONE_NEWNS)?;
    let flags = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
    Ok(rustix::mount::mount_change("/", flags)?)
}

/// Removes the empty folders of processes that were killed.
fn remove_stale(parent: &Path) {
    for folder in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = folder.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX)).map(str::to_owned);
        let is_stale = process.is_some_and(|process| {
            process.parse::<u32>().is_ok() && !Path::new("/proc").join(process).exists()
        });
        if is_stale {
            let _ = fs::remove_dir(folder.path());
        }
    }
}

/// A lock on a disk's node that has udev leave the disk alone: it neither looks at new filesystems nor
/// announces them, so no desktop mounts them (systemd.io/BLOCK_DEVICE_LOCKING). `None` if another program
/// holds it.
#[must_use]
pub fn keep_from_udev(disk: &Path) -> Option<fs::File> {
    let file = fs::File::open(disk).ok()?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).ok().map(|()| file)
}

/// Has the kernel take the partitions of `disk` from its table, also where it cannot read tables itself.
///
/// # Errors
/// [`TrialMountError`] with what `partx` says.
pub fn update_partitions(disk: &Path) -> Result<(), TrialMountError> {
    let path = disk.to_string_lossy();
    run_tool(&Command::new("partx", ["--update", &*path])).map(drop).map_err(|error| {
        TrialMountError::of("reading the partition table of", disk, error.with_package("util-linux"))
    })
}

/// Whether `path` still has the medium that a person agreed to erase.
#[must_use]
pub fn has_agreed_medium(path: &Path, consent: &dyn Consent, roots: &Roots) -> bool {
    let medium = Sysfs::at(&roots.sysfs).node_at(path).and_then(|node| erasable::medium(&node, roots));
    medium.is_some() && medium.as_deref() == consent.medium()
}

impl BenchDirectory {
    /// The free space, in the units that files take.
    fn fresh_space(&self) -> Result<FreshSpace, FilesError> {
        let space = self.space()?;
        Ok(FreshSpace {
            free: Bytes::new(space.f_bavail.saturating_mul(space.f_frsize)),
            cluster: Bytes::new(space.f_frsize),
            // Filesystems without a limit on files (vfat) report zero.
            files: (space.f_files > 0).then_some(space.f_favail),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreed::Agreed;

    #[test]
    fn folders_of_ended_processes_are_removed_if_they_are_empty() {
        let parent = tempfile::tempdir().unwrap();
        let folder = |name: &str| parent.path().join(format!("{PREFIX}{name}"));
        let running = std::process::id().to_string();
        for name in ["4294967294", "4294967295", &running, "x"] {
            fs::create_dir(folder(name)).unwrap();
        }
        fs::write(folder("4294967294").join("file"), b"kept").unwrap();
        remove_stale(parent.path());
        let left = ["4294967294", "4294967295", &running, "x"].map(|name| folder(name).exists());
        assert_eq!(left, [true, false, true, true]);
    }

    #[test]
    fn consent_for_another_medium_or_for_a_file_is_not_agreed() {
        let roots = Roots::default();
        let consent = Agreed::to_erase("/dev/null");
        assert!(!has_agreed_medium(Path::new("/dev/null"), &consent, &roots));
        assert!(!has_agreed_medium(Path::new("/nonexistent"), &consent.of_medium("x"), &roots));
    }
}
