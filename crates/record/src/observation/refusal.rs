//! Why an experiment could not start.

use flashscope_device::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding_id::FindingId;

/// The space that an experiment needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Room {
    /// Two reads of this size with a boundary between them.
    Reads(Bytes),
    /// Two requests of this size.
    Requests(Bytes),
    /// Samples of this size.
    Samples(Bytes),
    /// Two erase blocks of this size.
    EraseBlocks(Bytes),
    /// Bursts of this size.
    Bursts(Bytes),
    /// A long stream of this size.
    Stream(Bytes),
    /// This many erase blocks of this size.
    Blocks(u32, Bytes),
    /// A procedure whose last write ends at this offset.
    End(Bytes),
}

/// Why an experiment could not start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Refusal {
    /// The device was opened read-only, and the experiment writes.
    ReadOnly,
    /// The device is too small.
    TooSmall {
        /// Its capacity.
        capacity: Bytes,
        /// The space that is needed.
        room: Room,
    },
    /// The erase block is smaller than any known one.
    EraseBlockTooSmall {
        /// The erase block.
        erase_block: Bytes,
        /// The smallest known one.
        least: Bytes,
    },
    /// No two erase blocks that may be written are adjacent.
    NoAdjacentBlocks,
    /// No erase block was requested.
    NoBlocks,
    /// Only a file was used, which does not reach the start of the device.
    InFile,
    /// Only a file was used, whose offsets on the device are not known.
    OffsetsUnknown,
    /// Another finding is not known.
    DependsOn {
        /// That finding.
        id: FindingId,
    },
    /// The smallest request does not lie within these limits.
    RequestOutOfRange {
        /// The request.
        request: Bytes,
        /// At least.
        least: Bytes,
        /// At most.
        most: Bytes,
    },
    /// A size is no whole number of requests or of the device's blocks.
    NotWhole {
        /// The size.
        size: Bytes,
        /// The request or block.
        unit: Bytes,
    },
    /// The sentence of a run file of format 1.
    #[serde(untagged)]
    Recorded(String),
}
