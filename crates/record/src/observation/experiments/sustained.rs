//! A long sequential stream of large writes.

use std::time::Duration;

use flashscope_device::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding_id::FindingId;
use crate::limits::{Checked, REQUESTS_MAX, block, each, permit, size, time};
use crate::observation::experiment_data::ExperimentData;
use crate::observation::read_back::ReadBack;

/// A stream of large sequential writes, until the SLC cache is exhausted and the steady state is reached.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SustainedData {
    /// The size of each write.
    pub request: Bytes,
    /// The writes in sequence, several in each piece.
    pub pieces: Vec<Piece>,
    /// Single writes that took several times as long as their predecessors.
    #[serde(default)]
    pub long: Vec<LongWrite>,
    /// Streams that resumed after pauses.
    #[serde(default)]
    pub resumed: Vec<Resumed>,
    /// Whether the writes are spread evenly over the device, each with a flush that counts to its time.
    #[serde(default)]
    pub is_spread: bool,
    /// What the same run wrote to the device besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other: Vec<OtherWrites>,
    /// Offsets of it, read back at the end.
    #[serde(default)]
    pub read_back: ReadBack,
}

/// Writes of the same run that are no part of the stream. They use up a part of the cache as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OtherWrites {
    /// The bytes of the stream before them.
    pub after: Bytes,
    /// Their bytes.
    pub bytes: Bytes,
}

/// The most long writes that are kept. Guess: more of them add nothing to their distribution.
pub const LONG_WRITES_MAX: usize = 4096;

/// A write in a stream that took several times as long as those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LongWrite {
    /// The bytes written up to its end.
    pub written: Bytes,
    /// Its latency.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub took: Duration,
    /// The time of all writes up to its end.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub ended: Duration,
}

/// A stream that resumed after a pause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resumed {
    /// The length of the pause.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub pause: Duration,
    /// The writes after it.
    pub pieces: Vec<Piece>,
}

/// Sequential writes of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Piece {
    /// The number of requests, without failed ones.
    pub requests: u32,
    /// Their total time.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub time: Duration,
}

impl SustainedData {
    /// The bytes written.
    #[must_use]
    pub fn written(&self) -> Bytes {
        self.bytes_of(&self.pieces)
    }

    /// The time of all writes.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.pieces.iter().map(|piece| piece.time).sum()
    }

    /// What the same run wrote besides, before this part of the stream ended.
    #[must_use]
    pub fn other_before(&self, written: Bytes) -> Bytes {
        self.other.iter().filter(|other| other.after <= written).map(|other| other.bytes).sum()
    }

    /// The bytes of these pieces.
    #[must_use]
    pub fn bytes_of(&self, pieces: &[Piece]) -> Bytes {
        self.request * pieces.iter().map(|piece| u64::from(piece.requests)).sum()
    }
}

impl ExperimentData for SustainedData {
    fn check(&self) -> Checked {
        block("request", self.request)?;
        each("pieces", &self.pieces, piece)?;
        self.read_back.check()?;
        each("other", &self.other, |other| {
            size("after", other.after)?;
            size("bytes", other.bytes)
        })?;
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

    fn read_back(&self) -> ReadBack {
        self.read_back
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
