//! Counters inside the stick, which a real controller does not expose.

use flashscope_device::Bytes;

/// The counters of a virtual stick since its creation.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Statistics {
    /// Commands on the link.
    pub commands: u64,
    /// Bytes written by the host.
    pub bytes_written: Bytes,
    /// Pages programmed: for the host, for merges, and for folding.
    pub page_programs: u64,
    /// Pages copied by merges and garbage collection.
    pub pages_copied: u64,
    /// Bytes programmed: pages times their size.
    pub bytes_programmed: Bytes,
    /// Merges: erase blocks whose data was copied.
    pub merges: u64,
    /// Erase blocks erased.
    pub erases: u64,
    /// Requests with an outlier delay.
    pub outliers: u64,
    /// Bytes in the SLC cache.
    pub slc_cache_bytes: Bytes,
    /// Pages folded from the SLC cache into dense cells.
    pub pages_folded: u64,
    /// Garbage-collection stalls.
    pub stalls: u64,
    /// Commands served while thermally throttled.
    pub hot_commands: u64,
}
