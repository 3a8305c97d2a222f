//! The numbers that every translation layer has.

use flashscope_device::{Bytes, SECTOR};
use serde::Deserialize;

use super::bounds::{UNIT_MAX, UNIT_MIN, ensure, size};
use super::{Basis, ProfileError, quantity};

/// The geometry that every flash translation layer has; its [`Policy`](super::Policy) stands beside it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ftl {
    /// How these numbers were found.
    pub basis: Basis,
    /// The unit that is mapped, erased and merged.
    #[serde(deserialize_with = "quantity::bytes")]
    pub erase_block: Bytes,
    /// The effective page: what is programmed at once.
    #[serde(deserialize_with = "quantity::bytes")]
    pub page: Bytes,
    /// The region at the start that is mapped page by page: writes there never merge.
    #[serde(default, deserialize_with = "quantity::bytes")]
    pub fat_area: Bytes,
}

impl Ftl {
    pub(super) fn check(&self, capacity: Bytes) -> Result<(), ProfileError> {
        size("ftl.erase_block", self.erase_block, UNIT_MIN, UNIT_MAX)?;
        size("ftl.page", self.page, SECTOR, self.erase_block)?;
        let whole_pages = self.erase_block.is_multiple_of(self.page);
        let allowed = format!("erase_block ({}) must be a multiple of it", self.erase_block);
        ensure(whole_pages, "ftl.page", self.page, allowed)?;
        let whole_blocks = self.fat_area.is_zero() || self.fat_area.is_multiple_of(self.erase_block);
        let allowed =
            format!("0, or a multiple of erase_block ({}) up to the capacity ({capacity})", self.erase_block);
        ensure(whole_blocks && self.fat_area <= capacity, "ftl.fat_area", self.fat_area, allowed)
    }
}
