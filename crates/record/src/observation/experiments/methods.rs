//! What was seen of the same bytes written in the ways in which people write them.

use flashscope_device::Bytes;
use serde::{Deserialize, Serialize};

use super::files::Instead;
use super::speed::{LinkLimit, check_link};
use crate::limits::{Checked, each, positive, size};
use crate::observation::experiment_data::ExperimentData;

/// The same bytes, written in several ways.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodsData {
    /// In the order in which they were tried: of each round one of each way. Runs of before had one round.
    pub claims: Vec<Claim>,
    /// The most that the way to the device lets through, if that is known.
    #[serde(default)]
    pub link: Option<LinkLimit>,
    /// What is measured instead of a stick, where that is known.
    #[serde(default)]
    pub instead: Vec<Instead>,
}

/// How bytes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Way {
    /// Zeros through the page cache.
    #[serde(rename = "buffered_zeros")]
    Zeros,
    /// Random bytes of the kernel's through the page cache.
    #[serde(rename = "buffered_random")]
    Random,
    /// With one flush at the end, which counts.
    #[serde(rename = "fdatasync_at_end")]
    FlushAtEnd,
    /// With a flush behind every write.
    #[serde(rename = "o_sync")]
    FlushEach,
    /// Past the page cache.
    #[serde(rename = "o_direct")]
    Direct,
}

impl Way {
    /// As people type it.
    #[must_use]
    pub const fn command(self) -> &'static str {
        match self {
            Self::Zeros => "dd if=/dev/zero bs=1M",
            Self::Random => "dd if=/dev/urandom bs=1M",
            Self::FlushAtEnd => "dd bs=1M conv=fdatasync",
            Self::FlushEach => "dd bs=1M oflag=sync",
            Self::Direct => "dd bs=1M oflag=direct",
        }
    }

    /// Whether the data may lie in the page cache when the writing ends.
    #[must_use]
    pub const fn may_end_in_page_cache(self) -> bool {
        matches!(self, Self::Zeros | Self::Random | Self::FlushAtEnd)
    }
}

/// What one way of writing claims. Times in seconds, above zero.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The way.
    pub way: Way,
    /// How much was written.
    pub bytes: Bytes,
    /// Until whoever writes like this would stop the clock.
    pub claimed_s: f64,
    /// Until the data was really there.
    pub durable_s: f64,
    /// What making the bytes takes without writing them, where it takes time.
    pub source_s: Option<f64>,
}

impl Claim {
    /// The speed it claims, bytes per second.
    #[must_use]
    pub fn claimed(&self) -> f64 {
        self.bytes.as_f64() / self.claimed_s
    }

    /// The speed until the data was there.
    #[must_use]
    pub fn durable(&self) -> f64 {
        self.bytes.as_f64() / self.durable_s
    }

    /// The speed of the source.
    #[must_use]
    pub fn source(&self) -> Option<f64> {
        self.source_s.map(|seconds| self.bytes.as_f64() / seconds)
    }
}

impl ExperimentData for MethodsData {
    fn check(&self) -> Checked {
        check_link(self.link.as_ref())?;
        each("claims", &self.claims, |claim| {
            size("bytes", claim.bytes)?;
            positive("claimed_s", claim.claimed_s)?;
            positive("durable_s", claim.durable_s)?;
            claim.source_s.map_or(Ok(()), |source| positive("source_s", source))
        })
    }

    fn records(&self) -> usize {
        self.claims.len()
    }

    fn is_of_speed(&self) -> bool {
        true
    }

    fn has_random_choices(&self) -> bool {
        false
    }
}
