//! The numbers of the controller's read caches.

use flashscope_device::{Bytes, SECTOR};
use serde::Deserialize;

use super::bounds::{ensure, number, size};
use super::{Basis, ProfileError, quantity};

// Lines are searched one by one; a cache for random access is tiny (8 KiB in f3's notes).
const LINES_MAX: u64 = 1024;
const CACHE_MAX: Bytes = Bytes::gib(1);

/// What a read cache keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadCacheKind {
    /// The lines that were read last, wherever they lie.
    Recent,
    /// What follows a read that continues another.
    ReadAhead,
}

/// Memory in the controller that answers some reads without the flash.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadCache {
    /// How these numbers were found.
    pub basis: Basis,
    /// What it keeps.
    pub kind: ReadCacheKind,
    /// How much.
    #[serde(deserialize_with = "quantity::bytes")]
    pub size: Bytes,
    /// In lines of this length; for `recent` only.
    #[serde(default = "four_kib", deserialize_with = "quantity::bytes")]
    pub line: Bytes,
    /// What a read takes beside its data that it answers, us.
    pub hit_us: f64,
}

const fn four_kib() -> Bytes {
    Bytes::kib(4)
}

impl ReadCache {
    pub(super) fn check(&self, access_us: f64) -> Result<(), ProfileError> {
        size("read.cache.size", self.size, SECTOR, CACHE_MAX)?;
        number("read.cache.hit_us", self.hit_us, 0.0, access_us)?;
        if self.kind == ReadCacheKind::ReadAhead {
            return Ok(());
        }
        size("read.cache.line", self.line, SECTOR, self.size)?;
        let allowed = format!("at least size / {LINES_MAX} ({})", self.size / LINES_MAX);
        ensure(self.size / self.line <= LINES_MAX, "read.cache.line", self.line, allowed)
    }
}
