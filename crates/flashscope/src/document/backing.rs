//! What lies between a target and the flash: the link, and the backing filesystem.

use flashscope_record::observation::LinkLimit;
use schemars::JsonSchema;
use serde::Serialize;

/// The speed limit of the path to the device.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LinkLimitDocument {
    /// At most this many bytes per second.
    pub bytes_per_s: u64,
    /// What sets the limit, for example `USB at 480 Mbit/s`.
    pub name: String,
}

impl From<&LinkLimit> for LinkLimitDocument {
    fn from(link: &LinkLimit) -> Self {
        Self { bytes_per_s: link.bytes_per_s.get(), name: link.name.clone() }
    }
}
