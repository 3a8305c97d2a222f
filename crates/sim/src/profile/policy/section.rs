//! What every policy's section of a profile answers.

use flashscope_device::Bytes;

use crate::profile::{Basis, Class, Ftl, ProfileError};

/// How many erase blocks can be open at a time. `None`: any number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OpenUnits {
    /// For sequential writes inside each erase block.
    pub(crate) linear: Option<u32>,
    /// For random writes inside each erase block.
    pub(crate) random: Option<u32>,
}

/// The parameters of one policy. A new policy implements this beside its parameters.
pub(crate) trait PolicySection {
    /// The section's key in a profile, such as `policy.open_blocks`.
    fn key(&self) -> &'static str;

    /// How the parameters were found.
    fn basis(&self) -> Basis;

    /// Checks every parameter, alone and against the geometry.
    fn check(&self, ftl: &Ftl, capacity: Bytes) -> Result<(), ProfileError>;

    /// The open units that a perfect measurement would find.
    fn open_units(&self, ftl: &Ftl) -> OpenUnits;

    /// The class that a perfect measurement would find.
    fn class(&self) -> Class;

    /// The key and the share of the spare blocks that idle garbage collection keeps free; `None` without it.
    fn background_share(&self) -> Option<(&'static str, f64)> {
        None
    }

    /// True if small writes may take a separate path: layers that map pages need none.
    fn allows_small_write_path(&self) -> bool {
        false
    }
}
