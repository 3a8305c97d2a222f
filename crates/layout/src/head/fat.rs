//! FAT12, FAT16, FAT32: Microsoft, "FAT: General Overview of On-Disk Format", version 1.03.

use flashscope_device::Bytes;

use super::Head;
use super::field::{little, text};
use crate::filesystem::FilesystemKind;

/// The label field of a filesystem without a label.
const NO_NAME: &str = "NO NAME";

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
    let short = field(22, 2)?;
    let (table, label_at) = if short == 0 { (field(36, 4)?, 71) } else { (short, 43) };
    let root = (field(17, 2)? * 32).div_ceil(sector);
    let sectors = if field(19, 2)? == 0 { field(32, 4)? } else { field(19, 2)? };
    Some(Head {
        kind: FilesystemKind::Vfat,
        ext: None,
        label: text(head, label_at, 11).filter(|label| label != NO_NAME),
        cluster: Bytes::new(cluster * sector),
        data_start: Bytes::new((field(14, 2)? + tables * table + root) * sector),
        group: None,
        stripe: None,
        has_journal: None,
        size: Some(Bytes::new(sectors * sector)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boot_sector(fields: &[(usize, &[u8])]) -> Vec<u8> {
        let mut head = vec![0; 512];
        let common: [(usize, &[u8]); 3] = [(0, &[0xeb, 0x58]), (11, &[0, 2]), (510, &[0x55, 0xaa])];
        for (at, bytes) in common.iter().chain(fields) {
            head[*at..at + bytes.len()].copy_from_slice(bytes);
        }
        head
    }

    #[test]
    fn fat32_data_starts_after_the_tables() {
        // FAT32: 32 reserved sectors, two tables of 7 664 sectors, clusters of 32 sectors.
        let head = boot_sector(&[
            (13, &[32]),
            (14, &[32, 0]),
            (16, &[2]),
            (36, &[0xf0, 0x1d, 0, 0]),
            (71, b"STICK      "),
            (82, b"FAT32"),
        ]);
        let found = parse(&head).unwrap();
        assert_eq!((found.label.as_deref(), found.cluster), (Some("STICK"), Bytes::kib(16)));
        assert_eq!(found.data_start, Bytes::new((32 + 2 * 7664) * 512));
    }

    #[test]
    fn fat16_data_starts_after_the_root_directory() {
        // FAT16: 1 reserved sector, two tables of 243 sectors, 512 entries in the root directory.
        let head = boot_sector(&[
            (13, &[64]),
            (14, &[1, 0]),
            (16, &[2]),
            (17, &[0, 2]),
            (22, &[243, 0]),
            (43, b"NO NAME    "),
            (54, b"FAT16"),
        ]);
        let found = parse(&head).unwrap();
        assert_eq!((found.label, found.data_start), (None, Bytes::new((1 + 2 * 243 + 32) * 512)));
    }

    #[test]
    fn boot_loader_without_fat_is_rejected() {
        assert_eq!(parse(&boot_sector(&[(13, &[8]), (16, &[2])])), None);
        assert_eq!(parse(&boot_sector(&[(13, &[7]), (16, &[2]), (82, b"FAT32")])), None);
    }
}
