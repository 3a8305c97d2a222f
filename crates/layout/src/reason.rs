//! Why a number is what it is: which number, its value, the arithmetic, and the reason. The words stand in
//! `report`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A number of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanNumber {
    /// The kind of partition table.
    TableKind,
    /// The first sector of a partition.
    PartitionStart,
    /// The size of a partition.
    PartitionSize,
    /// The cluster or block of a filesystem.
    Cluster,
    /// ext4: blocks of a stripe.
    StripeWidth,
    /// ext4: blocks of a block group.
    BlocksPerGroup,
    /// ext4: bytes for each inode.
    BytesPerInode,
    /// ext4: blocks that only root may use.
    ReservedForRoot,
    /// ext4: the journal.
    Journal,
    /// FAT: sectors before the first FAT.
    ReservedSectors,
    /// exFAT: the unit to which FAT and heap are aligned.
    Boundary,
    /// exFAT: the first sector of the cluster heap.
    ClusterHeap,
    /// f2fs: segments of a section.
    SegmentsPerSection,
    /// XFS: the stripe unit.
    StripeUnit,
    /// btrfs: copies of the metadata.
    MetadataCopies,
    /// NILFS2: blocks of a segment.
    BlocksPerSegment,
}

/// Why a number is what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Because {
    /// An MBR is read by every system, camera and board.
    MbrIsReadEverywhere,
    /// The disk is larger than an MBR can describe.
    LargerThanMbr,
    /// A GPT keeps a copy at the end, where the device stores nothing.
    GptNeedsTheEnd,
    /// The user asked for it.
    Asked,
    /// The partition starts on an edge of an erase block.
    StartOnEdge,
    /// The partition starts off the edge, so that its data area lies on one.
    StartOffEdgeOnPurpose,
    /// The partition ends on an edge, so that its last erase block is whole.
    EndOnEdge,
    /// A boot partition has a usual size.
    BootPartition,
    /// Groups are counted from the start of the partition, so it lies on an edge.
    GroupsFollowStart,
    /// Allocation groups are counted from the start of the partition, so it lies on an edge.
    AllocationGroupsFollowStart,
    /// Segments are counted from the start of the partition, so it lies on an edge.
    SegmentsFollowStart,
    /// Sections are counted from the start of the disk.
    SectionsFollowDisk,
    /// Every group starts on an edge; the default size is no multiple of the erase block.
    EveryGroupOnEdge,
    /// Small files are packed into whole erase blocks.
    SmallFilesPacked,
    /// The kernel has fewer inode tables to zero after the first mount.
    FewerInodeTables,
    /// A disk for data needs no blocks reserved for root.
    NoReserveForData,
    /// Without a journal fewer writes are needed; after a power cut the filesystem has to be checked and may
    /// lose files.
    NoJournal,
    /// The FATs lie at the start of the device, where some sticks and cards map finely, and the data area on
    /// an edge.
    FatsAtStart,
    /// Start, reserved area and tables add up to whole erase blocks, so the first cluster lies on an edge.
    DataAreaOnEdge,
    /// Small clusters waste less and leave fewer gaps; large ones need smaller tables.
    ClusterAgainstFat,
    /// The cluster that the SD Association recommends for this capacity.
    StandardCluster,
    /// Large clusters for large files, small ones for small files.
    ClusterForPurpose,
    /// The tool aligns to powers of two only.
    PowersOfTwoOnly,
    /// The largest power of two that divides the erase block.
    LargestPowerOfTwo,
    /// Cleaning frees whole sections, so a section is made of whole erase blocks.
    CleaningFreesSections,
    /// Allocation groups are made of whole stripe units.
    GroupsOfStripeUnits,
    /// One copy of the metadata halves its writes.
    OneMetadataCopy,
}

/// One number of a plan with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// Which number.
    pub number: PlanNumber,
    /// Its value in the unit of the tool, e.g. `sector 8192`.
    pub value: String,
    /// The arithmetic, e.g. `2 x 4 MiB`; empty where there is none.
    pub arithmetic: String,
    /// Why.
    pub because: Because,
}

impl Reason {
    /// A reason.
    pub fn new(
        number: PlanNumber,
        value: impl Into<String>,
        arithmetic: impl Into<String>,
        because: Because,
    ) -> Self {
        Self { number, value: value.into(), arithmetic: arithmetic.into(), because }
    }
}
