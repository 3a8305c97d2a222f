//! The numbers of a write buffer in the controller's memory.

use flashscope_device::{Bytes, SECTOR};
use serde::Deserialize;

use super::bounds::{size, time};
use super::{Basis, ProfileError, quantity};

// More than the memory of any controller of a stick.
const BUFFER_MAX: Bytes = Bytes::gib(1);

/// Memory in the controller: a write completes when its data is there, and the flash takes it later.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteBuffer {
    /// How these numbers were found.
    pub basis: Basis,
    /// How much it holds.
    #[serde(deserialize_with = "quantity::bytes")]
    pub size: Bytes,
    /// What taking a command takes beside its data, us.
    #[serde(default)]
    pub accept_us: f64,
}

impl WriteBuffer {
    pub(super) fn check(&self) -> Result<(), ProfileError> {
        size("write_buffer.size", self.size, SECTOR, BUFFER_MAX)?;
        time("write_buffer.accept_us", self.accept_us)
    }
}
