//! What lies between a target and the flash: the link, and the backing filesystem.

use flashscope_record::observation::Instead;
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

/// What was measured instead of a removable device.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BackingDocument {
    /// Memory (tmpfs).
    Memory,
    /// Another machine.
    Network,
    /// An overlay filesystem.
    Overlay,
    /// A filesystem in user space (FUSE).
    UserSpace,
    /// The disk that the system runs from.
    SystemDisk,
}

impl From<&Instead> for BackingDocument {
    fn from(instead: &Instead) -> Self {
        match instead {
            Instead::Memory => Self::Memory,
            Instead::Network => Self::Network,
            Instead::Overlay => Self::Overlay,
            Instead::UserSpace => Self::UserSpace,
            Instead::SystemDisk => Self::SystemDisk,
        }
    }
}
