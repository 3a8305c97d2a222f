//! What makes a published log undecidable.

use flashscope_device::Bytes;

use super::FindingId;
use crate::observation::Order;

/// What makes a published log undecidable.
#[derive(Debug, Clone, PartialEq)]
pub enum LogFault {
    /// It does not say into how many blocks its speeds were written.
    BlockCountMissing,
    /// It holds means, which do not show single merges.
    MeansOnly,
    /// It has no table of open units in this order.
    NoTable(Order),
    /// A table is cut short.
    CutShort,
    /// Two tables give different sizes.
    TablesDisagree {
        /// What the tables are about.
        id: FindingId,
        /// The smallest size by one table.
        least: Bytes,
        /// The largest by another.
        most: Bytes,
    },
    /// Two tables give different times for the same writes.
    TimesDisagree {
        /// Size of each write.
        request: Bytes,
        /// Number of blocks written round-robin.
        blocks: u32,
        /// Time per request in the fastest table, seconds.
        fastest_s: f64,
        /// Time per request in the slowest table, seconds.
        slowest_s: f64,
    },
    /// A number of blocks is slow, and a larger number is fast.
    LargerCountIsFast {
        /// The number of blocks that is slow.
        slow: u32,
        /// The larger number of blocks that is fast.
        fast: u32,
        /// The smallest number of blocks, which is as fast.
        base: u32,
    },
    /// Small writes are fast in a block, but not in an earlier one.
    FastAfterSlowBlock {
        /// The block with fast small writes.
        fast: usize,
        /// The slow block before it.
        slow: usize,
    },
    /// Reads show a page, but a write of twice its size takes no longer.
    WritesShowLargerPage {
        /// The page by reads.
        page: Bytes,
        /// The time of a write of this size, seconds.
        page_s: f64,
        /// The time of a write of twice this size, seconds.
        twice_s: f64,
    },
    /// Single rows are outliers: they differ as much as those at the boundaries of the block that would fit.
    OutlierRows {
        /// The block that would fit.
        block: Option<Bytes>,
    },
    /// Reads show two boundaries, either of which may be the erase block.
    TwoBoundaries {
        /// The smaller boundary.
        smaller: Bytes,
        /// How much longer reads across it take, seconds.
        smaller_s: f64,
        /// The larger boundary.
        larger: Bytes,
        /// How much longer again reads across it take, seconds.
        larger_s: f64,
    },
}
