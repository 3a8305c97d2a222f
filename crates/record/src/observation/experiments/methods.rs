//! The same bytes, written with each of the usual write methods.

use flashscope_device::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::files::Instead;
use super::speed::{LinkLimit, check_link};
use crate::limits::{Checked, each, positive, size};
use crate::observation::experiment_data::ExperimentData;

/// The same bytes, written with several methods.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MethodsData {
    /// The timings in order: in each round one of each method. Older runs have one round.
    #[serde(rename = "claims")]
    pub timings: Vec<MethodTiming>,
    /// The speed limit of the path to the device, if known.
    #[serde(default)]
    pub link: Option<LinkLimit>,
    /// What was measured instead of a removable device, if known.
    #[serde(default)]
    pub instead: Vec<Instead>,
}

/// A write method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum WriteMethod {
    /// Zeros through the page cache.
    #[serde(rename = "buffered_zeros")]
    Zeros,
    /// Random bytes of the kernel through the page cache.
    #[serde(rename = "buffered_random")]
    Random,
    /// Through the page cache, with one flush at the end, which is part of the time.
    #[serde(rename = "fdatasync_at_end")]
    FlushAtEnd,
    /// With a flush after each write.
    #[serde(rename = "o_sync")]
    FlushEach,
    /// Without the page cache.
    #[serde(rename = "o_direct")]
    Direct,
}

impl WriteMethod {
    /// The command that people type for it.
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

    /// Whether the data may be in the page cache when the command ends.
    #[must_use]
    pub const fn may_end_in_page_cache(self) -> bool {
        matches!(self, Self::Zeros | Self::Random | Self::FlushAtEnd)
    }
}

/// The timing of one method in one round. Times in seconds, above zero.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MethodTiming {
    /// The method.
    #[serde(rename = "way")]
    pub method: WriteMethod,
    /// Bytes written.
    pub bytes: Bytes,
    /// The time until the command ends.
    #[serde(rename = "claimed_s")]
    pub reported_s: f64,
    /// The time until the data was durable.
    pub durable_s: f64,
    /// The time of producing the bytes without writing them, if it takes time.
    pub source_s: Option<f64>,
}

impl MethodTiming {
    /// The reported speed, bytes per second.
    #[must_use]
    pub fn reported(&self) -> f64 {
        self.bytes.as_f64() / self.reported_s
    }

    /// The durable speed, bytes per second.
    #[must_use]
    pub fn durable(&self) -> f64 {
        self.bytes.as_f64() / self.durable_s
    }

    /// The speed of the data source, bytes per second.
    #[must_use]
    pub fn source(&self) -> Option<f64> {
        self.source_s.map(|seconds| self.bytes.as_f64() / seconds)
    }
}

impl ExperimentData for MethodsData {
    fn check(&self) -> Checked {
        check_link(self.link.as_ref())?;
        each("claims", &self.timings, |timing| {
            size("bytes", timing.bytes)?;
            positive("claimed_s", timing.reported_s)?;
            positive("durable_s", timing.durable_s)?;
            timing.source_s.map_or(Ok(()), |source| positive("source_s", source))
        })
    }

    fn records(&self) -> usize {
        self.timings.len()
    }

    fn is_of_speed(&self) -> bool {
        true
    }

    fn has_random_choices(&self) -> bool {
        false
    }
}
