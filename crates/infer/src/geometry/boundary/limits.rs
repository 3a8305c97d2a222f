//! The limits of what reads across boundaries may show.

use flashscope_device::Bytes;

/// A step below this share of a read's time is not taken for a boundary of flash, however regular. Published ones are 6 to 60 %
/// of reads that were not held up by a slow link (docs/methods/align.md).
const STEP_SHARE_MIN: f64 = 0.02;
/// However slow the link, a step of this much counts: to read one more page takes the fastest flash 25 us (the table of docs/simulator.md).
const STEP_S: f64 = 25e-6;

/// A step that is so many times as large makes a smaller page's beside it a detail of addressing: the Patriot's 240 us at odd
/// multiples of 16 KiB beside 20 us at 2 KiB.
pub const HARDLY: f64 = 6.0;

/// The smallest step that is taken for a boundary of flash, where a read takes this long; seconds.
#[must_use]
pub const fn step_min_s(read_s: f64) -> f64 {
    (read_s * STEP_SHARE_MIN).min(STEP_S)
}

/// The smallest erase block that is looked for: that of the first cards.
pub const ERASE_BLOCK_MIN: Bytes = Bytes::kib(64);
/// The largest: four times the largest allocation unit of the SD status register (64 MiB), with its odd factors.
pub const ERASE_BLOCK_MAX: Bytes = Bytes::mib(7 * 64);
