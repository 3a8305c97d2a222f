//! XFS: the superblock (XFS Algorithms & Data Structures, 3rd edition, "Superblocks").

use flashscope_device::Bytes;

use super::Head;
use super::field::{big, text};
use crate::filesystem::FilesystemKind;

pub(super) fn parse(head: &[u8]) -> Option<Head> {
    if head.get(..4) != Some(b"XFSB") {
        return None;
    }
    let block = big(head, 4, 4)?;
    if !block.is_power_of_two() || !(512..=65_536).contains(&block) {
        return None;
    }
    let group = big(head, 84, 4)? * block;
    let unit = big(head, 184, 4)? * block;
    let blocks = big(head, 8, 8)?.min(u64::MAX / block);
    Some(Head {
        kind: FilesystemKind::Xfs,
        ext: None,
        label: text(head, 108, 12),
        cluster: Bytes::new(block),
        data_start: Bytes::ZERO,
        group: Some(Bytes::new(group)),
        stripe: Some(Bytes::new(unit)),
        has_journal: Some(true),
        size: Some(Bytes::new(blocks * block)),
    })
}
