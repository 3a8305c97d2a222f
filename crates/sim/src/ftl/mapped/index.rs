//! Indices of mapping units.

use super::blocks::NONE;

/// A unit's index in the map; the profile's check bounds its size.
pub(super) fn index(unit: u64) -> u32 {
    u32::try_from(unit).unwrap_or(NONE)
}
