//! Bounds that several policies share.

use flashscope_device::Bytes;

use crate::profile::bounds::ensure;
use crate::profile::{Ftl, ProfileError};

// A map takes eight bytes a unit: 1 GiB for the largest SDXC card in pages of 16 KiB. A typing error shall take no more.
const MAPPED_UNITS_MAX: u64 = 1 << 27;

/// The map of `capacity` in units of `unit` must fit into memory.
pub(super) fn mapped_units(key: &'static str, unit: Bytes, capacity: Bytes) -> Result<(), ProfileError> {
    let smallest = Bytes::new(capacity.get().div_ceil(MAPPED_UNITS_MAX));
    let allowed = format!("at least {smallest}, so that {capacity} are at most {MAPPED_UNITS_MAX} of them");
    ensure(unit >= smallest, key, unit, allowed)
}

/// All is mapped alike here: there is no place for a region of its own.
pub(super) fn no_fat_area(ftl: &Ftl, policy: &str) -> Result<(), ProfileError> {
    let allowed = format!("0, as policy.{policy} maps everything as finely as a FAT area");
    ensure(ftl.fat_area.is_zero(), "ftl.fat_area", ftl.fat_area, allowed)
}
