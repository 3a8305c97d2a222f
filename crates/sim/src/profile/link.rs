//! The numbers of the link.

use flashscope_device::Bytes;
use serde::Deserialize;

use super::bounds::{number, size, time};
use super::{Basis, ProfileError, quantity};

/// The way from the host to the controller: one command at a time, as USB bulk-only transport has it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// How these numbers were found.
    pub basis: Basis,
    /// The most that one command carries; the host cuts larger requests.
    #[serde(deserialize_with = "quantity::bytes")]
    pub max_command: Bytes,
    /// What a command costs before and after its data, us.
    pub command_us: f64,
    /// The rate of the data, 10^6 bytes per second.
    pub megabytes_per_s: f64,
}

impl Link {
    pub(super) fn check(&self) -> Result<(), ProfileError> {
        size("link.max_command", self.max_command, Bytes::kib(4), Bytes::mib(32))?;
        time("link.command_us", self.command_us)?;
        number("link.megabytes_per_s", self.megabytes_per_s, 0.01, 100_000.0)
    }
}
