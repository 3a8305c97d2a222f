//! The measured figures behind a finding.

use flashscope_device::Bytes;

use crate::observation::Order;

/// The measured figures behind a finding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Evidence {
    /// Reads across boundaries.
    Reads(ReadEvidence),
    /// Writes of every size, and across boundaries.
    Sizes(SizeEvidence),
    /// Round-robin writes into erase blocks.
    Blocks(BlockEvidence),
    /// Writes into the first erase blocks.
    FirstBlocks(FatEvidence),
    /// Streams and bursts of writes.
    Stream(StreamEvidence),
}

/// Figures of reads across boundaries. Times are in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ReadEvidence {
    /// Reads across an erase block's multiples take longer.
    EraseBlock {
        /// The erase block.
        size: Bytes,
        /// How much longer.
        extra_s: f64,
        /// The noise.
        noise_s: f64,
        /// The largest boundary without that step.
        others_to: Option<Bytes>,
    },
    /// Reads across a page's multiples take longer.
    Page {
        /// The page.
        size: Bytes,
        /// How much longer.
        extra_s: f64,
        /// The pages of several planes together, whose multiples take longer still.
        planes: Option<Bytes>,
    },
    /// A read across a boundary takes longer than one beside.
    Slower {
        /// How much longer.
        extra_s: f64,
        /// A read beside.
        read_s: f64,
    },
    /// Reads take the same time across every boundary.
    Alike {
        /// A read.
        read_s: f64,
        /// The noise.
        noise_s: f64,
    },
}

/// Figures of writes by size. Times are in seconds, speeds in bytes per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SizeEvidence {
    /// Two adjacent writes merge where they meet at the end of an erase block.
    BlockEnds {
        /// The erase block.
        size: Bytes,
        /// Both writes at its multiples.
        at_end_s: Option<f64>,
        /// Both writes elsewhere.
        elsewhere_s: Option<f64>,
    },
    /// A small write across a page's multiple takes longer.
    PageEdges {
        /// The page.
        page: Bytes,
        /// Size of each write.
        write: Bytes,
        /// Whether each write was flushed.
        is_flushed: bool,
        /// Across a multiple of the page.
        across_s: Option<f64>,
        /// Elsewhere.
        elsewhere_s: Option<f64>,
        /// Boundaries that were tried.
        boundaries: usize,
    },
    /// Writes below the page take as long as the page.
    PageSweep {
        /// A smaller write, and its time.
        smaller: (Bytes, f64),
        /// A write of a page, and its time.
        page: (Bytes, f64),
        /// A larger write, and its time.
        larger: (Bytes, f64),
    },
    /// Speeds around the smallest efficient request.
    WriteUnit {
        /// That request, and its speed.
        unit: (Bytes, f64),
        /// The next smaller one, and its speed.
        below: (Bytes, f64),
        /// The fastest one, and its speed.
        best: (Bytes, f64),
    },
}

/// Figures of round-robin writes into erase blocks. Times are in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BlockEvidence {
    /// One block too many makes writes slower.
    TooMany {
        /// The order inside each block.
        order: Order,
        /// Size of each write, where only that was compared.
        request: Option<Bytes>,
        /// The blocks that fit.
        fits: u32,
        /// A larger number of blocks, which does not fit.
        too_many: u32,
        /// A write into as many as fit.
        within_s: f64,
        /// A write into too many.
        beyond_s: f64,
    },
    /// Even one block is slow in this order.
    OneIsSlow {
        /// The order inside the block.
        order: Order,
        /// A write in this order.
        write_s: f64,
        /// A sequential write.
        sequential_s: f64,
    },
    /// Opening a block is slow only if another has to close.
    Openings {
        /// Opening a block that closes no other.
        free_s: f64,
        /// Opening a block that closes another.
        closing_s: f64,
    },
    /// Garbage collection comes once per fixed number of bytes.
    Collection {
        /// Bytes written from one collection to the next.
        every: Bytes,
        /// How much longer that write takes.
        extra_s: f64,
    },
    /// A merge is far shorter than copying an erase block.
    ShortMerge {
        /// How much longer that write takes.
        extra_s: f64,
    },
    /// Nothing merges in sequential order, every switch does in random order.
    RandomOrderMerges {
        /// The blocks that fit in random order.
        fits: u32,
        /// A merge.
        merge_s: f64,
    },
    /// Beyond the open blocks, every switch costs a merge, or only some do.
    Merges {
        /// At least this many blocks fit.
        low: u32,
        /// At most this many fit.
        high: u32,
        /// Whether every switch costs a merge.
        every_switch: bool,
        /// A merge.
        merge_s: f64,
        /// The largest request without a merge.
        free_to: Option<Bytes>,
    },
    /// Extra cost of a request beyond the open blocks, in published means.
    ExtraCost {
        /// The blocks that fit.
        fits: u32,
        /// The extra cost.
        extra_s: f64,
        /// Writing a whole erase block.
        block_s: f64,
        /// Whether the extra cost is far less than that.
        is_far_less: bool,
        /// The largest request without extra cost.
        free_to: Option<Bytes>,
    },
    /// Times of single merges.
    MergeTimes {
        /// Merges that were timed.
        merges: usize,
        /// The blocks that fit.
        fits: u32,
        /// The median merge.
        typical_s: f64,
        /// A write without a merge.
        write_s: f64,
        /// The 10th percentile.
        p10_s: f64,
        /// The 90th percentile.
        p90_s: f64,
    },
}

