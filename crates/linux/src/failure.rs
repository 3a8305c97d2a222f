//! What the kernel's error numbers mean for a request.

use flashscope_device::FailureCause;
use rustix::io::Errno;

/// Why a transfer did not come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The kernel refused.
    Errno(Errno),
    /// The target ended early.
    Short,
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
