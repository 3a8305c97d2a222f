//! Remarks on how a target was opened.

use std::fmt;

use flashscope_device::Bytes;

/// A property of an open target that affects what is measured on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark {
    /// The target is an image file: its filesystem and the disk below are part of the measurement.
    ImageFile,
    /// The target is a temporary file in a directory: requests go through its filesystem.
    TemporaryFile {
        /// The size of the file.
        size: Bytes,
    },
    /// The target is a disk or partition that is written to: its contents are lost.
    Erased,
    /// The target is a partition: offsets count from its start, not from the disk's.
    Partition {
        /// Its offset on the disk.
        start: Bytes,
    },
    /// The file lies in memory (tmpfs, ramfs): no storage is measured.
    InMemory,
    /// The filesystem refuses direct I/O: requests pass through the page cache, which is dropped after
    /// each.
    Buffered,
    /// The size is not a multiple of the block: the rest at the end is ignored.
    OddSize {
        /// The size of the file or device.
        size: Bytes,
        /// The logical block.
        logical_block: Bytes,
    },
    /// The kernel, or a sandbox, refuses `io_uring`: requests run one at a time.
    RingRefused {
        /// The error number.
        errno: i32,
    },
    /// The disk is memory that the caller copies: its queue is served one request at a time.
    ServedSequentially,
    /// The file cannot be read without blocking: the kernel hands each request to a thread, which adds
    /// microseconds.
    ServedByThreads,
}

impl fmt::Display for Remark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ImageFile => formatter.write_str(
                "this is an image file: its filesystem and the disk below are measured, not a stick of its own",
            ),
            Self::TemporaryFile { size } => write!(
                formatter,
                "requests go to a temporary file of {size}, through the filesystem: its overhead is part of the results, and \
                 random offsets lie within the file only. The file has no name and is gone at the end"
            ),
            Self::Erased => formatter.write_str(
                "its contents are lost: create a partition table and a filesystem before it is used again",
            ),
            Self::Partition { start } => write!(
                formatter,
                "this is a partition that starts at {start} ({}): boundaries count from there; name the whole disk \
                 to count them from the disk's start",
                start.sectors()
            ),
            Self::InMemory => formatter.write_str(
                "this file lies in memory (tmpfs or ramfs): the results describe no storage",
            ),
            Self::Buffered => formatter.write_str(
                "requests pass through the page cache, for the filesystem refuses direct I/O or is a program: low \
                 latencies may be those of memory; use another filesystem (ext4, xfs)",
            ),
            Self::OddSize { size, logical_block } => write!(
                formatter,
                "the size of {} bytes is not a multiple of {logical_block}: the last {} are ignored",
                size.get(),
                *size % *logical_block
            ),
            Self::RingRefused { errno } => write!(
                formatter,
                "io_uring is not available here ({}): requests run one at a time",
                std::io::Error::from_raw_os_error(*errno)
            ),
            Self::ServedSequentially => formatter.write_str(
                "this disk is memory that the caller copies: queued requests run one at a time",
            ),
            Self::ServedByThreads => formatter.write_str(
                "the kernel serves this file's queue with worker threads: each request takes some microseconds longer",
            ),
        }
    }
}
