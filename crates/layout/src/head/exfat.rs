//! exFAT: Microsoft, exFAT file system specification, section 3.1.

use flashscope_device::Bytes;

use super::Head;
use super::field::little;
use crate::filesystem::FilesystemKind;

pub(super) fn parse(head: &[u8]) -> Option<Head> {
    if head.get(3..11) != Some(b"EXFAT   ") {
        return None;
    }
    let (sector_shift, cluster_shift) = (little(head, 108, 1)?, little(head, 109, 1)?);
    if !(9..=12).contains(&sector_shift) || cluster_shift > 25 {
        return None;
    }
    let heap = little(head, 88, 4)?;
    let sectors = little(head, 72, 8)?.min(u64::MAX >> sector_shift);
    Some(Head {
        kind: FilesystemKind::Exfat,
        cluster: Bytes::new(1 << (sector_shift + cluster_shift).min(25)),
        data_start: Bytes::new(heap << sector_shift),
        group: None,
        stripe: None,
        has_journal: None,
        size: Some(Bytes::new(sectors << sector_shift)),
    })
}
