//! What the person should know of how a target was opened.

use std::fmt;

use flashscope_device::Bytes;

/// Something about an open target that colours what is measured on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark {
    /// The target is a file: its filesystem and the disk below are measured along with it.
    ImageFile,
    /// The target is a file of our own in a folder: requests go through its filesystem.
    OwnFile {
        /// How large the file is.
        size: Bytes,
    },
    /// The target is a disk or partition that is written to: nothing that was on it can be used again.
    Erased,
    /// The target is a partition: boundaries are counted from its start, not from the disk's.
    Partition {
        /// Where it starts on its disk.
        start: Bytes,
    },
    /// The file lies in memory (tmpfs, ramfs): no storage is measured at all.
    InMemory,
    /// The filesystem refuses direct I/O: requests pass through the page cache, which is dropped after each.
    Buffered,
    /// The size is no multiple of the block: the rest at the end is left alone.
    OddSize {
        /// The size of the file or device.
        size: Bytes,
        /// The block that it should be a multiple of.
        logical_block: Bytes,
    },
    /// The kernel, or a sandbox, refuses `io_uring`: requests go one at a time.
    RingRefused {
        /// The error number.
        errno: i32,
    },
    /// The disk is memory that is copied by the caller: its queue is served one request after the other.
    ServedInTurn,
    /// The file cannot be asked without waiting: the kernel hands each request to a thread, which takes some time.
    ServedByThreads,
}

impl fmt::Display for Remark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ImageFile => formatter.write_str(
                "this is a file: what is measured is its filesystem and the disk below, not a stick of its own",
            ),
            Self::OwnFile { size } => write!(
                formatter,
                "requests go to a file of {size} of flashscope's own, through the filesystem: what that costs is measured along with \
                 the stick, and places out of order lie within the file only. The file has no name and is gone at the end"
            ),
            Self::Erased => formatter.write_str(
                "what was on it is lost: give it a partition table and a filesystem before it is used again",
            ),
            Self::Partition { start } => write!(
                formatter,
                "this is a partition that starts at {start} ({}): boundaries are counted from there; name the \
                 whole disk to count them from the disk's start",
                start.sectors()
            ),
            Self::InMemory => formatter.write_str(
                "this file lies in memory (tmpfs or ramfs): its speed says nothing of any storage",
            ),
            Self::Buffered => formatter.write_str(
                "the filesystem refuses direct I/O: requests pass through the page cache, so short times may be those \
                 of memory; use another filesystem (ext4, xfs)",
            ),
            Self::OddSize { size, logical_block } => write!(
                formatter,
                "the size of {} bytes is no multiple of {logical_block}: the last {} are left out",
                size.get(),
                *size % *logical_block
            ),
            Self::RingRefused { errno } => write!(
                formatter,
                "io_uring is not to be had here ({}): requests go one at a time",
                std::io::Error::from_raw_os_error(*errno)
            ),
            Self::ServedInTurn => formatter.write_str(
                "this disk is memory, copied by whoever asks: requests in its queue are served one after the other",
            ),
            Self::ServedByThreads => formatter.write_str(
                "the kernel serves this file's queue with threads of its own: each request takes some microseconds \
                 longer",
            ),
        }
    }
}
