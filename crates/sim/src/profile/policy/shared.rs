//! Bounds that several policies share.

use flashscope_device::Bytes;

use crate::profile::bounds::ensure;
use crate::profile::{Ftl, ProfileError};

// A map takes 8 bytes a unit, so 1 GiB for the largest SDXC card in pages of 16 KiB. A typing error must not
// take more.
const MAPPED_UNITS_MAX: u64 = 1 << 27;

/// The map of `capacity` in units of `unit` must fit into memory.
pub(super) fn check_map_size(key: &'static str, unit: Bytes, capacity: Bytes) -> Result<(), ProfileError> {
    let smallest = Bytes::new(capacity.get().div_ceil(MAPPED_UNITS_MAX));
    let allowed = format!("at least {smallest}, so that {capacity} are at most {MAPPED_UNITS_MAX} of them");
    ensure(unit >= smallest, key, unit, allowed)
}

/// These policies map every page alike, so a page-mapped region at the start has no meaning.
pub(super) fn refuse_fat_area(ftl: &Ftl, policy: &str) -> Result<(), ProfileError> {
    let allowed = format!("0, as policy.{policy} maps everything as finely as a FAT area");
    ensure(ftl.fat_area.is_zero(), "ftl.fat_area", ftl.fat_area, allowed)
}
