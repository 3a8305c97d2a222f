//! What happened inside: the counters a real controller keeps to itself.

use flashscope_device::Bytes;

/// What a virtual stick did since it was made.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Statistics {
    /// Commands on the link.
    pub commands: u64,
    /// Bytes the host wrote.
    pub bytes_written: Bytes,
    /// Pages programmed: for the host, for merges, and for folding.
    pub page_programs: u64,
    /// Pages that were copied, by merges and by collection.
    pub pages_copied: u64,
    /// Bytes programmed: pages times their size.
    pub bytes_programmed: Bytes,
    /// Erase blocks whose data had to be copied.
    pub merges: u64,
    /// Erase blocks erased.
    pub erases: u64,
    /// Requests that were held up.
    pub outliers: u64,
    /// What the SLC cache holds.
    pub slc_cache_bytes: Bytes,
    /// Pages that were folded from it into dense cells.
    pub pages_folded: u64,
    /// Writes that were stalled by collection.
    pub stalls: u64,
    /// Commands that were served slowly because the stick was hot.
    pub hot_commands: u64,
}
