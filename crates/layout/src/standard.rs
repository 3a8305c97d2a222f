//! The layouts of the SD Association by capacity.
//!
//! Source: SD Specifications, Part 2, File System Specification 3.00, the tables of sectors per cluster and
//! boundary unit by capacity. Sizes there are in sectors of 512 bytes.

use flashscope_device::Bytes;

/// The layout that the SD Association recommends for one range of capacities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standard {
    /// The largest capacity of the range.
    pub capacity_max: Bytes,
    /// The cluster size.
    pub cluster: Bytes,
    /// The boundary unit: the data area starts at a multiple of it.
    pub boundary: Bytes,
    /// The filesystem.
    pub filesystem: StandardFilesystem,
}

/// The filesystem of a standard layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandardFilesystem {
    /// FAT12 or FAT16, as the size requires.
    Fat,
    /// FAT32.
    Fat32,
    /// exFAT.
    Exfat,
}

const fn row(
    capacity_max: Bytes,
    cluster: Bytes,
    boundary: Bytes,
    filesystem: StandardFilesystem,
) -> Standard {
    Standard { capacity_max, cluster, boundary, filesystem }
}

const STANDARDS: [Standard; 9] = [
    row(Bytes::mib(8), Bytes::kib(8), Bytes::kib(8), StandardFilesystem::Fat),
    row(Bytes::mib(64), Bytes::kib(16), Bytes::kib(16), StandardFilesystem::Fat),
    row(Bytes::mib(256), Bytes::kib(16), Bytes::kib(32), StandardFilesystem::Fat),
    row(Bytes::gib(1), Bytes::kib(16), Bytes::kib(64), StandardFilesystem::Fat),
    row(Bytes::gib(2), Bytes::kib(32), Bytes::kib(64), StandardFilesystem::Fat),
    row(Bytes::gib(32), Bytes::kib(32), Bytes::mib(4), StandardFilesystem::Fat32),
    row(Bytes::gib(128), Bytes::kib(128), Bytes::mib(16), StandardFilesystem::Exfat),
    row(Bytes::gib(512), Bytes::kib(256), Bytes::mib(32), StandardFilesystem::Exfat),
    row(Bytes::new(u64::MAX), Bytes::kib(512), Bytes::mib(64), StandardFilesystem::Exfat),
];

/// The standard layout for a capacity.
#[must_use]
pub fn standard(capacity: Bytes) -> Standard {
    let fits = |standard: &&Standard| capacity <= standard.capacity_max;
    STANDARDS.iter().find(fits).copied().unwrap_or(STANDARDS[STANDARDS.len() - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boundary_unit_grows_with_the_capacity() {
        assert_eq!(standard(Bytes::mib(7)).boundary, Bytes::kib(8));
        assert_eq!(standard(Bytes::gib(8)).boundary, Bytes::mib(4));
        assert_eq!(standard(Bytes::gib(64)).boundary, Bytes::mib(16));
        assert_eq!(standard(Bytes::gib(2048)).boundary, Bytes::mib(64));
        assert!(STANDARDS.windows(2).all(|pair| pair[0].boundary <= pair[1].boundary));
    }
}
