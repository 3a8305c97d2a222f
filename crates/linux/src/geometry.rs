//! The size and block sizes of an open file, and how it accepts requests.

use std::io::IoSliceMut;
use std::os::fd::{AsFd, OwnedFd};

use flashscope_device::{Buffer, Bytes, SECTOR};
use rustix::fs::{Advice, AtFlags, FileType, SeekFrom, StatxFlags};
use rustix::io::{Errno, ReadWriteFlags};

use crate::target::TargetKind;

/// `f_type` of filesystems that keep files in memory: tmpfs and ramfs (statfs(2)).
const MEMORY_FILESYSTEMS: [i64; 2] = [0x0102_1994, 0x8584_58f6];

/// The size of a target and its blocks.
#[derive(Debug, Clone, Copy)]
pub struct Geometry {
    /// The size in bytes, also of an incomplete last block.
    pub size: Bytes,
    /// The unit of offsets and lengths.
    pub logical_block: Bytes,
    /// The unit below which the device reports slower access.
    pub physical_block: Bytes,
}

impl Geometry {
    /// Asks the kernel. A file with direct I/O has the block of direct I/O; one with buffered I/O has
    /// sectors.
    pub fn of(file: &OwnedFd, kind: TargetKind, direct_block: Option<Bytes>) -> Result<Self, Errno> {
        let size = Bytes::new(rustix::fs::seek(file, SeekFrom::End(0))?);
        if kind == TargetKind::Disk {
            let logical_block = Bytes::new(rustix::fs::ioctl_blksszget(file)?.into());
            let physical_block = Bytes::new(rustix::fs::ioctl_blkpbszget(file)?.into());
            return Ok(Self { size, logical_block, physical_block });
        }
        let logical_block = direct_block.unwrap_or(SECTOR);
        // The kernel's type is i64 on x86-64 and i32 on AArch64.
        let preferred = Bytes::new(u64::try_from(rustix::fs::fstat(file)?.st_blksize).unwrap_or(0));
        Ok(Self { size, logical_block, physical_block: preferred.max(logical_block) })
    }

    /// The size in whole blocks.
    pub fn capacity(&self) -> Bytes {
        self.size.round_down(self.logical_block)
    }
}

/// The smallest block that direct I/O on this file takes; `None` if direct I/O is refused.
///
/// statx reports it since Linux 6.1, for some filesystems. Elsewhere it is tried out by reading a block.
pub fn direct_block(file: &OwnedFd) -> Option<Bytes> {
    if let Ok(statx) = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN)
        && StatxFlags::from_bits_retain(statx.stx_mask).contains(StatxFlags::DIOALIGN)
    {
        let block = Bytes::new(statx.stx_dio_offset_align.into());
        return Some(block.max(SECTOR)).filter(|_| !block.is_zero());
    }
    let mut memory = Buffer::zeroed(Bytes::kib(4));
    [512, 4096]
        .into_iter()
        .find(|block| rustix::io::pread(file, &mut memory[..*block], 0) != Err(Errno::INVAL))
        .map(|block| Bytes::new(block as u64))
}

/// Whether the file supports non-blocking requests (`RWF_NOWAIT`). If not, `io_uring` hands every request
/// to a worker thread.
pub fn supports_nowait(file: &OwnedFd, block: Bytes) -> bool {
    let mut memory = Buffer::zeroed(block);
    let mut parts = [IoSliceMut::new(&mut memory)];
    rustix::io::preadv2(file, &mut parts, 0, ReadWriteFlags::NOWAIT) != Err(Errno::OPNOTSUPP)
}

/// Whether the file lies in memory. A disk does not, though its device file may.
pub fn is_in_memory(file: &OwnedFd) -> bool {
    let kind = rustix::fs::fstat(file).map(|stat| FileType::from_raw_mode(stat.st_mode));
    if kind == Ok(FileType::BlockDevice) {
        return false;
    }
    rustix::fs::fstatfs(file).is_ok_and(|filesystem| MEMORY_FILESYSTEMS.contains(&filesystem.f_type))
}

/// Drops the file from the page cache and disables read-ahead. Advice only;
/// [`Remark::Buffered`](crate::Remark::Buffered) notes that it may fail.
pub fn forget_cache(file: impl AsFd) {
    for advice in [Advice::Random, Advice::DontNeed] {
        let _ = rustix::fs::fadvise(&file, 0, None, advice);
    }
}
