//! The verdict of `verify`: what a device really stores, compared with what it announces.

use std::time::Duration;

use flashscope_device::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of a capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CapacityKind {
    /// No sign of a false capacity within the cache bound.
    NoSign,
    /// No such sign either, but the device may map flash only when it is written, and store less. No quick
    /// test decides that.
    #[serde(rename = "cannot_be_told")]
    Undecided,
    /// Addresses wrap around: data beyond the true size overwrites the start.
    Wrap,
    /// Writes beyond the true size are dropped.
    Dropped,
    /// Addresses wrap around, and the upper part of each period is dropped.
    Chain,
    /// Requests beyond the true size fail.
    Errors,
    /// Bad places all over the device.
    Scattered,
    /// A boundary, and bad places below it.
    Mixed,
}

impl CapacityKind {
    /// Whether the device is fake or bad.
    #[must_use]
    pub const fn is_bad(self) -> bool {
        !matches!(self, Self::NoSign | Self::Undecided)
    }
}

/// What a place returned after it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlaceState {
    /// The data that was written.
    Kept,
    /// Data that was written to another address.
    OtherAddress,
    /// Zero bytes.
    Zeros,
    /// Bytes of 0xff.
    Ones,
    /// The contents from before the write.
    Previous,
    /// Unknown data.
    Garbage,
    /// The read failed.
    ReadError,
    /// The write failed.
    WriteError,
}

impl PlaceState {
    /// Whether a request failed: the device said that it lost the data.
    #[must_use]
    pub const fn is_error(self) -> bool {
        matches!(self, Self::ReadError | Self::WriteError)
    }
}

/// A place that was written and read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SampledPlace {
    /// Its offset.
    pub offset: Bytes,
    /// What it returned.
    pub state: PlaceState,
}

/// The number of bad places that returned the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BadPlaces {
    /// What they returned.
    pub state: PlaceState,
    /// How many did.
    pub count: u64,
}

/// A sign that decides nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CapacityHint {
    /// Areas that were never written read back much faster than written ones, and all equal: the device may
    /// map flash only when it is written.
    UnwrittenReadsFast {
        /// The median latency of areas that were never written.
        #[serde(with = "crate::duration_ns")]
        #[schemars(with = "u64")]
        unwritten: Duration,
        /// The median latency of areas that were written.
        #[serde(with = "crate::duration_ns")]
        #[schemars(with = "u64")]
        written: Duration,
    },
    /// Places that were wrong once and right when tried again: a bad contact or a dying device.
    WrongOnce {
        /// The number of places.
        places: u64,
    },
    /// Writes that failed once and worked when repeated: a bad contact or a dying device.
    FailedOnce {
        /// The number of writes.
        writes: u64,
    },
}

/// What the verification cost.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityCost {
    /// Bytes written.
    pub bytes_written: Bytes,
    /// Bytes read.
    pub bytes_read: Bytes,
    /// Requests.
    pub requests: u64,
    /// Device time.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub device_time: Duration,
}

/// What a device really stores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityVerdict {
    /// The kind.
    pub kind: CapacityKind,
    /// The capacity that the device announces.
    pub announced: Bytes,
    /// The capacity that it stores, exact, if that is less than announced; null if no boundary was found.
    pub true_size: Option<Bytes>,
    /// The size after which addresses wrap around; null if they do not.
    pub wrap_period: Option<Bytes>,
    /// A cache up to this size cannot hide a false capacity.
    pub cache_excluded: Bytes,
    /// A cache for dropped data, as far as one was seen.
    pub cache_seen: Option<Bytes>,
    /// The share of bad ones among the places below the true size, from 0 to 1. Places are denser at the end.
    pub bad_share: f64,
    /// What the bad places returned, the most frequent first.
    pub bad: Vec<BadPlaces>,
    /// Signs that decide nothing.
    pub hints: Vec<CapacityHint>,
    /// The places that were written and read back, by offset.
    pub places: Vec<SampledPlace>,
    /// The random seed.
    pub seed: u64,
    /// The cost.
    pub cost: CapacityCost,
}

impl CapacityVerdict {
    /// The capacity that it stores as far as the test shows: what it announces without a sign of less.
    #[must_use]
    pub const fn stored(&self) -> Option<Bytes> {
        if matches!(self.kind, CapacityKind::NoSign) { Some(self.announced) } else { self.true_size }
    }

    /// Whether data was wrong or writes failed now and then: a bad contact or a dying device.
    #[must_use]
    pub fn is_unsteady(&self) -> bool {
        let is_trouble = |hint: &CapacityHint| {
            matches!(hint, CapacityHint::WrongOnce { .. } | CapacityHint::FailedOnce { .. })
        };
        self.hints.iter().any(is_trouble)
    }
}
