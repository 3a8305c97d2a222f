//! FAT12, FAT16, FAT32: Microsoft, "FAT: General Overview of On-Disk Format", version 1.03.

use flashscope_device::Bytes;

use super::Head;
use super::field::little;
use crate::filesystem::FilesystemKind;

pub(super) fn parse(head: &[u8]) -> Option<Head> {
    let field = |at, length| little(head, at, length);
    let is_boot_sector = field(510, 2)? == 0xaa55 && matches!(head.first()?, 0xeb | 0xe9);
    let (sector, cluster, tables) = (field(11, 2)?, field(13, 1)?, field(16, 1)?);
    let is_possible =
        matches!(sector, 512 | 1024 | 2048 | 4096) && cluster.is_power_of_two() && (1..=2).contains(&tables);
    let is_fat = [54, 82].into_iter().any(|at| head.get(at..at + 3) == Some(b"FAT"));
    if !is_boot_sector || !is_possible || !is_fat {
        return None;
    }
    let table = if field(22, 2)? == 0 { field(36, 4)? } else { field(22, 2)? };
    let root = (field(17, 2)? * 32).div_ceil(sector);
    let sectors = if field(19, 2)? == 0 { field(32, 4)? } else { field(19, 2)? };
    Some(Head {
        kind: FilesystemKind::Vfat,
        cluster: Bytes::new(cluster * sector),
        data_start: Bytes::new((field(14, 2)? + tables * table + root) * sector),
        group: None,
        stripe: None,
        has_journal: None,
        size: Some(Bytes::new(sectors * sector)),
    })
}
