//! The geometry that every translation layer has.

use flashscope_device::{Bytes, SECTOR};
use serde::{Deserialize, Serialize};

use super::bounds::{UNIT_MAX, UNIT_MIN, ensure, size};
use super::{Basis, ProfileError, quantity};

/// The geometry of a flash translation layer. Its [`Policy`](super::Policy) is a separate section.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Ftl {
    /// How these numbers were found.
    pub basis: Basis,
    /// The erase block: the unit that is mapped, erased and merged.
    #[serde(with = "quantity")]
    pub erase_block: Bytes,
    /// The effective page: the unit that is programmed at once.
    #[serde(with = "quantity")]
    pub page: Bytes,
    /// The page-mapped region at the start: writes there never merge.
    #[serde(default, with = "quantity", skip_serializing_if = "quantity::is_default")]
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
