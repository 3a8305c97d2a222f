//! A target that is read through memory, the page cache, or with direct I/O.

use crate::time::Instant;
use crate::units::Bytes;

/// How a target is opened for reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadPath {
    /// Through the page cache.
    PageCache,
    /// Direct I/O.
    Direct,
}

/// The state of a drive's own cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheMode {
    /// On: writes are durable only after a flush.
    On,
    /// Off.
    Off,
}

/// A target whose layers can be read one by one. Nothing is written to it.
pub trait LayerHost {
    /// Why a call failed.
    type Error;

    /// Host time, real or virtual. Never goes back.
    fn now(&self) -> Instant;

    /// The capacity of the target.
    fn capacity(&self) -> Bytes;

    /// The unit of offsets and lengths.
    fn logical_block(&self) -> Bytes;

    /// Opens the target. False if the filesystem refuses direct I/O.
    ///
    /// # Errors
    /// If the system refuses for another reason.
    fn open(&mut self, path: ReadPath) -> Result<bool, Self::Error>;

    /// Drops the target from the page cache. Advice only: pages that stay show as bytes that the device did
    /// not deliver.
    fn drop_page_cache(&mut self);

    /// Fills `buffer` from `offset` on.
    ///
    /// # Errors
    /// If the read fails.
    fn read(&mut self, offset: Bytes, buffer: &mut [u8]) -> Result<(), Self::Error>;

    /// Bytes that the device has read so far; `None` if the kernel does not count.
    fn bytes_read(&self) -> Option<Bytes>;

    /// How many of the first `length` bytes are holes of a sparse file.
    fn holes(&self, length: Bytes) -> Bytes;
}

/// The switch of a drive's own write cache. Dropping it restores the former state.
pub trait WriteCacheSwitch {
    /// Why the cache cannot be switched.
    type Error;

    /// Switches the cache, and checks that the drive followed.
    ///
    /// # Errors
    /// If the drive or the system refuses.
    fn switch(&self, mode: CacheMode) -> Result<(), Self::Error>;
}
