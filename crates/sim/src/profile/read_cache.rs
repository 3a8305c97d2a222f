//! Parameters of the controller's read caches.

use flashscope_device::{Bytes, SECTOR};
use serde::{Deserialize, Serialize};

use super::bounds::{ensure, number, size};
use super::{Basis, ProfileError, quantity};

// Lines are searched linearly. A cache for random access is small: 8 KiB in f3's notes.
const LINES_MAX: u64 = 1024;
// Guess: more than the memory of any stick controller.
const CACHE_MAX: Bytes = Bytes::gib(1);

/// The kind of a read cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadCacheKind {
    /// The most recently read lines, at any offset.
    Recent,
    /// Read-ahead: the data after a sequential read.
    ReadAhead,
}

/// Memory in the controller that serves some reads without the flash.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ReadCache {
    /// How these numbers were found.
    pub basis: Basis,
    /// The kind.
    pub kind: ReadCacheKind,
    /// The size.
    #[serde(with = "quantity")]
    pub size: Bytes,
    /// The line length; for `recent` only.
    #[serde(default = "four_kib", with = "quantity")]
    pub line: Bytes,
    /// Time of a hit beside the data transfer, us.
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
