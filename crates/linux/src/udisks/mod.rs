//! Asks udisks2 for a disk that this user may not open. The desktop asks the person for a password.

#[cfg(feature = "udisks")]
mod bus;
#[cfg(not(feature = "udisks"))]
#[path = "without_bus.rs"]
mod bus;

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use flashscope_device::layer::Interrupt;
use rustix::fs::{FileType, OFlags};
use rustix::io::{Errno, FdFlags};

use crate::sysfs::{Node, Sysfs};

/// The longest time for an answer, in which the person types a password. Policy: the password dialogs of
/// desktops have no limit of their own, and a script must end.
pub const ANSWER_TIME_MAX: Duration = Duration::from_secs(120);

/// Why udisks2 opened nothing. Each text continues a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UdisksError {
    /// The program has no D-Bus client.
    #[error("udisks2 was not asked, as this flashscope was built without it")]
    NotBuilt,
    /// No D-Bus, or no udisks2 on it.
    #[error("udisks2 does not run here")]
    NotRunning,
    /// udisks2 does not know the disk.
    #[error("udisks2 does not know this disk")]
    UnknownDisk,
    /// The rules of polkit forbid it.
    #[error("udisks2 refused, as polkit's rules do not allow it for this user")]
    NotAuthorized,
    /// It needs a password, and no program here can ask for one.
    #[error("udisks2 needs a password for it, and there is no desktop session here that can ask for one")]
    NoDialog,
    /// The person closed the dialog.
    #[error("the password dialog was closed")]
    Dismissed,
    /// No answer within [`ANSWER_TIME_MAX`].
    #[error("udisks2 did not answer within {} seconds", ANSWER_TIME_MAX.as_secs())]
    Silent,
    /// Ctrl-C.
    #[error("the wait for udisks2 was interrupted")]
    Interrupted,
    /// The disk is mounted or held otherwise.
    #[error("udisks2 found it in use")]
    InUse,
    /// What it opened is another disk, or opened differently.
    #[error("udisks2 opened something else than this disk")]
    OtherDisk,
    /// Any other failure, in its own words; printable.
    #[error("udisks2 failed: {0}")]
    Failed(String),
}

/// Has udisks2 open the disk or partition with this device number, with these flags.
///
/// # Errors
/// [`UdisksError`], also if what it opened is not this disk.
pub fn open_disk(device: u64, flags: OFlags, interrupt: Option<&Interrupt>) -> Result<OwnedFd, UdisksError> {
    let file = bus::open_device(&device_file(device)?, flags, interrupt)?;
    let failed = |errno: Errno| UdisksError::Failed(errno.to_string());
    // zbus receives descriptors that a tool would inherit, and would keep the disk claimed.
    rustix::io::fcntl_setfd(&file, FdFlags::CLOEXEC).map_err(failed)?;
    if !is_as_requested(&file, device, flags).map_err(failed)? {
        return Err(UdisksError::OtherDisk);
    }
    Ok(file)
}

/// Has udisks2 make the kernel read the partition table of the disk at `path` again. An interrupt ends the
/// wait for the answer.
///
/// # Errors
/// [`UdisksError`].
pub fn rescan(path: &Path, interrupt: &Interrupt) -> Result<(), UdisksError> {
    let node = Sysfs::default().node_at(path).ok_or(UdisksError::UnknownDisk)?;
    bus::rescan(&file_of(&node), interrupt)
}

/// The device file of a device number, by the kernel's own name for it.
fn device_file(device: u64) -> Result<String, UdisksError> {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let node = Sysfs::default().node_of(major, minor).ok_or(UdisksError::UnknownDisk)?;
    Ok(file_of(&node))
}

/// A slash in a name is an exclamation mark in sysfs.
fn file_of(node: &Node) -> String {
    format!("/dev/{}", node.name().replace('!', "/"))
}

/// Whether a descriptor is of this disk and has these flags, as far as they change what requests do.
fn is_as_requested(file: &OwnedFd, device: u64, flags: OFlags) -> Result<bool, Errno> {
    let stat = rustix::fs::fstat(file)?;
    let is_disk = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice && stat.st_rdev == device;
    let compared = OFlags::RWMODE | OFlags::DIRECT | OFlags::SYNC;
    let found = rustix::fs::fcntl_getfl(file)?;
    Ok(is_disk && found & compared == flags & compared)
}

#[cfg(test)]
mod tests {
    use rustix::fs::Mode;

    use super::*;

    #[test]
    fn descriptor_of_a_file_is_not_the_disk() {
        let open = |path: &str, flags| rustix::fs::open(path, flags, Mode::empty()).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        let file = open(file.path().to_str().unwrap(), OFlags::RDWR);
        assert_eq!(is_as_requested(&file, 0, OFlags::RDWR), Ok(false), "a file is no disk");
    }
}
