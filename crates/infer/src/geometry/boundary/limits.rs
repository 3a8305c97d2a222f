//! The limits of steps and sizes in reads across boundaries.

use flashscope_device::Bytes;

use crate::copying::PAGE_READ_SECONDS;

/// The least step of a boundary of flash, as a share of a read's time. Published steps are 6 to 60 % of reads
/// over a fast link (docs/methods/align.md).
const STEP_SHARE_MIN: f64 = 0.02;

/// A page's step that another exceeds by this factor is a detail of addressing: the Patriot has 240 µs at odd
/// multiples of 16 KiB beside 20 µs at 2 KiB.
pub const HARDLY: f64 = 6.0;

/// The smallest step of a boundary of flash if a read takes `read_s`, seconds.
#[must_use]
pub const fn step_min_s(read_s: f64) -> f64 {
    (read_s * STEP_SHARE_MIN).min(PAGE_READ_SECONDS)
}

/// The smallest erase block that is searched for. Guess: that of the first cards.
pub const ERASE_BLOCK_MIN: Bytes = Bytes::kib(64);
/// The largest that is taken for an erase block: the largest allocation unit that cards may have (SD Physical
/// Layer 4.10, table 4-46). Larger steps are those of groups: a PQI card's at 1 GiB, by who measured it, and
/// an unnamed card's at 256 MiB (testdata/published).
pub const ERASE_BLOCK_PLAUSIBLE_MAX: Bytes = Bytes::mib(64);
/// The largest that is searched for, so that a larger group is not taken for a block of half its size: four
/// times as large, with its odd factors.
pub const ERASE_BLOCK_MAX: Bytes = Bytes::mib(7 * 64);
