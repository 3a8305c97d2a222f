//! Parameters of reads. Times are in microseconds, as in data sheets and logs.

use flashscope_device::{Bytes, SECTOR};
use serde::{Deserialize, Serialize};

use super::bounds::{CAPACITY_MAX, TIME_MAX_US, ensure, number, size, time};
use super::{Basis, ProfileError, ReadCache, quantity};

// Guess: more dies than the largest sticks have.
const CHANNELS_MAX: u32 = 64;

const fn one_channel() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
const fn is_one_channel(channels: &u32) -> bool {
    *channels == one_channel()
}

/// The latency of a read: command, page read, data.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ReadPath {
    /// How these numbers were found.
    pub basis: Basis,
    /// Time of controller and NAND before the first byte, us.
    pub access_us: f64,
    /// Time saved by read-ahead when a read continues the previous one, us.
    #[serde(default, skip_serializing_if = "quantity::is_default")]
    pub read_ahead_saves_us: f64,
    /// The factor on `access_us` in never-written areas.
    #[serde(default = "quantity::one", skip_serializing_if = "quantity::is_one")]
    pub never_written_factor: f64,
    /// The number of reads that the flash serves in parallel, with command queueing.
    #[serde(default = "one_channel", skip_serializing_if = "is_one_channel")]
    pub channels: u32,
    /// Boundaries that change the latency of small reads.
    #[serde(default, skip_serializing_if = "quantity::is_default")]
    pub boundary: Vec<Boundary>,
    /// The controller's read caches.
    #[serde(default, skip_serializing_if = "quantity::is_default")]
    pub cache: Vec<ReadCache>,
}

/// Boundaries at `phase`, `phase + period`, … At most one applies to a command: the one with the widest
/// period.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Boundary {
    /// The distance between two boundaries.
    #[serde(with = "quantity")]
    pub period: Bytes,
    /// The offset of the first boundary.
    #[serde(default, with = "quantity", skip_serializing_if = "quantity::is_default")]
    pub phase: Bytes,
    /// Extra time (negative: less) of a command that crosses a boundary, us.
    pub across_us: f64,
    /// Extra time (negative: less) of a command that ends at a boundary, us.
    #[serde(default, skip_serializing_if = "quantity::is_default")]
    pub before_us: f64,
    /// Extra time (negative: less) of a command that starts at a boundary, us. Without it this boundary does
    /// not apply to such a command, and a narrower one may.
    pub after_us: Option<f64>,
}

impl ReadPath {
    pub(super) fn check(&self) -> Result<(), ProfileError> {
        time("read.access_us", self.access_us)?;
        number("read.never_written_factor", self.never_written_factor, 0.01, 100.0)?;
        number("read.read_ahead_saves_us", self.read_ahead_saves_us, 0.0, self.access_us)?;
        self.cache.iter().try_for_each(|cache| cache.check(self.access_us))?;
        let allowed = format!("1 to {CHANNELS_MAX}");
        ensure((1..=CHANNELS_MAX).contains(&self.channels), "read.channels", self.channels, allowed)?;
        self.boundary.iter().try_for_each(|boundary| self.check_boundary(boundary))
    }

    fn check_boundary(&self, boundary: &Boundary) -> Result<(), ProfileError> {
        size("read.boundary.period", boundary.period, SECTOR * 2, CAPACITY_MAX)?;
        let is_inside = boundary.phase < boundary.period && boundary.phase.is_multiple_of(SECTOR);
        let allowed = format!("a multiple of 512 B below the period ({})", boundary.period);
        ensure(is_inside, "read.boundary.phase", boundary.phase, allowed)?;
        number("read.boundary.across_us", boundary.across_us, -self.access_us, TIME_MAX_US)?;
        number("read.boundary.before_us", boundary.before_us, -self.access_us, TIME_MAX_US)?;
        number("read.boundary.after_us", boundary.after_us.unwrap_or(0.0), -self.access_us, TIME_MAX_US)
    }
}
