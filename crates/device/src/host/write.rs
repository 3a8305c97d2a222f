//! One file that is written again and again, with different methods.

use crate::time::Instant;
use crate::units::Bytes;

/// How a file is opened for writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMode {
    /// Through the page cache.
    Buffered,
    /// Through the page cache, with a flush after every write (`O_SYNC`).
    Synchronous,
    /// Direct I/O (`O_DIRECT`).
    Direct,
}

/// A kernel device that generates bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteSource {
    /// `/dev/zero`.
    Zeros,
    /// `/dev/urandom`.
    Random,
}

/// The target of write methods: a temporary file, or an image or loop device that may be erased.
pub trait WriteHost {
    /// Why a call failed.
    type Error;

    /// Host time, real or virtual. Never goes back.
    fn now(&self) -> Instant;

    /// The bytes that can be written. A temporary file is emptied first.
    ///
    /// # Errors
    /// If the filesystem does not report its free space.
    fn space(&mut self) -> Result<Bytes, Self::Error>;

    /// Makes the state equal before each method: nothing dirty, nothing cached, a temporary file empty.
    ///
    /// # Errors
    /// If `bytes` do not fit, or the system refuses.
    fn prepare(&mut self, bytes: Bytes) -> Result<(), Self::Error>;

    /// Opens the target, and the source of its data if there is one. False if the filesystem refuses this
    /// mode.
    ///
    /// # Errors
    /// If the system refuses for another reason.
    fn open(&mut self, mode: WriteMode, source: Option<ByteSource>) -> Result<bool, Self::Error>;

    /// Fills `buffer` from the opened source.
    ///
    /// # Errors
    /// If the source fails, or none was opened.
    fn generate(&mut self, buffer: &mut [u8]) -> Result<(), Self::Error>;

    /// Writes all of `bytes` at `offset`. False if the filesystem refuses the mode only now.
    ///
    /// # Errors
    /// If the write fails for another reason.
    fn write(&mut self, offset: Bytes, bytes: &[u8]) -> Result<bool, Self::Error>;

    /// Makes everything written durable.
    ///
    /// # Errors
    /// If the flush fails.
    fn flush(&mut self) -> Result<(), Self::Error>;
}
