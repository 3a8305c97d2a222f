//! Writes of every request size.

use std::time::Duration;

use flashscope_device::Bytes;
use serde::{Deserialize, Serialize};

use super::times::{Order, Times};

/// Writes of every size, to one place at a time.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct WriteSizeData {
    /// The erase block that was assumed, if one was known.
    pub erase_block: Option<Bytes>,
    /// Small writes across places where a page may end.
    #[serde(default)]
    pub edges: Vec<PageEdge>,
    /// Whether each of those was followed by a flush, which counts to its time: the device holds writes in memory.
    #[serde(default)]
    pub edges_flushed: bool,
    /// One per size and order, in the order in which they were written; a size may come again.
    pub cells: Vec<WriteSizeCell>,
    /// Writes of one of those sizes once more, behind all others: whether the device is still as fast.
    #[serde(default)]
    pub control: Option<WriteSizeCell>,
}

/// Three small writes of one size, each behind the other; the second reaches across an offset where a page may end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PageEdge {
    /// The offset in the middle of the second write.
    pub edge: Bytes,
    /// How much each write writes.
    pub write: Bytes,
    /// The write before it.
    #[serde(with = "crate::duration_ns")]
    pub before: Duration,
    /// The write across it.
    #[serde(with = "crate::duration_ns")]
    pub across: Duration,
    /// The write behind it.
    #[serde(with = "crate::duration_ns")]
    pub after: Duration,
}

/// The writes of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WriteSizeCell {
    /// Order of the writes.
    pub order: Order,
    /// Size of each write.
    pub request: Bytes,
    /// Where the first write began, counted from a multiple of the erase block; the others follow it without a gap.
    /// `None` if that is not known.
    #[serde(default)]
    pub start: Option<Bytes>,
    /// Their times, in order.
    pub times: Times,
}
