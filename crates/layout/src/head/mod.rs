//! What lies on a medium: partition tables and the heads of filesystems, parsed from bytes.
//!
//! Every parser takes untrusted bytes: it returns `None`, never panics, and allocates nothing that the bytes
//! decide.

mod exfat;
mod ext;
mod f2fs;
mod fat;
mod field;
mod gpt;
mod mbr;
mod ntfs;
mod signature;
mod xfs;

use flashscope_device::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::filesystem::FilesystemKind;

pub use crate::ext_version::ExtVersion;
pub use gpt::{Gpt, GptProblem};
pub use mbr::{Mbr, MbrEntry};
pub use signature::{SIGNATURE_BYTES, Signature};

/// The head of a filesystem fits into this, for all filesystems that are looked for.
pub const HEAD_BYTES: Bytes = Bytes::kib(8);

/// A filesystem as its head describes it. Offsets are from the start of its partition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Head {
    /// Its kind.
    pub kind: FilesystemKind,
    /// ext2, ext3 and ext4 share a kind: which of them it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ext: Option<ExtVersion>,
    /// Its label as stored: it may hold any character. `None` if it has none, or keeps it elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Its cluster or block.
    pub cluster: Bytes,
    /// The offset of its data area; zero where blocks are counted from the start of the partition.
    pub data_start: Bytes,
    /// The size of its groups or sections, if it has any.
    pub group: Option<Bytes>,
    /// ext4: the stripe in bytes; zero for none.
    pub stripe: Option<Bytes>,
    /// Whether it keeps a journal, if it can have one.
    pub has_journal: Option<bool>,
    /// The size that it takes.
    pub size: Option<Bytes>,
}

impl Head {
    /// The kernel's name of the type, e.g. `vfat` or `ext3`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self.ext {
            Some(version) => version.as_str(),
            None => self.kind.as_str(),
        }
    }
}

/// The filesystem whose head this is.
#[must_use]
pub fn parse(head: &[u8]) -> Option<Head> {
    let parsers = [exfat::parse, ntfs::parse, fat::parse, xfs::parse, f2fs::parse, ext::parse];
    parsers.iter().find_map(|parse| parse(head))
}

/// Contents other than a filesystem that is planned here, from the first [`SIGNATURE_BYTES`] of a volume.
#[must_use]
pub fn signature(head: &[u8]) -> Option<Signature> {
    signature::find(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_bytes_are_not_a_filesystem() {
        for head in [&[][..], &[0; 4096], &[0xff; 4096], &[0x55; 511]] {
            assert_eq!(parse(head), None);
        }
    }

    #[test]
    fn no_bytes_make_a_parser_panic() {
        let mut bytes = vec![0_u8; 8192];
        let mut state = 1_u64;
        for _ in 0..2000 {
            for byte in &mut bytes {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                *byte = (state >> 33) as u8;
            }
            bytes[510..512].copy_from_slice(&[0x55, 0xaa]);
            let length = usize::try_from(state % 8193).unwrap();
            let head = &bytes[..length];
            let _ = (parse(head), Mbr::parse(head), Gpt::parse(head, Bytes::new(512)));
        }
    }

    /// The start of a medium that the usual tools made: `testdata/fuzz`.
    fn made(name: &str) -> Vec<u8> {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/fuzz");
        std::fs::read(folder.join(name)).unwrap()
    }

    #[test]
    fn heads_that_the_usual_tools_made_are_read() {
        let sectors = |count: u64| Bytes::new(512 * count);
        let plain = Head {
            kind: FilesystemKind::Ext4,
            ext: None,
            label: Some("DATA".to_owned()),
            cluster: Bytes::kib(4),
            data_start: Bytes::ZERO,
            group: None,
            stripe: None,
            has_journal: None,
            size: Some(Bytes::mib(320)),
        };
        let ext4 = Head {
            ext: Some(ExtVersion::Ext4),
            cluster: Bytes::kib(1),
            group: Some(Bytes::mib(8)),
            stripe: Some(Bytes::ZERO),
            has_journal: Some(true),
            ..plain.clone()
        };
        let vfat = Head {
            kind: FilesystemKind::Vfat,
            data_start: sectors(32 + 2 * 640),
            size: Some(sectors(655_326)),
            ..plain.clone()
        };
        let exfat = Head {
            kind: FilesystemKind::Exfat,
            label: None,
            cluster: Bytes::kib(32),
            data_start: Bytes::mib(2),
            ..plain.clone()
        };
        let f2fs = Head {
            kind: FilesystemKind::F2fs,
            label: None,
            data_start: Bytes::mib(16),
            group: Some(Bytes::mib(2)),
            ..plain.clone()
        };
        let (has_journal, size) = (Some(true), Some(sectors(655_359)));
        let ntfs = Head { kind: FilesystemKind::Ntfs, label: None, has_journal, size, ..plain.clone() };
        let (group, stripe) = (Some(Bytes::mib(80)), Some(Bytes::ZERO));
        let xfs = Head { kind: FilesystemKind::Xfs, group, stripe, has_journal, ..plain };
        for head in [ext4, vfat, exfat, f2fs, ntfs, xfs] {
            assert_eq!(parse(&made(&format!("{}.head", head.kind))), Some(head));
        }
    }

    #[test]
    fn tables_that_sfdisk_made_are_read() {
        let entry = |number, code, start, blocks| MbrEntry { number, code, is_active: false, start, blocks };
        let entries = vec![entry(1, 0x0c, 8192, 16_384), entry(2, 0x83, 40_960, 90_112)];
        assert_eq!(Mbr::parse(&made("mbr.head")), Some(Mbr { id: 0xe2d9_b53e, entries }));
        let entries = vec![(1, 8192, 16_384), (2, 40_960, 88_064)];
        let gpt = Gpt { entries, backup: 131_071 };
        assert_eq!(Gpt::parse(&made("gpt.head"), Bytes::new(512)), Some(gpt));
        assert!(Mbr::parse(&made("gpt.head")).is_some_and(|mbr| mbr.is_protective()));
    }
}
