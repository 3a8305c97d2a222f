//! NTFS: the boot sector, as Microsoft's "NTFS: How It Works" lists it.

use flashscope_device::Bytes;

use super::Head;
use super::field::little;
use crate::filesystem::FilesystemKind;

pub(super) fn parse(head: &[u8]) -> Option<Head> {
    if head.get(3..11) != Some(b"NTFS    ") {
        return None;
    }
    let sector = little(head, 11, 2)?;
    let code = little(head, 13, 1)?;
    // Above 128, the byte is the negative power of two of the sectors per cluster.
    let cluster = if code <= 128 { code } else { 1_u64.checked_shl(u32::try_from(256 - code).ok()?)? };
    if !matches!(sector, 512 | 1024 | 2048 | 4096) || !cluster.is_power_of_two() || cluster > 1 << 16 {
        return None;
    }
    let sectors = little(head, 40, 8)?.min(u64::MAX / sector);
    Some(Head {
        kind: FilesystemKind::Ntfs,
        ext: None,
        label: None,
        cluster: Bytes::new(cluster * sector),
        data_start: Bytes::ZERO,
        group: None,
        stripe: None,
        has_journal: Some(true),
        size: Some(Bytes::new(sectors * sector)),
    })
}
