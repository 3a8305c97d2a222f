//! ext2, ext3 and ext4: the kernel's documentation of the superblock
//! (`Documentation/filesystems/ext4/super.rst`).

use flashscope_device::Bytes;

use super::Filesystem;
use super::field::{number, text};

/// The offset of the superblock. The space before it is for a boot loader.
const SUPERBLOCK: usize = 1024;

/// `s_feature_compat`: a journal.
const HAS_JOURNAL: u64 = 0x4;
/// `s_feature_incompat`: features of ext4 only: extents, 64 bits, flexible groups.
const ONLY_EXT4: u64 = 0x40 | 0x80 | 0x200;

/// Parses the superblock. `None` if it is not an ext filesystem.
pub fn parse(head: &[u8]) -> Option<Filesystem> {
    let field = |at: usize, length| number(head, SUPERBLOCK + at, length);
    if field(0x38, 2)? != 0xef53 {
        return None;
    }
    let shift = field(0x18, 4).filter(|shift| *shift <= 6)?;
    let kind = match (field(0x5c, 4)? & HAS_JOURNAL, field(0x60, 4)? & ONLY_EXT4) {
        (0, 0) => "ext2",
        (_, 0) => "ext3",
        _ => "ext4",
    };
    Some(Filesystem {
        kind: kind.to_owned(),
        label: text(head, SUPERBLOCK + 0x78, 16),
        cluster: Some(Bytes::kib(1 << shift)),
        data_start: Some(Bytes::ZERO),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn superblock_gives_kind_block_and_label() {
        let mut head = vec![0; 4096];
        head[1024 + 0x38..][..2].copy_from_slice(&[0x53, 0xef]);
        head[1024 + 0x18] = 2;
        head[1024 + 0x5c] = 4;
        head[1024 + 0x78..][..4].copy_from_slice(b"card");
        let found = parse(&head).unwrap();
        assert_eq!(
            (found.kind.as_str(), found.cluster, found.label.as_deref()),
            ("ext3", Some(Bytes::kib(4)), Some("card"))
        );
        head[1024 + 0x60] = 0x42;
        assert_eq!(parse(&head).unwrap().kind, "ext4");
        head[1024 + 0x18] = 60;
        assert_eq!(parse(&head), None);
    }
}
