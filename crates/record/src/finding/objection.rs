//! What speaks against all findings at once.

use flashscope_device::Bytes;

/// Why the measured times cannot come from flash behind a running clock.
#[derive(Debug, Clone, PartialEq)]
pub enum Objection {
    /// The log is of several devices; their names come from the log.
    SeveralDevices(Vec<String>),
    /// The clock stands still.
    ClockStandsStill {
        /// Requests that took no time at all.
        still: usize,
        /// All requests.
        requests: usize,
    },
    /// Equal requests take longer and longer.
    EverSlower {
        /// Median time of the first quarter, seconds.
        first_s: f64,
        /// Median time of the last quarter, seconds.
        last_s: f64,
    },
    /// The time of a write does not depend on its size.
    SizeDoesNotMatter {
        /// The largest write.
        largest: Bytes,
        /// Median time of writes near the largest, seconds.
        large_s: f64,
        /// The smallest write.
        smallest: Bytes,
        /// The largest of the small writes.
        small_max: Bytes,
        /// Median time of the small writes, seconds.
        small_s: f64,
    },
    /// Reads are too fast for flash: they come out of memory.
    ReadsFromMemory {
        /// Median time of a read, seconds.
        read_s: f64,
    },
}

impl Objection {
    /// Whether measured speeds are meaningless as well.
    #[must_use]
    pub const fn is_against_speeds(&self) -> bool {
        !matches!(self, Self::ReadsFromMemory { .. })
    }
}
