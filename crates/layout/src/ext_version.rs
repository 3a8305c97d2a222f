//! The versions of the ext filesystem.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A version of the ext filesystem, by the features that a volume uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExtVersion {
    /// Without a journal and without features of ext4.
    Ext2,
    /// With a journal, without features of ext4.
    Ext3,
    /// With features of ext4.
    Ext4,
}

impl ExtVersion {
    /// All versions.
    pub const ALL: [Self; 3] = [Self::Ext2, Self::Ext3, Self::Ext4];

    /// The kernel's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ext2 => "ext2",
            Self::Ext3 => "ext3",
            Self::Ext4 => "ext4",
        }
    }
}
