//! A plan: what goes where on a medium, with the reason of every number. Plain data.

use flashscope_device::Bytes;
use serde::{Deserialize, Serialize};

use crate::filesystem::Placement;
use crate::medium::Medium;
use crate::purpose::Purpose;
use crate::reason::Reason;

/// The format number of plans.
pub const PLAN_FORMAT: u32 = 1;

/// What goes where on a medium.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// [`PLAN_FORMAT`].
    pub format: u32,
    /// The version of flashscope that made it.
    pub flashscope: String,
    /// The medium it is for.
    pub medium: Medium,
    /// What it is formatted for.
    pub purpose: Purpose,
    /// The partition table.
    pub table: PartitionTable,
    /// The partitions, in the order of the table.
    pub partitions: Vec<Partition>,
    /// How many times as fast an everyday copy becomes, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<GainInterval>,
    /// A rule for udev that limits what waits in memory for the medium, if its write speed is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub udev_rule: Option<String>,
}

/// A gain with its interval: times as fast.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GainInterval {
    /// At least.
    pub low: f64,
    /// Most likely.
    pub likely: f64,
    /// At most.
    pub high: f64,
}

/// A partition table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionTable {
    /// Its kind.
    pub kind: TableKind,
    /// Its identifier: 8 hexadecimal digits of an MBR, the GUID of a GPT. `None`: the tool draws one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Why this kind.
    pub reason: Reason,
    /// The geometry that the CHS fields pretend, heads and sectors a track, if one is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chs: Option<Chs>,
}

/// The kind of a partition table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TableKind {
    /// Master boot record: at most 2^32 sectors.
    Mbr,
    /// GUID partition table.
    Gpt,
}

impl TableKind {
    /// The kind as sfdisk calls it.
    #[must_use]
    pub const fn as_sfdisk(self) -> &'static str {
        match self {
            Self::Mbr => "dos",
            Self::Gpt => "gpt",
        }
    }
}

/// A pretended geometry: cylinders of `heads` x `sectors` sectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Chs {
    /// Heads, 1 to 255.
    pub heads: u8,
    /// Sectors a track, 1 to 63.
    pub sectors: u8,
}

/// A partition and the filesystem in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Partition {
    /// Its number in the table, from 1.
    pub number: u32,
    /// Where it is, and how its filesystem is made.
    pub placement: Placement,
    /// The label of the filesystem; empty for none.
    pub label: String,
    /// The identifier of the filesystem, in its own form. `None`: the tool draws one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Its type in the table: two hexadecimal digits, or a GUID.
    pub type_code: String,
    /// Whether firmware may boot from it.
    pub is_bootable: bool,
    /// Options for mounting it.
    pub mount_options: Vec<String>,
}

impl Partition {
    /// The first byte after it.
    #[must_use]
    pub fn end(&self) -> Bytes {
        self.placement.start + self.placement.size
    }
}

impl Plan {
    /// All reasons, the table's first.
    pub fn reasons(&self) -> impl Iterator<Item = &Reason> {
        let of_partitions = self.partitions.iter().flat_map(|partition| &partition.placement.reasons);
        std::iter::once(&self.table.reason).chain(of_partitions)
    }
}
