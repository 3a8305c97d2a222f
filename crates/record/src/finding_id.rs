//! What a finding is about: one table describes all of them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a finding is about, in the order of a report. Its text form is the `id` of `--json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingId {
    /// The unit the controller erases and maps (SD: allocation unit), bytes.
    EraseBlockBytes,
    /// The effective page: below it, a write costs as much as the page, bytes.
    PageBytes,
    /// The smallest request that is written at full efficiency, bytes.
    WriteUnitBytes,
    /// How many erase blocks can be written round-robin without a merge, each sequentially.
    OpenUnitsLinear,
    /// The same with random order inside each block.
    OpenUnitsRandom,
    /// The finely mapped region at the start of the device, for the file allocation table, bytes; 0: none.
    FatAreaBytes,
    /// The class of the flash translation layer.
    FtlClass,
    /// The duration of a merge: closing an erase block that is not full by copying the rest, seconds.
    MergeSeconds,
    /// Whether reads across a boundary of pages or erase blocks take longer.
    ReadBoundarySignal,
    /// The cache of single-level cells: what is written fast before writing slows down, bytes; 0: none.
    SlcCacheBytes,
    /// The sequential write speed in the steady state, bytes per second.
    SustainedWriteBytesPerS,
    /// Memory in the controller that takes writes before the flash does, bytes; 0: none.
    WriteBufferBytes,
}

/// Which values of a finding are better for the person who uses the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Larger values are better.
    Higher,
    /// Smaller values are better.
    Lower,
    /// Neither.
    Neither,
}

/// The fixed properties of one kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FindingInfo {
    /// The finding.
    pub id: FindingId,
    /// Its id in JSON.
    pub key: &'static str,
    /// The unit of its value in JSON.
    pub unit: &'static str,
    /// Which values are better.
    pub better: Direction,
}

const fn info(id: FindingId, key: &'static str, unit: &'static str, better: Direction) -> FindingInfo {
    FindingInfo { id, key, unit, better }
}

/// All findings, in the order of [`FindingId`] and of a report.
pub const FINDINGS: [FindingInfo; 12] = {
    use Direction::{Higher, Lower, Neither};
    use FindingId as Id;
    [
        info(Id::EraseBlockBytes, "erase_block_bytes", "bytes", Neither),
        info(Id::PageBytes, "page_bytes", "bytes", Lower),
        info(Id::WriteUnitBytes, "write_unit_bytes", "bytes", Lower),
        info(Id::OpenUnitsLinear, "open_units_linear", "erase blocks", Higher),
        info(Id::OpenUnitsRandom, "open_units_random", "erase blocks", Higher),
        info(Id::FatAreaBytes, "fat_area_bytes", "bytes", Higher),
        info(Id::FtlClass, "ftl_class", "class", Neither),
        info(Id::MergeSeconds, "merge_seconds", "seconds", Lower),
        info(Id::ReadBoundarySignal, "read_boundary_signal", "yes or no", Neither),
        info(Id::SlcCacheBytes, "slc_cache_bytes", "bytes", Higher),
        info(Id::SustainedWriteBytesPerS, "sustained_write_bytes_per_s", "bytes per second", Higher),
        info(Id::WriteBufferBytes, "write_buffer_bytes", "bytes", Higher),
    ]
};

impl FindingId {
    /// All ids, in the order of a report.
    pub const ALL: [Self; FINDINGS.len()] = {
        let mut ids = [Self::EraseBlockBytes; FINDINGS.len()];
        let mut index = 0;
        while index < ids.len() {
            ids[index] = FINDINGS[index].id;
            index += 1;
        }
        ids
    };

    /// The fixed properties of this finding.
    #[must_use]
    pub const fn info(self) -> &'static FindingInfo {
        &FINDINGS[self as usize]
    }

    /// The id in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.info().key
    }

    /// The unit of the value in JSON.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        self.info().unit
    }
}

impl fmt::Display for FindingId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum_and_its_keys_are_those_of_serde() {
        for (index, info) in FINDINGS.iter().enumerate() {
            assert_eq!((info.id as usize, info.id.info()), (index, info));
            assert_eq!(serde_json::to_value(info.id).unwrap(), info.key);
        }
    }
}
