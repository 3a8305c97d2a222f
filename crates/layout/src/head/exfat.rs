//! exFAT: Microsoft, exFAT file system specification, section 3.1.

use flashscope_device::Bytes;

use super::Head;
use super::field::little;
use crate::filesystem::FilesystemKind;

pub(super) fn parse(head: &[u8]) -> Option<Head> {
    if head.get(3..11) != Some(b"EXFAT   ") || little(head, 510, 2)? != 0xaa55 {
        return None;
    }
    let (sector_shift, cluster_shift) = (little(head, 108, 1)?, little(head, 109, 1)?);
    if !(9..=12).contains(&sector_shift) || sector_shift + cluster_shift > 25 {
        return None;
    }
    let heap = little(head, 88, 4)?;
    let sectors = little(head, 72, 8)?.min(u64::MAX >> sector_shift);
    Some(Head {
        kind: FilesystemKind::Exfat,
        ext: None,
        // It is in the root directory, which is not read.
        label: None,
        cluster: Bytes::new(1 << (sector_shift + cluster_shift)),
        data_start: Bytes::new(heap << sector_shift),
        group: None,
        stripe: None,
        has_journal: None,
        size: Some(Bytes::new(sectors << sector_shift)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cluster_heap_is_found() {
        let mut head = vec![0; 512];
        head[3..11].copy_from_slice(b"EXFAT   ");
        head[88..92].copy_from_slice(&32768_u32.to_le_bytes());
        (head[108], head[109], head[510], head[511]) = (9, 8, 0x55, 0xaa);
        let found = parse(&head).unwrap();
        assert_eq!((found.cluster, found.data_start), (Bytes::kib(128), Bytes::mib(16)));
        head[109] = 200;
        assert_eq!(parse(&head), None);
    }
}
