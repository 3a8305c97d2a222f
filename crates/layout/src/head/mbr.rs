//! The master boot record: four entries of 16 bytes at offset 446.

use super::field::little;

/// A master boot record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mbr {
    /// The disk identifier.
    pub id: u32,
    /// Its entries that are used.
    pub entries: Vec<MbrEntry>,
}

/// A used entry of an MBR, in logical blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MbrEntry {
    /// Its number, from 1.
    pub number: u32,
    /// Its type.
    pub code: u8,
    /// Whether it is marked as bootable.
    pub is_active: bool,
    /// Its first logical block.
    pub start: u64,
    /// Its logical blocks.
    pub blocks: u64,
}

/// The type of the one entry of a GPT disk's MBR.
const PROTECTIVE: u8 = 0xee;

impl Mbr {
    /// From the first bytes of a disk. `None` for a boot sector of a filesystem, or for no MBR at all.
    ///
    /// An older filesystem may have left its superblock behind the first sector, where no MBR reaches. The
    /// partitions count then, as for the kernel.
    #[must_use]
    pub fn parse(head: &[u8]) -> Option<Self> {
        if little(head, 510, 2)? != 0xaa55 || super::parse(head.get(..512)?).is_some() {
            return None;
        }
        let mut entries = Vec::new();
        for number in 0..4_u32 {
            let at = 446 + 16 * number as usize;
            let (flag, code) = (*head.get(at)?, *head.get(at + 4)?);
            if flag & 0x7f != 0 {
                return None;
            }
            let (start, blocks) = (little(head, at + 8, 4)?, little(head, at + 12, 4)?);
            if code != 0 && blocks > 0 {
                entries.push(MbrEntry { number: number + 1, code, is_active: flag != 0, start, blocks });
            }
        }
        if entries.is_empty() && super::parse(head).is_some() {
            return None;
        }
        let id = u32::try_from(little(head, 440, 4)?).ok()?;
        Some(Self { id, entries })
    }

    /// Whether it only protects a GPT.
    #[must_use]
    pub fn is_protective(&self) -> bool {
        matches!(self.entries.as_slice(), [only] if only.code == PROTECTIVE)
    }

    /// Whether it protects a GPT and describes partitions of its own, too.
    #[must_use]
    pub fn is_hybrid(&self) -> bool {
        self.entries.len() > 1 && self.entries.iter().any(|entry| entry.code == PROTECTIVE)
    }
}
