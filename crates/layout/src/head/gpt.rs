//! The GUID partition table (UEFI 2.10, section 5.3).

use flashscope_device::Bytes;

use super::field::little;

/// A GUID partition table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gpt {
    /// The partitions: number from 1, first logical block, logical blocks.
    pub entries: Vec<(u32, u64, u64)>,
    /// Where the backup header should be.
    pub backup: u64,
}

/// What is wrong with a GPT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GptProblem {
    /// The backup header is not at the end, or is damaged.
    #[error("the backup header of the GPT is missing or damaged")]
    Backup,
}

/// More entries than this are not read; the specification reserves 128.
const ENTRIES_MAX: u64 = 256;

/// No disk has as many bytes, and no file of results takes a larger number.
const BYTES_MAX: u64 = 1 << 59;

impl Gpt {
    /// From the first bytes of a disk: protective MBR, header and entries. `None` for no GPT.
    #[must_use]
    pub fn parse(start: &[u8], logical_block: Bytes) -> Option<Self> {
        let block = logical_block.to_usize();
        let header = start.get(block..)?;
        if header.get(..8) != Some(b"EFI PART") {
            return None;
        }
        let (first, count, size) = (little(header, 72, 8)?, little(header, 80, 4)?, little(header, 84, 4)?);
        if !(128..=4096).contains(&size) || count > ENTRIES_MAX || first > 1 << 20 {
            return None;
        }
        let mut entries = Vec::new();
        for number in 0..count {
            let at = usize::try_from(first * logical_block.get() + number * size).ok()?;
            let Some(entry) = start.get(at..at.checked_add(128)?) else { break };
            if entry[..16].iter().all(|byte| *byte == 0) {
                continue;
            }
            let (first, last) = (little(entry, 32, 8)?, little(entry, 40, 8)?);
            // Also one that ends beyond the disk: it is a problem to be named. None ends beyond all disks.
            if first <= last && last < BYTES_MAX / logical_block.get() {
                entries.push((u32::try_from(number).ok()? + 1, first, last - first + 1));
            }
        }
        Some(Self { entries, backup: little(header, 32, 8)? })
    }

    /// Checks the last logical block of the disk, which should hold the backup header.
    ///
    /// # Errors
    /// [`GptProblem`] if it does not.
    pub fn check_backup(&self, last: &[u8], logical_block: Bytes, capacity: Bytes) -> Result<(), GptProblem> {
        let is_there = last.get(..8) == Some(b"EFI PART");
        let is_at_end = self.backup == (capacity / logical_block).saturating_sub(1);
        if is_there && is_at_end { Ok(()) } else { Err(GptProblem::Backup) }
    }
}
