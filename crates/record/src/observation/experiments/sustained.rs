//! A long sequential stream of large writes.

use std::time::Duration;

use flashscope_device::Bytes;
use serde::{Deserialize, Serialize};

use crate::finding::FindingId;
use crate::limits::{Checked, REQUESTS_MAX, block, each, permit, size, time};
use crate::observation::experiment_data::ExperimentData;

/// Large writes one behind the other, until caches are full and the speed has settled.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct SustainedData {
    /// The size of each write.
    pub request: Bytes,
    /// The writes in their order, several at a time.
    pub pieces: Vec<Piece>,
    /// Single writes that took several times as long as those just before them.
    #[serde(default)]
    pub long: Vec<LongWrite>,
    /// Writes that went on behind pauses.
    #[serde(default)]
    pub resumed: Vec<Resumed>,
    /// Whether the writes lie apart, spread evenly over the device, each with a flush that counts to its time.
    #[serde(default)]
    pub is_spread: bool,
}

/// So many writes that took long are kept at most: more of them tell nothing more.
pub const LONG_WRITES_MAX: usize = 4096;

/// A write in a stream that took several times as long as those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongWrite {
    /// Everything that was written until it ended, itself included.
    pub written: Bytes,
    /// How long it took.
    #[serde(with = "crate::duration_ns")]
    pub took: Duration,
    /// What all writes until then took, itself included.
    #[serde(with = "crate::duration_ns")]
    pub ended: Duration,
}

/// A stream that went on behind a pause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed {
    /// How long nothing was asked for.
    #[serde(with = "crate::duration_ns")]
    pub pause: Duration,
    /// The writes behind it.
    pub pieces: Vec<Piece>,
}

/// Some writes one behind the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// How many; those that failed are left out.
    pub requests: u32,
    /// What they took together.
    #[serde(with = "crate::duration_ns")]
    pub time: Duration,
}

impl SustainedData {
    /// Everything that was written.
    #[must_use]
    pub fn written(&self) -> Bytes {
        self.bytes_of(&self.pieces)
    }

    /// What these pieces of the stream, or of one behind a pause, hold.
    #[must_use]
    pub fn bytes_of(&self, pieces: &[Piece]) -> Bytes {
        self.request * pieces.iter().map(|piece| u64::from(piece.requests)).sum()
    }
}

impl ExperimentData for SustainedData {
    fn check(&self) -> Checked {
        block("request", self.request)?;
        each("pieces", &self.pieces, piece)?;
        each("long", &self.long, |long| {
            size("written", long.written)?;
            time("took", long.took)?;
            time("ended", long.ended)
        })?;
        each("resumed", &self.resumed, |resumed| {
            time("pause", resumed.pause)?;
            each("pieces", &resumed.pieces, piece)
        })
    }

    fn records(&self) -> usize {
        self.pieces.len()
    }

    fn findings(&self) -> &'static [FindingId] {
        &[FindingId::SlcCacheBytes, FindingId::SustainedWriteBytesPerS]
    }

    fn is_of_speed(&self) -> bool {
        true
    }

    fn latencies(&self) -> Vec<Duration> {
        self.pieces.iter().map(|piece| piece.time).collect()
    }
}

fn piece(piece: &Piece) -> Checked {
    permit(piece.requests <= REQUESTS_MAX, "requests", piece.requests, "there are at most 2^20 in a piece")?;
    time("time", piece.time)
}
