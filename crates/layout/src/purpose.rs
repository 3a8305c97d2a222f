//! What a stick is formatted for.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a stick is formatted for. It selects filesystem, table and options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Files for Windows, macOS, Linux and televisions.
    Share,
    /// Files for Linux only.
    LinuxData,
    /// The root filesystem of a Linux system.
    LinuxRoot,
    /// A card for a camera: the layout of the SD Association.
    Camera,
    /// A board such as a Raspberry Pi: a FAT boot partition and an ext4 root partition.
    BoardBoot,
    /// Large archives that are written once.
    Backup,
}

impl Purpose {
    /// All purposes, in the order of the help.
    pub const ALL: [Self; 6] =
        [Self::Share, Self::LinuxData, Self::LinuxRoot, Self::Camera, Self::BoardBoot, Self::Backup];

    /// The name on the command line and in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Share => "share",
            Self::LinuxData => "linux-data",
            Self::LinuxRoot => "linux-root",
            Self::Camera => "camera",
            Self::BoardBoot => "board-boot",
            Self::Backup => "backup",
        }
    }
}

impl Purpose {
    /// A few words for a list.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Share => "files for Windows, macOS, Linux and televisions",
            Self::LinuxData => "files for Linux only",
            Self::LinuxRoot => "the root filesystem of a Linux system",
            Self::Camera => "a card for a camera",
            Self::BoardBoot => "a board such as a Raspberry Pi: boot and root partition",
            Self::Backup => "large archives that are written once",
        }
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// A purpose that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a purpose; use share, linux-data, linux-root, camera, board-boot or backup")]
pub struct UnknownPurpose(String);

impl FromStr for Purpose {
    type Err = UnknownPurpose;

    fn from_str(text: &str) -> Result<Self, UnknownPurpose> {
        Self::ALL
            .into_iter()
            .find(|purpose| purpose.as_str() == text)
            .ok_or_else(|| UnknownPurpose(text.to_owned()))
    }
}
