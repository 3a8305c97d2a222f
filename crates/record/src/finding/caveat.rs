//! What may make a finding wrong.

use flashscope_device::Bytes;

/// What may make a finding wrong.
#[derive(Debug, Clone, PartialEq)]
pub enum Caveat {
    /// The writes were made in blocks of an assumed size.
    AssumedEraseBlock {
        /// The assumed erase block.
        assumed: Bytes,
        /// The erase block that was found, if one was.
        found: Option<Bytes>,
    },
    /// Memory in the controller of this size would look the same as a cache.
    MayBeMemory,
    /// Writes may have used up a part of the cache just before.
    CacheMayBePartlyUsed,
    /// The same run wrote this much besides, which is counted: it was not idle in between.
    OtherWritesCounted(Bytes),
    /// Reads alone show this page; writes may work in a multiple of it.
    PageFromReads,
    /// Reads suggest another size.
    ReadsSuggest(Bytes),
    /// Less likely sizes, with their probability.
    LessLikely(Vec<(Bytes, f64)>),
    /// Published means hide single merges.
    MeansHideMerges,
    /// The end is known to a whole erase block only.
    WholeBlocksOnly,
    /// With one open block, a log looks the same.
    LogLooksTheSame,
}
