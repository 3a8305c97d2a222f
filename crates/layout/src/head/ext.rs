//! ext2, ext3, ext4: the superblock (kernel documentation, filesystems/ext4, "Super Block").

use flashscope_device::Bytes;

use super::Head;
use super::field::little;
use crate::filesystem::FilesystemKind;

/// The superblock starts here.
const SUPERBLOCK: usize = 1024;
const HAS_JOURNAL: u64 = 4;

pub(super) fn parse(head: &[u8]) -> Option<Head> {
    let field = |at: usize, length| little(head, SUPERBLOCK + at, length);
    if field(0x38, 2)? != 0xef53 {
        return None;
    }
    let shift = field(0x18, 4)?;
    if shift > 6 {
        return None;
    }
    let block = 1024_u64 << shift;
    let blocks = field(0x04, 4)? | field(0x150, 4)? << 32;
    Some(Head {
        kind: FilesystemKind::Ext4,
        cluster: Bytes::new(block),
        data_start: Bytes::new(field(0x14, 4)? * block),
        group: Some(Bytes::new(field(0x20, 4)? * block)),
        stripe: Some(Bytes::new(field(0x170, 4)? * block)),
        has_journal: Some(field(0x5c, 4)? & HAS_JOURNAL != 0),
        size: Some(Bytes::new(blocks.min(u64::MAX / block) * block)),
    })
}
