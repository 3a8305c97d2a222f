//! Another descriptor of an open target.

use std::os::fd::OwnedFd;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::device::LinuxDevice;
use crate::error::OpenError;
use crate::files::reopen;
use crate::target::TargetKind;
use crate::udisks;

/// Why a target could not be opened again.
#[derive(Debug)]
pub enum NotReopened {
    /// The kernel's error.
    Kernel(Errno),
    /// udisks2 did not open it, with the reason.
    Udisks(OpenError),
}

impl LinuxDevice {
    /// Another descriptor of the same target, which stays locked. A user who may not open the disk gets it
    /// from udisks2, like the first. `path` is the target in errors.
    pub(crate) fn reopen(&self, path: &str, flags: OFlags) -> Result<OwnedFd, NotReopened> {
        match reopen(self.file(), flags) {
            Err(Errno::ACCESS) if self.kind() == TargetKind::Disk => {
                let disk = rustix::fs::fstat(self.file()).map_err(NotReopened::Kernel)?.st_rdev;
                let purpose =
                    if flags.intersects(OFlags::RDWR | OFlags::WRONLY) { "writing" } else { "reading" };
                udisks::open_disk(disk, flags, self.interrupt()).map_err(|refusal| {
                    NotReopened::Udisks(OpenError::of_udisks(path.to_owned(), purpose, refusal))
                })
            }
            reopened => reopened.map_err(NotReopened::Kernel),
        }
    }
}
