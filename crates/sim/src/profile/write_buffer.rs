//! Parameters of the write buffer.

use flashscope_device::{Bytes, SECTOR};
use serde::{Deserialize, Serialize};

use super::bounds::{size, time};
use super::{Basis, ProfileError, quantity};

// Guess: more than the memory of any stick controller.
const BUFFER_MAX: Bytes = Bytes::gib(1);

/// Memory in the controller: a write completes when its data has arrived, and is programmed later.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WriteBuffer {
    /// How these numbers were found.
    pub basis: Basis,
    /// The size.
    #[serde(with = "quantity")]
    pub size: Bytes,
    /// Time to accept a command beside its data transfer, us.
    #[serde(default, skip_serializing_if = "quantity::is_default")]
    pub accept_us: f64,
}

impl WriteBuffer {
    pub(super) fn check(&self) -> Result<(), ProfileError> {
        size("write_buffer.size", self.size, SECTOR, BUFFER_MAX)?;
        time("write_buffer.accept_us", self.accept_us)
    }
}
