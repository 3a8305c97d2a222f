//! A set of files in a temporary directory, the filesystem around it, and the page cache over it.

use std::time::Duration;

use crate::layer::Interrupt;
use crate::time::Instant;
use crate::units::Bytes;

/// When data is flushed to the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushPolicy {
    /// Once, when all files are closed: `syncfs`.
    AtEnd,
    /// After every file as well: `fsync`.
    EachFile,
}

/// How the page cache was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheDrop {
    /// Each file was dropped by advice (`POSIX_FADV_DONTNEED`). Directories and filesystem tables may stay
    /// cached.
    Advised,
    /// In addition, the kernel dropped all its caches, directories and tables included. Only root may
    /// request that.
    Dropped,
    /// The filesystem was unmounted and mounted again, so nothing of it was cached.
    Remounted,
}

/// The requests of one kind that a block device has completed. Two readings give the traffic between them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TrafficCounters {
    /// Completed writes.
    pub writes: u64,
    /// Bytes written.
    pub bytes_written: Bytes,
    /// Completed reads.
    pub reads: u64,
    /// Bytes read.
    pub bytes_read: Bytes,
    /// Time with any request in flight, to a tick of the kernel (1 to 10 ms).
    pub busy: Duration,
}

/// Numbered files in a temporary directory on the filesystem to be measured.
///
/// One file is open at a time. The directory and its files are removed by [`FileHost::remove_all`], and
/// when the host is dropped.
pub trait FileHost {
    /// Why a call failed. An interrupt is not an error of the host.
    type Error;

    /// Host time, real or virtual. Never goes back.
    fn now(&self) -> Instant;

    /// Creates the empty temporary directory, with `files_per_directory` files in each subdirectory.
    ///
    /// # Errors
    /// If the directory cannot be created. `needed` is for the error message.
    fn create_directory(&mut self, files_per_directory: u32, needed: Bytes) -> Result<(), Self::Error>;

    /// Creates the subdirectory of file `number`, if that file is the first in it. Not part of a file's time.
    ///
    /// # Errors
    /// If the system refuses.
    fn create_subdirectory(&mut self, number: u32) -> Result<(), Self::Error>;

    /// Creates file `number` and opens it for writing.
    ///
    /// # Errors
    /// If the system refuses.
    fn create(&mut self, number: u32) -> Result<(), Self::Error>;

    /// Appends `bytes` to the open file.
    ///
    /// # Errors
    /// If the write fails.
    fn write(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Closes the file that was written, after an `fsync` if `flush` asks for one after each file.
    ///
    /// # Errors
    /// If the `fsync` fails.
    fn close(&mut self, flush: FlushPolicy) -> Result<(), Self::Error>;

    /// Opens file `number` for reading from its start.
    ///
    /// # Errors
    /// If the system refuses.
    fn open(&mut self, number: u32) -> Result<(), Self::Error>;

    /// Fills `buffer` from the open file. False if the file ends before.
    ///
    /// # Errors
    /// If the read fails.
    fn read(&mut self, buffer: &mut [u8]) -> Result<bool, Self::Error>;

    /// Flushes the whole filesystem. False if `interrupt` was requested meanwhile.
    ///
    /// # Errors
    /// If the flush fails.
    fn flush_filesystem(&mut self, interrupt: &Interrupt) -> Result<bool, Self::Error>;

    /// The space that the filesystem allocated for the files, subdirectories included.
    fn allocated(&self) -> Bytes;

    /// Drops files `0..count` from the page cache. Returns how, and the share of their pages that stayed
    /// cached, if known.
    ///
    /// # Errors
    /// If a file cannot be opened.
    fn drop_page_cache(&mut self, count: u32) -> Result<(CacheDrop, Option<f64>), Self::Error>;

    /// The counters of the block device below; `None` if there is none, or the kernel does not count.
    fn traffic(&self) -> Option<TrafficCounters>;

    /// Removes the temporary directory with all files.
    ///
    /// # Errors
    /// If something cannot be removed.
    fn remove_all(&mut self) -> Result<(), Self::Error>;
}
