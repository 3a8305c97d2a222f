//! Measurements and samples that findings need.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A measurement that findings need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measurement {
    /// Reads across boundaries.
    BoundaryReads,
    /// Sequential writes of every size.
    WriteSizes,
    /// Round-robin writes into erase blocks.
    RoundRobinWrites,
    /// Writes in random order inside an erase block.
    RandomWrites,
    /// Writes into the first erase blocks.
    FirstBlocks,
    /// A long stream of writes.
    LongStream,
    /// Bursts of writes after pauses.
    Bursts,
}

/// A kind of sample of which there may be too few.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sample {
    /// Measurements of any kind.
    Measurements,
    /// Reads.
    Reads,
    /// Writes.
    Writes,
    /// Writes into more blocks than fit.
    WritesBeyond,
    /// Rounds of a search.
    Rounds,
    /// Boundaries that were read more than once.
    RepeatedBoundaries,
    /// Boundaries.
    Boundaries,
    /// Candidate sizes in a log.
    Candidates,
    /// Erase blocks written round-robin.
    Blocks,
    /// Erase blocks at the start of the device.
    FirstBlocks,
    /// Bursts of writes.
    Bursts,
    /// Samples of a stream.
    StreamSamples,
    /// Tables of a log, for more numbers of blocks.
    Tables,
}
