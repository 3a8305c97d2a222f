//! The kinds of partition tables.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of a partition table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TableKind {
    /// Master boot record: at most 2^32 sectors.
    Mbr,
    /// GUID partition table.
    Gpt,
}

impl TableKind {
    /// The kind as a person types it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mbr => "mbr",
            Self::Gpt => "gpt",
        }
    }

    /// The kind as sfdisk calls it.
    #[must_use]
    pub const fn as_sfdisk(self) -> &'static str {
        match self {
            Self::Mbr => "dos",
            Self::Gpt => "gpt",
        }
    }
}

/// A partition table that flashscope does not make.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no partition table; use mbr or gpt")]
pub struct UnknownTable(String);

impl std::str::FromStr for TableKind {
    type Err = UnknownTable;

    fn from_str(text: &str) -> Result<Self, UnknownTable> {
        match text {
            "mbr" => Ok(Self::Mbr),
            "gpt" => Ok(Self::Gpt),
            _ => Err(UnknownTable(text.to_owned())),
        }
    }
}
