//! The medium that a plan is for: its size, its blocks and its identity.

use flashscope_device::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A stick, card or image as the planner sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Medium {
    /// Its path or name, e.g. `/dev/sdb` or `sim:transcend-8g`.
    pub target: String,
    /// Its size.
    pub capacity: Bytes,
    /// What it really stores, if that is less. Nothing is planned or written beyond.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub true_size: Option<Bytes>,
    /// Its logical block: 512 bytes or 4 KiB.
    pub logical_block: Bytes,
    /// Its erase block, and how it is known.
    pub erase_block: EraseBlock,
    /// Its finely mapped area at the start: zero if it has none, `None` if it was not measured.
    pub fat_area: Option<Bytes>,
    /// What tells it from another medium.
    pub identity: Identity,
}

impl Medium {
    /// The part that stores data.
    #[must_use]
    pub fn usable(&self) -> Bytes {
        self.true_size.map_or(self.capacity, |size| size.min(self.capacity))
    }
}

/// The erase block of a medium, and how it is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EraseBlock {
    /// Its size.
    pub size: Bytes,
    /// Where the size comes from.
    pub source: EraseBlockSource,
}

/// Where the size of an erase block comes from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum EraseBlockSource {
    /// Found by measurement.
    Measured {
        /// The confidence of that finding, from 0 to 1.
        confidence: f64,
    },
    /// Given by the user.
    Given,
    /// Unknown; the boundary unit of the SD Association for this capacity stands in.
    StandardBoundary,
}

/// What tells a medium from another one. Planning and applying compare it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Identity {
    /// Vendor and model, one line; empty if unknown.
    pub model: String,
    /// The serial number, if the medium has one.
    pub serial: Option<String>,
    /// The size in bytes.
    pub capacity: Bytes,
}

impl std::fmt::Display for Identity {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let model = if self.model.is_empty() { "a medium" } else { &self.model };
        write!(formatter, "{model} of {}", self.capacity)?;
        match &self.serial {
            Some(serial) => write!(formatter, ", serial number {serial}"),
            None => Ok(()),
        }
    }
}

impl Identity {
    /// Whether `other` can be the same medium: model, serial number and size agree.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        self == other
    }
}

#[cfg(test)]
impl Medium {
    /// A stick of 8 GiB with erase blocks of 4 MiB.
    pub(crate) fn stick() -> Self {
        Self {
            target: "/dev/sdb".to_owned(),
            capacity: Bytes::gib(8),
            true_size: None,
            logical_block: Bytes::new(512),
            erase_block: EraseBlock { size: Bytes::mib(4), source: EraseBlockSource::Given },
            fat_area: None,
            identity: Identity::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medium_without_a_model_or_a_serial_number_is_named_by_its_size() {
        let named = |model: &str, serial: Option<&str>| {
            let (model, serial) = (model.to_owned(), serial.map(str::to_owned));
            Identity { model, serial, capacity: Bytes::gib(8) }.to_string()
        };
        assert_eq!(named("SanDisk Ultra", Some("4C53")), "SanDisk Ultra of 8 GiB, serial number 4C53");
        assert_eq!(named("SanDisk Ultra", None), "SanDisk Ultra of 8 GiB");
        assert_eq!(named("", Some("4C53")), "a medium of 8 GiB, serial number 4C53");
        assert_eq!(named("", None), "a medium of 8 GiB");
    }
}
