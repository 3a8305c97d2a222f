//! Which file a loop device is attached to, from the kernel's own record of the device (loop(4)).

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;

/// The ioctl that returns [`LoopInfo`] (linux/loop.h).
const LOOP_GET_STATUS64: libc::c_ulong = 0x4C05;

/// `struct loop_info64` (linux/loop.h). Only the first two fields are used.
#[repr(C)]
struct LoopInfo {
    /// The device number of the filesystem with the file.
    device: u64,
    /// The file's inode number.
    inode: u64,
    rest: [u64; 27],
}

/// The device and inode number of the file under the loop device at `path`. The path in sysfs leads to
/// nothing if that name was removed. `None` if the device may not be
/// opened, or is not attached.
pub fn backing_inode(path: &Path) -> Option<(u64, u64)> {
    let device = File::open(path).ok()?;
    let mut info = LoopInfo { device: 0, inode: 0, rest: [0; 27] };
    // SAFETY: the kernel writes one loop_info64, 232 bytes, and `info` has that size and outlives the call.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), LOOP_GET_STATUS64 as _, &raw mut info) };
    (result == 0).then_some((info.device, info.inode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_has_the_size_of_the_kernels() {
        assert_eq!(size_of::<LoopInfo>(), 232);
        assert_eq!(backing_inode(Path::new("/dev/null")), None);
    }
}
