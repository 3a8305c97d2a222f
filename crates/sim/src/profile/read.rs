//! The numbers of reads. Times are in microseconds, as data sheets and logs have them.

use flashscope_device::{Bytes, SECTOR};
use serde::Deserialize;

use super::bounds::{CAPACITY_MAX, TIME_MAX_US, ensure, number, size, time};
use super::{Basis, ProfileError, ReadCache, quantity};

// As many dies as the largest sticks have.
const CHANNELS_MAX: u32 = 64;

const fn channels() -> u32 {
    1
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
    #[serde(default = "quantity::one")]
    pub never_written_factor: f64,
    /// How many reads the flash works on at a time, where the link queues them.
    #[serde(default = "channels")]
    pub channels: u32,
    /// Boundaries that show in small reads.
    #[serde(default)]
    pub boundary: Vec<Boundary>,
    /// The controller's read caches.
    #[serde(default)]
    pub cache: Vec<ReadCache>,
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
    /// How much longer (negative: shorter) a command takes that crosses one, us.
    pub across_us: f64,
    /// How much longer (negative: shorter) a command takes that ends at one, us.
    #[serde(default)]
    pub before_us: f64,
    /// How much longer (negative: shorter) a command takes that begins at one, us. Without it such a command does not
    /// feel this boundary, and may feel a narrower one.
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
        let inside = boundary.phase < boundary.period && boundary.phase.is_multiple_of(SECTOR);
        let allowed = format!("a multiple of 512 B below the period ({})", boundary.period);
        ensure(inside, "read.boundary.phase", boundary.phase, allowed)?;
        number("read.boundary.across_us", boundary.across_us, -self.access_us, TIME_MAX_US)?;
        number("read.boundary.before_us", boundary.before_us, -self.access_us, TIME_MAX_US)?;
        number("read.boundary.after_us", boundary.after_us.unwrap_or(0.0), -self.access_us, TIME_MAX_US)
    }
}
