//! Parameters of an SLC cache. Times are in microseconds.

use flashscope_device::Bytes;
use serde::{Deserialize, Serialize};

use super::bounds::{CAPACITY_MAX, ensure, number, size, time};
use super::{Basis, Ftl, ProfileError, quantity};

/// What happens to a write when the SLC cache is exhausted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WhenFull {
    /// It bypasses the cache, at the speed of `[write]`.
    Direct,
    /// It waits until the same number of bytes has been folded.
    Fold,
}

/// Flash cells used with one bit each: writes go there first, fast, and are folded into dense cells later.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SlcCache {
    /// How these numbers were found.
    pub basis: Basis,
    /// The static part of the cache.
    #[serde(default, with = "quantity", skip_serializing_if = "quantity::is_default")]
    pub size: Bytes,
    /// The dynamic part, as a share of the bytes that hold no data (1/3 for TLC).
    #[serde(default, skip_serializing_if = "quantity::is_default")]
    pub free_share: f64,
    /// Controller overhead per command into the cache, us.
    #[serde(default, skip_serializing_if = "quantity::is_default")]
    pub overhead_us: f64,
    /// Time to program an effective page in SLC mode, us.
    pub page_program_us: f64,
    /// The folding rate, 10^6 bytes per second.
    pub fold_megabytes_per_s: f64,
    /// What happens to a write when the cache is exhausted.
    pub when_full: WhenFull,
}

impl SlcCache {
    pub(super) fn check(&self, capacity: Bytes, ftl: &Ftl) -> Result<(), ProfileError> {
        number("slc_cache.free_share", self.free_share, 0.0, 1.0)?;
        if !self.size.is_zero() {
            size("slc_cache.size", self.size, ftl.page, CAPACITY_MAX)?;
        }
        let is_smaller = self.size < capacity;
        ensure(is_smaller, "slc_cache.size", self.size, format!("less than the capacity ({capacity})"))?;
        let allowed = format!("at least a page ({}), if free_share is 0", ftl.page);
        let has_room = self.free_share > 0.0 || !self.size.is_zero();
        ensure(has_room, "slc_cache.size", self.size, allowed)?;
        time("slc_cache.overhead_us", self.overhead_us)?;
        time("slc_cache.page_program_us", self.page_program_us)?;
        number("slc_cache.fold_megabytes_per_s", self.fold_megabytes_per_s, 0.001, 100_000.0)
    }

    /// The bytes that an empty stick takes at SLC speed without a pause. The dynamic part shrinks as the
    /// stick fills.
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
