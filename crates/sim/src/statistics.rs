//! What happened inside: the counters a real controller keeps to itself.

use flashscope_device::Bytes;

/// What a virtual stick did since it was made.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Statistics {
    /// Commands on the link.
    pub commands: u64,
    /// Bytes the host wrote.
    pub bytes_written: Bytes,
    /// Pages programmed, for the host and for merges.
    pub page_programs: u64,
    /// Bytes programmed: pages times their size.
    pub bytes_programmed: Bytes,
    /// Erase blocks whose data had to be copied.
    pub merges: u64,
    /// Erase blocks erased.
    pub erases: u64,
    /// Requests that were held up.
    pub outliers: u64,
}
