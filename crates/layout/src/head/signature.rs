//! Contents that are no filesystem which is planned here, but data all the same.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much of the start holds every signature.
pub const SIGNATURE_BYTES: usize = 68 << 10;

/// Contents known by their signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Signature {
    /// A physical volume of LVM.
    Lvm,
    /// An encrypted volume.
    Luks,
    /// A member of a Linux RAID.
    Raid,
    /// A btrfs.
    Btrfs,
    /// Swap space.
    Swap,
}

/// Offset, bytes, and what they mean: libblkid's tables of magic numbers (util-linux,
/// libblkid/src/superblocks). LVM: the second sector; LUKS: the first; md 1.2: at 4 KiB, md 1.1: at the
/// start.
const SIGNATURES: [(usize, &[u8], Signature); 6] = [
    (512, b"LABELONE", Signature::Lvm),
    (0, b"LUKS\xba\xbe", Signature::Luks),
    (4096, &[0xfc, 0x4e, 0x2b, 0xa9], Signature::Raid),
    (0, &[0xfc, 0x4e, 0x2b, 0xa9], Signature::Raid),
    (0x1_0040, b"_BHRfS_M", Signature::Btrfs),
    (4086, b"SWAPSPACE2", Signature::Swap),
];

/// What the signature at the start of a volume says.
#[must_use]
pub fn find(head: &[u8]) -> Option<Signature> {
    let is_there = |(offset, magic, _): &&(usize, &[u8], Signature)| {
        head.get(*offset..).is_some_and(|bytes| bytes.starts_with(magic))
    };
    SIGNATURES.iter().find(is_there).map(|(_, _, signature)| *signature)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_signature_is_found_and_short_heads_have_none() {
        for (offset, magic, signature) in SIGNATURES {
            let mut head = vec![0; SIGNATURE_BYTES];
            head[offset..offset + magic.len()].copy_from_slice(magic);
            assert_eq!(find(&head), Some(signature));
            assert_eq!(find(&head[..offset]), None);
        }
        assert_eq!(find(&[]), None);
    }
}
