//! Bounds of profile values. Each refusal names the key, its value and what is allowed.

use std::fmt::Display;

use flashscope_device::{Bytes, SECTOR};

use super::ProfileError;

// The largest SDXC card. Maps are sized by the capacity, so a typing error must not take all memory.
pub(super) const CAPACITY_MAX: Bytes = Bytes::gib(2 << 10);

// Guess: a margin of four beyond the erase blocks that the zoo draws, 64 KiB to 256 MiB.
pub(super) const UNIT_MIN: Bytes = Bytes::kib(16);
pub(super) const UNIT_MAX: Bytes = Bytes::gib(1);

// 100 s. Guess: a stick whose single steps take longer is broken, not slow.
pub(super) const TIME_MAX_US: f64 = 1e8;

pub(super) fn ensure(
    holds: bool,
    key: &'static str,
    value: impl Display,
    allowed: impl Into<String>,
) -> Result<(), ProfileError> {
    if holds {
        return Ok(());
    }
    Err(ProfileError::Impossible { key, value: value.to_string(), allowed: allowed.into() })
}

pub(super) fn size(key: &'static str, value: Bytes, low: Bytes, high: Bytes) -> Result<(), ProfileError> {
    let is_good = (low..=high).contains(&value) && value.is_multiple_of(SECTOR);
    ensure(is_good, key, value, format!("a multiple of 512 B from {low} to {high}"))
}

pub(super) fn number(key: &'static str, value: f64, low: f64, high: f64) -> Result<(), ProfileError> {
    ensure((low..=high).contains(&value), key, value, format!("a number from {low} to {high}"))
}

/// A time in microseconds.
pub(super) fn time(key: &'static str, value: f64) -> Result<(), ProfileError> {
    number(key, value, 0.0, TIME_MAX_US)
}
