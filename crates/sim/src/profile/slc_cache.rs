//! The numbers of a cache in single-level cells, into which writes go first. Times are in microseconds.

use flashscope_device::Bytes;
use serde::Deserialize;

use super::bounds::{CAPACITY_MAX, ensure, number, size, time};
use super::{Basis, Ftl, ProfileError, quantity};

/// What happens to a write when the cache is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WhenFull {
    /// It goes past the cache, at the speed of `[write]`.
    Direct,
    /// It waits until as much of the cache has been folded.
    Fold,
}

/// Flash cells that hold one bit each for a while: writes go there first, fast, and are folded into dense cells later.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlcCache {
    /// How these numbers were found.
    pub basis: Basis,
    /// The part of it that is always there.
    #[serde(default, deserialize_with = "quantity::bytes")]
    pub size: Bytes,
    /// The part of it that is taken from what holds no data: its size as a share of the free bytes (1/3 for TLC).
    #[serde(default)]
    pub free_share: f64,
    /// What the controller needs per command that goes there, us.
    #[serde(default)]
    pub overhead_us: f64,
    /// Programming an effective page in this mode, us.
    pub page_program_us: f64,
    /// How fast it is folded, 10^6 bytes per second.
    pub fold_megabytes_per_s: f64,
    /// What happens to a write when it is full.
    pub when_full: WhenFull,
}

impl SlcCache {
    pub(super) fn check(&self, capacity: Bytes, ftl: &Ftl) -> Result<(), ProfileError> {
        number("slc_cache.free_share", self.free_share, 0.0, 1.0)?;
        if !self.size.is_zero() {
            size("slc_cache.size", self.size, ftl.page, CAPACITY_MAX)?;
        }
        let smaller = self.size < capacity;
        ensure(smaller, "slc_cache.size", self.size, format!("less than the capacity ({capacity})"))?;
        let allowed = format!("at least a page ({}), if free_share is 0", ftl.page);
        let there = self.free_share > 0.0 || !self.size.is_zero();
        ensure(there, "slc_cache.size", self.size, allowed)?;
        time("slc_cache.overhead_us", self.overhead_us)?;
        time("slc_cache.page_program_us", self.page_program_us)?;
        number("slc_cache.fold_megabytes_per_s", self.fold_megabytes_per_s, 0.001, 100_000.0)
    }

    /// What can be written at its speed, from an empty stick on without a pause: its free part shrinks as the stick fills.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive and below the capacity"
    )]
    pub fn from_empty(&self, capacity: Bytes) -> Bytes {
        let bytes = (self.size.as_f64() + self.free_share * capacity.as_f64()) / (1.0 + self.free_share);
        Bytes::new(bytes as u64)
    }
}
