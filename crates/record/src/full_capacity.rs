//! The full capacity test: its progress, which can be stored and continued, and its verdict.

use std::time::Duration;

use flashscope_device::{ByteRange, Bytes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capacity::{BadPlaces, CapacityCost, CapacityKind, PlaceState};

/// The phase of a full test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FullPhase {
    /// Everything is written.
    Write,
    /// Everything is read back.
    Read,
    /// Bad places are tried again.
    SecondLook,
}

/// One pass over one region: what was transferred, and how long it took.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// Bytes.
    pub bytes: Bytes,
    /// Device time.
    #[serde(with = "crate::duration_ns")]
    pub time: Duration,
}

/// What is known of one region so far.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionTally {
    /// Writing it.
    pub write: Transfer,
    /// Reading it.
    pub read: Transfer,
    /// Bad sectors, by what they returned.
    pub bad: Vec<BadPlaces>,
}

/// Neighbouring sectors that are bad in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadExtent {
    /// Where.
    pub range: ByteRange,
    /// What they returned.
    pub state: PlaceState,
}

/// Signs of a bad contact or a dying device.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trouble {
    /// Requests that failed twice.
    pub failed_requests: u64,
    /// Requests that failed once and worked when repeated.
    pub repeated_requests: u64,
    /// Reads that took at least one second.
    pub slow_reads: u64,
    /// The longest time between two completed reads.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub longest_read: Duration,
    /// The longest time between two completed writes.
    #[serde(with = "crate::duration_ns")]
    #[schemars(with = "u64")]
    pub longest_write: Duration,
    /// Bad places that were tried again.
    pub looked_at: u64,
    /// Those of them that were right when read again.
    pub right_when_read_again: u64,
    /// Those of them that were right after a second write.
    pub right_after_second_write: u64,
}

/// A full test that is under way. Stored, it can be continued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FullProgress {
    /// The random seed.
    pub seed: u64,
    /// The announced capacity, in whole logical blocks.
    pub capacity: Bytes,
    /// The size of a region; the last one may be shorter.
    pub region: Bytes,
    /// The phase.
    pub phase: FullPhase,
    /// Everything below this offset is done in this phase.
    pub position: Bytes,
    /// The regions.
    pub regions: Vec<RegionTally>,
    /// Ranges whose writes failed, ascending.
    pub write_errors: Vec<ByteRange>,
    /// Bad extents, ascending. The first ones only, if there are very many.
    pub extents: Vec<BadExtent>,
    /// Whether more extents are bad than are stored.
    pub is_cut_off: bool,
    /// The end of the last sector that kept its data.
    pub kept_end: Bytes,
    /// The greatest common divisor of all distances between an address and the address in its data.
    pub shift: Option<Bytes>,
    /// Signs of trouble.
    pub trouble: Trouble,
    /// How often the test was continued.
    pub continued: u32,
    /// The cost.
    pub cost: CapacityCost,
}

impl FullProgress {
    /// The progress of a test of which nothing is done.
    #[must_use]
    pub fn new(seed: u64, capacity: Bytes, region: Bytes) -> Self {
        let count = capacity.get().div_ceil(region.get().max(1));
        Self {
            seed,
            capacity,
            region,
            phase: FullPhase::Write,
            position: Bytes::ZERO,
            regions: (0..count).map(|_| RegionTally::default()).collect(),
            write_errors: Vec::new(),
            extents: Vec::new(),
            is_cut_off: false,
            kept_end: Bytes::ZERO,
            shift: None,
            trouble: Trouble::default(),
            continued: 0,
            cost: CapacityCost::default(),
        }
    }

    /// Whether it can be of a device with this capacity.
    #[must_use]
    pub fn is_of_capacity(&self, capacity: Bytes) -> bool {
        self.capacity == capacity && !self.region.is_zero()
    }
}

/// What a region turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RegionState {
    /// All data was kept.
    Good,
    /// All data was kept, but the region is much slower than most others.
    Slow,
    /// Requests failed.
    Bad,
    /// Data was lost without an error.
    Lying,
}

/// One region of the device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FullRegion {
    /// Its offset.
    pub offset: Bytes,
    /// Its length.
    pub length: Bytes,
    /// What it turned out to be.
    pub state: RegionState,
    /// The write throughput; null if nothing was written.
    pub write_bytes_per_s: Option<f64>,
    /// The read throughput; null if nothing was read.
    pub read_bytes_per_s: Option<f64>,
    /// Bad sectors, by what they returned.
    pub bad: Vec<BadPlaces>,
}

/// What a device really stores, after all of it was written and read back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FullVerdict {
    /// The kind; `no_sign` if everything was kept.
    pub kind: CapacityKind,
    /// Whether bad places move or requests fail now and then: a bad contact or a dying device.
    pub is_unsteady: bool,
    /// The capacity that was tested: that which the device announces, or the free space of a directory.
    pub announced: Bytes,
    /// The capacity that it stores; null if there is no boundary.
    pub true_size: Option<Bytes>,
    /// The size after which addresses wrap around; null if they do not.
    pub wrap_period: Option<Bytes>,
    /// A cache for dropped data, as far as one was seen.
    pub cache_seen: Option<Bytes>,
    /// The share of bad sectors below the true size, from 0 to 1.
    pub bad_share: f64,
    /// Bad sectors, the most frequent kind first.
    pub bad: Vec<BadPlaces>,
    /// Signs of a bad contact or a dying device.
    pub trouble: Trouble,
    /// The write throughput over all regions; null if nothing was written.
    pub write_bytes_per_s: Option<f64>,
    /// The read throughput over all regions; null if nothing was read.
    pub read_bytes_per_s: Option<f64>,
    /// The regions, by offset: the map, and the throughput over the offset.
    pub regions: Vec<FullRegion>,
    /// How often the test was continued.
    pub continued: u32,
    /// The random seed.
    pub seed: u64,
    /// The cost.
    pub cost: CapacityCost,
}

impl FullVerdict {
    /// Whether the device should not be trusted.
    #[must_use]
    pub const fn is_bad(&self) -> bool {
        self.kind.is_bad() || self.is_unsteady
    }
}
