//! What the kernel's error numbers mean for a request.

use std::os::fd::AsFd;

use flashscope_device::{Bytes, FailureCause};
use rustix::io::Errno;

/// Why a transfer did not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The kernel returned an error.
    Errno(Errno),
    /// The target ended early.
    Short,
}

/// An error of the kernel that has no more specific variant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{path}: {during} failed: {errno}; the stick may have been taken out, and the kernel's log (dmesg) may say why"
)]
pub struct SystemError {
    /// The target, printable.
    pub path: String,
    /// The action that failed.
    pub during: &'static str,
    /// The kernel's error.
    pub errno: Errno,
}

/// Reads from `offset` until `buffer` is full. Interrupted calls are repeated.
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

/// Whether the device itself is gone: unplugged, or its medium removed.
pub fn means_gone(errno: Errno) -> bool {
    matches!(errno, Errno::NODEV | Errno::NXIO | Errno::NOMEDIUM)
}

/// Whether the filesystem of a file has no space left: it writes data elsewhere when it is written again.
pub fn means_full(errno: Errno) -> bool {
    matches!(errno, Errno::NOSPC | Errno::DQUOT)
}

/// The cause of one request's failure. The kernel's block layer reports ENODATA for a medium error, EILSEQ
/// for a checksum error, EREMOTEIO for a target failure and EIO for the rest (`blk_errors` in its
/// block/blk-core.c).
pub fn cause(errno: Errno) -> FailureCause {
    match errno {
        Errno::IO | Errno::NODATA | Errno::ILSEQ | Errno::REMOTEIO | Errno::BADMSG => FailureCause::Medium,
        Errno::OPNOTSUPP | Errno::NOSYS => FailureCause::Unsupported,
        other => FailureCause::System { errno: other.raw_os_error() },
    }
}
