//! The groups of numbers in a profile. Times are in microseconds, as data sheets and logs have them.

use flashscope_device::Bytes;
use serde::Deserialize;

use super::quantity;

/// Where a profile's numbers come from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// What it tells.
    pub what: String,
    /// Where it stands.
    pub r#where: String,
}

/// How a group's numbers were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// Read off a measurement.
    Measured,
    /// Chosen so that the model reproduces a measurement.
    Fitted,
    /// Typical of its kind; nothing measured says otherwise.
    Assumed,
}

/// The way from the host to the controller: one command at a time, as USB bulk-only transport has it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// How these numbers were found.
    pub basis: Basis,
    /// The most that one command carries; the host cuts larger requests.
    #[serde(deserialize_with = "quantity::bytes")]
    pub max_command: Bytes,
    /// What a command costs before and after its data, us.
    pub command_us: f64,
    /// The rate of the data, 10^6 bytes per second.
    pub megabytes_per_s: f64,
}

/// How reads take their time: command, page read, then data.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadPath {
    /// How these numbers were found.
    pub basis: Basis,
    /// What the controller and the NAND need before the first byte, us.
    pub access_us: f64,
    /// How much less a read takes that continues the previous one, us: the controller has read ahead.
    #[serde(default)]
    pub read_ahead_saves_us: f64,
    /// The factor on `access_us` where nothing was ever written.
    #[serde(default = "one")]
    pub never_written_factor: f64,
    /// Boundaries that show in small reads.
    #[serde(default)]
    pub boundary: Vec<Boundary>,
}

/// Boundaries at `phase`, `phase + period`, … A command feels at most one: the widest period it meets.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Boundary {
    /// The distance between two of them.
    #[serde(deserialize_with = "quantity::bytes")]
    pub period: Bytes,
    /// The offset of the first.
    #[serde(default, deserialize_with = "quantity::bytes")]
    pub phase: Bytes,
    /// How much longer a command takes that crosses one, us.
    pub across_us: f64,
    /// How much longer (negative: shorter) a command takes that ends at one, us.
    #[serde(default)]
    pub before_us: f64,
}

/// How a write takes its time when nothing has to be copied. Data and programming overlap: the longer counts.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WritePath {
    /// How these numbers were found.
    pub basis: Basis,
    /// What the controller needs per command, us.
    pub overhead_us: f64,
    /// Programming a page that the command covers wholly, us.
    pub page_program_us: f64,
    /// Programming a page of which the command brings only a part, us: the rest is read first.
    pub partial_page_us: f64,
}

/// Small commands that do not continue the previous one go to a log of their own.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmallWrites {
    /// How these numbers were found.
    pub basis: Basis,
    /// The largest command that goes there.
    #[serde(deserialize_with = "quantity::bytes")]
    pub up_to: Bytes,
    /// What one takes apart from its data, us.
    pub write_us: f64,
    /// What each KiB of it takes beside the link, us.
    #[serde(default)]
    pub per_kib_us: f64,
}

/// Which open unit has to go when another is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Victim {
    /// The one that was not written for the longest time: one unit too many, and every request merges.
    Lru,
    /// Any: with one unit too many, some requests merge and most do not.
    Random,
}

/// The flash translation layer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ftl {
    /// How these numbers were found.
    pub basis: Basis,
    /// The unit that is mapped, erased and merged.
    #[serde(deserialize_with = "quantity::bytes")]
    pub erase_block: Bytes,
    /// The effective page: what is programmed at once.
    #[serde(deserialize_with = "quantity::bytes")]
    pub page: Bytes,
    /// How many erase blocks may be open at a time.
    pub open_units_linear: u32,
    /// How many of them may be open for writes in any order; 0: each write out of order costs a merge.
    pub open_units_random: u32,
    /// Which one has to go.
    pub victim: Victim,
    /// Copying a whole erase block and erasing the old one, us.
    pub merge_us: f64,
    /// How many such copies closing a unit costs that was written out of order.
    #[serde(default = "one")]
    pub random_merge_copies: f64,
    /// How much of out-of-order data a unit's log takes before it must be merged; default: an erase block.
    #[serde(default, deserialize_with = "optional_bytes")]
    pub random_log: Option<Bytes>,
    /// The region at the start that is mapped page by page: writes there never merge.
    #[serde(default, deserialize_with = "quantity::bytes")]
    pub fat_area: Bytes,
}

/// What makes two equal requests differ.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// How these numbers were found.
    pub basis: Basis,
    /// The mean of what a request takes longer than its ideal time, as a share of that time (exponential).
    pub jitter: f64,
    /// How many requests in a million are held up.
    #[serde(default)]
    pub outliers_per_million: f64,
    /// For how long on average, us (exponential).
    #[serde(default)]
    pub outlier_us: f64,
}

const fn one() -> f64 {
    1.0
}

fn optional_bytes<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Bytes>, D::Error> {
    quantity::bytes(deserializer).map(Some)
}
