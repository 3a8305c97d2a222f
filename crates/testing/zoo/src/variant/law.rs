//! The laws of variants.

use flashscope_device::Bytes;

/// A law of sticks that the inference does not contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Law {
    /// Open blocks are evicted in the order of their opening.
    Fifo,
    /// The same, but blocks that were written again are spared once.
    Clock,
    /// Page mapping with a part of the map in memory, as in controllers without DRAM.
    CachedMap,
    /// A merge is paid in slices over the next writes.
    SlicedMerges,
    /// The first part of each erase block is fast, or one write inside it is slow.
    SlcRegion,
    /// Two pools of open blocks: one for small requests, one for large ones.
    Pools,
    /// Zones of the stick with their own open blocks.
    Zones,
    /// A set of adjacent erase blocks shares one log block.
    SharedLogs,
    /// Wear levelling moves erase blocks in the background.
    WearLevelling,
    /// Reads of data take longer the older it is.
    AgeingReads,
}

impl Law {
    /// All laws, in the order of tables.
    pub const ALL: [Self; 10] = [
        Self::Fifo,
        Self::Clock,
        Self::CachedMap,
        Self::SlicedMerges,
        Self::SlcRegion,
        Self::Pools,
        Self::Zones,
        Self::SharedLogs,
        Self::WearLevelling,
        Self::AgeingReads,
    ];

    /// The law of the variant with this number.
    #[must_use]
    pub fn of_index(index: u64) -> Self {
        Self::ALL[Bytes::new(index % Self::ALL.len() as u64).to_usize()]
    }

    /// Its name in tables.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::Clock => "clock",
            Self::CachedMap => "cached-map",
            Self::SlicedMerges => "sliced-merges",
            Self::SlcRegion => "slc-region",
            Self::Pools => "pools",
            Self::Zones => "zones",
            Self::SharedLogs => "shared-logs",
            Self::WearLevelling => "wear-levelling",
            Self::AgeingReads => "ageing-reads",
        }
    }
}
