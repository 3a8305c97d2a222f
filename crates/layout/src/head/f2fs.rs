//! f2fs: the superblock (kernel source, include/linux/f2fs_fs.h, `struct f2fs_super_block`: offsets of its
//! fields).

use flashscope_device::Bytes;

use super::Head;
use super::field::little;
use crate::filesystem::FilesystemKind;

/// The superblock starts here.
const SUPERBLOCK: usize = 1024;
const MAGIC: u64 = 0xF2F5_2010;

pub(super) fn parse(head: &[u8]) -> Option<Head> {
    let field = |at: usize, length| little(head, SUPERBLOCK + at, length);
    if field(0, 4)? != MAGIC {
        return None;
    }
    let (block_shift, segment_shift) = (field(16, 4)?, field(20, 4)?);
    if block_shift != 12 || segment_shift > 12 {
        return None;
    }
    let segments = field(24, 4)?;
    Some(Head {
        kind: FilesystemKind::F2fs,
        ext: None,
        label: None,
        cluster: Bytes::kib(4),
        data_start: Bytes::new(field(92, 4)? << block_shift),
        group: Some(Bytes::new(segments << (block_shift + segment_shift).min(24))),
        stripe: None,
        has_journal: None,
        size: Some(Bytes::new(field(36, 8)?.min(u64::MAX >> block_shift) << block_shift)),
    })
}
