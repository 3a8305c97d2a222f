//! What the kernel's error numbers mean for a request.

use std::os::fd::AsFd;

use flashscope_device::{Bytes, FailureCause};
use rustix::io::Errno;

/// Why a transfer did not come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The kernel refused.
    Errno(Errno),
    /// The target ended early.
    Short,
}

/// What the kernel refused while a target was worked on, where nothing better is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{path}: {during} failed: {errno}; the stick may have been taken out, and the kernel's log (dmesg) may say why"
)]
pub struct Refused {
    /// What was worked on.
    pub path: String,
    /// What was going on.
    pub during: &'static str,
    /// What the kernel said.
    pub errno: Errno,
}

/// Fills `buffer` from `offset` on; an interrupted call is made again.
pub fn read_whole(file: impl AsFd, offset: Bytes, buffer: &mut [u8]) -> Result<(), Failure> {
    let mut done = 0;
    while done < buffer.len() {
        match rustix::io::pread(&file, &mut buffer[done..], offset.get() + done as u64) {
            Ok(0) => return Err(Failure::Short),
            Ok(read) => done += read,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Failure::Errno(errno)),
        }
    }
    Ok(())
}

/// True if the device itself is gone: unplugged, or its medium taken out.
pub fn means_gone(errno: Errno) -> bool {
    matches!(errno, Errno::NODEV | Errno::NXIO | Errno::NOMEDIUM)
}

/// What one request's failure is called. The kernel's block layer says ENODATA for a medium error, EILSEQ for a
/// checksum, EREMOTEIO for a target failure and EIO for the rest (`blk_errors` in its block/blk-core.c).
pub fn cause(errno: Errno) -> FailureCause {
    match errno {
        Errno::IO | Errno::NODATA | Errno::ILSEQ | Errno::REMOTEIO | Errno::BADMSG => FailureCause::Medium,
        Errno::OPNOTSUPP | Errno::NOSYS => FailureCause::Unsupported,
        other => FailureCause::System { errno: other.raw_os_error() },
    }
}