/// Figures of writes into the first erase blocks. Times are in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FatEvidence {
    /// Opening this block evicted another: it is an ordinary block.
    Evicts {
        /// The block, counted from 0.
        block: u32,
        /// Opening it.
        opening_s: f64,
        /// A write without a merge.
        write_s: f64,
    },
    /// Opening the first blocks evicts no other.
    UsesNoSlot {
        /// How many blocks.
        blocks: u32,
        /// Opening one of them.
        opening_s: f64,
        /// Opening the next block.
        next_s: f64,
    },
    /// Small writes are as fast in the first blocks as elsewhere.
    Alike {
        /// Blocks that were compared.
        blocks: u32,
        /// The largest ratio between them.
        factor: f64,
    },
    /// Small writes are faster in the first blocks.
    Faster {
        /// How many blocks.
        blocks: u32,
        /// How many times as fast.
        factor: f64,
    },
}

/// How often a stream stalls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StallShare {
    /// The share of the time that stalls take.
    pub share: f64,
    /// Whether the speed is that from the first stall to the last; else from start to end.
    pub is_over_periods: bool,
}

/// Figures of streams and bursts of writes. Times are in seconds, speeds in bytes per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StreamEvidence {
    /// The speed falls once the cache is full.
    CacheEnd {
        /// What was written fast.
        fast: Bytes,
        /// The speed before.
        before_bytes_per_s: f64,
        /// The speed after.
        after_bytes_per_s: f64,
        /// The speed after with all stalls, where it differs.
        with_stalls_bytes_per_s: Option<f64>,
    },
    /// More was written at one speed than a cache can hold.
    MoreThanACache {
        /// What was written.
        written: Bytes,
        /// The speed.
        bytes_per_s: f64,
    },
    /// The speed did not fall.
    NoSlowdown {
        /// What was written.
        written: Bytes,
        /// Size of each sample, where the stream was sampled.
        sample: Option<Bytes>,
        /// The mean speed.
        bytes_per_s: f64,
        /// Stalls, where they take a good part of the time.
        stalls: Option<StallShare>,
    },
    /// The steady speed over the parts of a stream.
    OverParts {
        /// What was written.
        written: Bytes,
        /// How long that took.
        seconds: f64,
        /// What was written fast before.
        after: Option<Bytes>,
        /// How much parts of the stream differ, as a share.
        spread: f64,
    },
    /// The steady speed over whole periods of stalls.
    OverStalls {
        /// What was written.
        written: Bytes,
        /// How long that took.
        seconds: f64,
        /// Stalls that were seen.
        stalls: usize,
        /// Bytes from one stall to the next.
        period: Bytes,
    },
    /// Writes after a pause are fast until the buffer is full.
    BufferFills {
        /// Size of each write.
        request: Bytes,
        /// A fast write.
        fast_s: f64,
        /// The size of the buffer.
        held: Bytes,
        /// A slow write.
        slow_s: f64,
        /// Bursts that show it.
        bursts: usize,
    },
    /// Writes after a pause all take the same time.
    BurstsAlike {
        /// Writes that were made.
        writes: usize,
        /// Size of each write.
        request: Bytes,
        /// A write.
        write_s: f64,
    },
}
