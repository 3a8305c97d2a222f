//! A plan: what goes where on a medium, with the reason of every number. Plain data.

use flashscope_device::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::chs::Chs;
use crate::filesystem::Placement;
use crate::medium::Medium;
use crate::purpose::Purpose;
use crate::reason::Reason;
pub use crate::table_kind::{TableKind, UnknownTable};

/// What goes where on a medium.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
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
    /// How much faster many files are written than to what is on the medium now, if a run shows that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted: Option<PredictedGain>,
    /// A rule for udev that limits what waits in memory for the medium, if its write speed is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub udev_rule: Option<String>,
}

/// A gain with its interval: times as fast.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GainInterval {
    /// At least.
    pub low: f64,
    /// Most likely.
    pub likely: f64,
    /// At most.
    pub high: f64,
}

/// The gain of writing the 33,000 files of a source tree, predicted on a virtual stick fitted to a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedGain {
    /// The filesystem that is on the medium now, with its options, such as `vfat`.
    pub now: String,
    /// The start of its partition.
    pub now_start: Bytes,
    /// The gain, with its 95 % interval.
    pub gain: GainInterval,
}

/// A partition table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartitionTable {
    /// Its kind.
    pub kind: TableKind,
    /// Its identifier: 8 hexadecimal digits of an MBR, the GUID of a GPT.
    pub id: String,
    /// Why this kind.
    pub reason: Reason,
    /// The geometry that the CHS fields pretend, heads and sectors a track, if one is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chs: Option<Chs>,
}

/// A partition and the filesystem in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Partition {
    /// Its number in the table, from 1.
    pub number: u32,
    /// Where it is, and how its filesystem is made.
    pub placement: Placement,
    /// The label of the filesystem; empty for none.
    pub label: String,
    /// The identifier of the partition that Linux knows it by (PARTUUID): of an MBR its table's and its
    /// number.
    pub part_uuid: String,
    /// The identifier of the filesystem: a UUID, of which FAT takes the first 8 digits. A tool that draws its
    /// own ignores it.
    pub uuid: String,
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
