//! ext2, ext3, ext4: the superblock (kernel documentation, filesystems/ext4, "Super Block").

use flashscope_device::Bytes;

use super::field::{little, text};
use super::{ExtVersion, Head};
use crate::filesystem::FilesystemKind;

/// The superblock starts here.
const SUPERBLOCK: usize = 1024;
/// `s_feature_compat`: a journal.
const HAS_JOURNAL: u64 = 4;
/// `s_feature_incompat`: features of ext4 only: extents, 64 bits, flexible groups.
const ONLY_EXT4: u64 = 0x40 | 0x80 | 0x200;

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
    let has_journal = field(0x5c, 4)? & HAS_JOURNAL != 0;
    let version = match (has_journal, field(0x60, 4)? & ONLY_EXT4 != 0) {
        (_, true) => ExtVersion::Ext4,
        (true, false) => ExtVersion::Ext3,
        (false, false) => ExtVersion::Ext2,
    };
    let blocks = field(0x04, 4)? | field(0x150, 4)? << 32;
    Some(Head {
        kind: FilesystemKind::Ext4,
        ext: Some(version),
        label: text(head, SUPERBLOCK + 0x78, 16),
        cluster: Bytes::new(block),
        data_start: Bytes::ZERO,
        group: Some(Bytes::new(field(0x20, 4)? * block)),
        stripe: Some(Bytes::new(field(0x170, 4)? * block)),
        has_journal: Some(has_journal),
        size: Some(Bytes::new(blocks.min(u64::MAX / block) * block)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn superblock_gives_version_block_and_label() {
        let mut head = vec![0; 4096];
        head[1024 + 0x38..][..2].copy_from_slice(&[0x53, 0xef]);
        head[1024 + 0x18] = 2;
        assert_eq!(parse(&head).unwrap().name(), "ext2");
        head[1024 + 0x5c] = 4;
        head[1024 + 0x78..][..4].copy_from_slice(b"card");
        let found = parse(&head).unwrap();
        assert_eq!(
            (found.name(), found.cluster, found.label.as_deref()),
            ("ext3", Bytes::kib(4), Some("card"))
        );
        head[1024 + 0x60] = 0x42;
        let found = parse(&head).unwrap();
        assert_eq!((found.name(), found.has_journal), ("ext4", Some(true)));
        head[1024 + 0x18] = 60;
        assert_eq!(parse(&head), None);
    }

    #[test]
    fn superblock_gives_groups_stripe_and_size_in_bytes() {
        let mut head = vec![0; 4096];
        let mut set = |at: usize, number: u32| {
            head[1024 + at..][..4].copy_from_slice(&number.to_le_bytes());
        };
        set(0x38, 0xef53);
        // Blocks of 4 KiB, 32768 in a group, 1024 in a stripe, and 2^32 + 5 in all.
        set(0x18, 2);
        set(0x20, 32_768);
        set(0x170, 1024);
        set(0x04, 5);
        set(0x150, 1);
        let found = parse(&head).unwrap();
        assert_eq!((found.group, found.stripe), (Some(Bytes::mib(128)), Some(Bytes::mib(4))));
        assert_eq!(found.size, Some(Bytes::kib(4) * ((1 << 32) + 5)));
    }
}
