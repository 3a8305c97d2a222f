//! The layout that is on a medium, judged by the same arithmetic as a plan.

use flashscope_device::{ByteRange, Bytes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::filesystem::FilesystemKind;
use crate::head::{self, Gpt, HEAD_BYTES, Head, Mbr, SIGNATURE_BYTES, Signature};
use crate::plan::TableKind;

/// What is on a medium.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Present {
    /// The partition table; `None` for none.
    pub table: Option<TableKind>,
    /// What is wrong with the table.
    pub problems: Vec<TableProblem>,
    /// Its partitions, or the one filesystem on the whole medium.
    pub volumes: Vec<PresentVolume>,
}

/// What is wrong with a partition table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TableProblem {
    /// The MBR protects a GPT whose header is missing or damaged.
    GptHeader,
    /// The backup header of a GPT is missing or damaged.
    GptBackup,
    /// An MBR that protects a GPT also describes partitions.
    HybridMbr,
    /// A partition reaches beyond the end of the medium.
    BeyondEnd,
    /// Two partitions overlap.
    Overlap,
}

/// A partition or a filesystem on the whole medium.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PresentVolume {
    /// Its number in the table; `None` on the whole medium.
    pub number: Option<u32>,
    /// Its start.
    pub start: Bytes,
    /// Its size.
    pub size: Bytes,
    /// Its filesystem, if its head was recognised.
    pub head: Option<Head>,
    /// Other contents, if their signature was recognised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

/// How a volume lies against the erase block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Alignment {
    /// Start and data area lie on edges.
    Aligned,
    /// The start is off the edge, and the data area on one: that is on purpose.
    DataAreaOnly,
    /// The data area is off the edge by this much.
    DataAreaOff {
        /// From the edge before it.
        by: Bytes,
    },
    /// Groups after the first are off the edge: their size is no multiple of the erase block.
    GroupsOff {
        /// The size of a group.
        group: Bytes,
    },
    /// The start is off the edge by this much, and the data area is not known.
    StartOff {
        /// From the edge before it.
        by: Bytes,
    },
    /// The start is on an edge, and the data area is not known.
    StartOnly,
}

impl PresentVolume {
    /// How it lies against an erase block.
    #[must_use]
    pub fn alignment(&self, erase_block: Bytes) -> Alignment {
        let is_start_on_edge = self.start.is_multiple_of(erase_block);
        let by = |offset: Bytes| offset - offset.round_down(erase_block);
        let Some(head) = &self.head else {
            return if is_start_on_edge {
                Alignment::StartOnly
            } else {
                Alignment::StartOff { by: by(self.start) }
            };
        };
        match head.kind {
            FilesystemKind::Vfat | FilesystemKind::Exfat | FilesystemKind::F2fs => {
                let data = Bytes::new(self.start.get().saturating_add(head.data_start.get()));
                match (data.is_multiple_of(erase_block), is_start_on_edge) {
                    (true, true) => Alignment::Aligned,
                    (true, false) => Alignment::DataAreaOnly,
                    (false, _) => Alignment::DataAreaOff { by: by(data) },
                }
            }
            FilesystemKind::Ext4 | FilesystemKind::Xfs => {
                let group = head.group.unwrap_or_default();
                match (is_start_on_edge, group.is_multiple_of(erase_block)) {
                    (false, _) => Alignment::StartOff { by: by(self.start) },
                    (true, true) => Alignment::Aligned,
                    (true, false) => Alignment::GroupsOff { group },
                }
            }
            FilesystemKind::Btrfs | FilesystemKind::Ntfs | FilesystemKind::Nilfs2 => {
                if is_start_on_edge {
                    Alignment::StartOnly
                } else {
                    Alignment::StartOff { by: by(self.start) }
                }
            }
        }
    }
}

impl Alignment {
    /// Whether moving the filesystem onto edges would change anything.
    #[must_use]
    pub const fn is_off(self) -> bool {
        matches!(self, Self::DataAreaOff { .. } | Self::GroupsOff { .. } | Self::StartOff { .. })
    }
}

/// The first bytes of a medium that hold MBR, GPT header and 128 entries, with logical blocks of up to 4 KiB.
const TABLE_BYTES: Bytes = Bytes::kib(32);

/// Reads what is on a medium. `read` returns the bytes of a range, or `None` if they cannot be read.
pub fn present(
    capacity: Bytes,
    logical_block: Bytes,
    read: &mut dyn FnMut(ByteRange) -> Option<Vec<u8>>,
) -> Present {
    let mut bytes_at = |offset: Bytes, length: Bytes| {
        let length = length.min(capacity.saturating_sub(offset)).round_down(logical_block);
        if length.is_zero() { None } else { read(ByteRange::new(offset, length)) }
    };
    let Some(start) = bytes_at(Bytes::ZERO, TABLE_BYTES) else {
        return Present { table: None, problems: Vec::new(), volumes: Vec::new() };
    };
    let mut problems = Vec::new();
    let (table, spans) = table_of(&start, logical_block, capacity, &mut problems, &mut bytes_at);
    let mut volumes = Vec::new();
    for (number, first, blocks) in spans {
        let (begin, size) = (logical_block * first, logical_block * blocks);
        if begin + size > capacity {
            problems.push(TableProblem::BeyondEnd);
        }
        let start = bytes_at(begin, SIGNED_BYTES).unwrap_or_default();
        let (head, signature) = (parse_head(&start), head::signature(&start));
        volumes.push(PresentVolume { number: Some(number), start: begin, size, head, signature });
    }
    if table.is_none() {
        let start = bytes_at(Bytes::ZERO, SIGNED_BYTES).unwrap_or_default();
        let (head, signature) = (parse_head(&start), head::signature(&start));
        if head.is_some() || signature.is_some() {
            let (start, size) = (Bytes::ZERO, capacity);
            volumes.push(PresentVolume { number: None, start, size, head, signature });
        }
    }
    if overlap(&volumes) {
        problems.push(TableProblem::Overlap);
    }
    problems.dedup();
    Present { table, problems, volumes }
}

/// The start of a volume that holds head and signature.
const SIGNED_BYTES: Bytes = Bytes::new(SIGNATURE_BYTES as u64);

fn parse_head(start: &[u8]) -> Option<Head> {
    head::parse(start.get(..HEAD_BYTES.to_usize()).unwrap_or(start))
}

/// A partition: number, first logical block, logical blocks.
type Span = (u32, u64, u64);

fn table_of(
    start: &[u8],
    logical_block: Bytes,
    capacity: Bytes,
    problems: &mut Vec<TableProblem>,
    bytes_at: &mut dyn FnMut(Bytes, Bytes) -> Option<Vec<u8>>,
) -> (Option<TableKind>, Vec<Span>) {
    let mbr = Mbr::parse(start);
    if let Some(gpt) = Gpt::parse(start, logical_block) {
        if mbr.as_ref().is_some_and(Mbr::is_hybrid) {
            problems.push(TableProblem::HybridMbr);
        }
        let last = bytes_at(capacity.saturating_sub(logical_block), logical_block).unwrap_or_default();
        if gpt.check_backup(&last, logical_block, capacity).is_err() {
            problems.push(TableProblem::GptBackup);
        }
        return (Some(TableKind::Gpt), gpt.entries);
    }
    match mbr {
        Some(mbr) if mbr.is_protective() => {
            problems.push(TableProblem::GptHeader);
            (Some(TableKind::Gpt), Vec::new())
        }
        Some(mbr) => {
            let spans = mbr.entries.iter().map(|entry| (entry.number, entry.start, entry.blocks)).collect();
            (Some(TableKind::Mbr), spans)
        }
        None => (None, Vec::new()),
    }
}

fn overlap(volumes: &[PresentVolume]) -> bool {
    let mut spans: Vec<(Bytes, Bytes)> =
        volumes.iter().map(|volume| (volume.start, volume.start + volume.size)).collect();
    spans.sort_unstable();
    spans.windows(2).any(|pair| pair[1].0 < pair[0].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field of a medium: offset and bytes.
    type Field = (usize, Vec<u8>);

    const BLOCK: Bytes = Bytes::new(512);
    const BLOCKS: u32 = 4096;

    /// The problems of a medium of zeros with these fields.
    fn problems(fields: &[Field]) -> Vec<TableProblem> {
        let capacity = BLOCK * u64::from(BLOCKS);
        let mut medium = vec![0_u8; capacity.to_usize()];
        for (at, bytes) in fields {
            medium[*at..*at + bytes.len()].copy_from_slice(bytes);
        }
        let mut read = |range: ByteRange| {
            medium.get(range.offset.to_usize()..range.end().to_usize()).map(<[u8]>::to_vec)
        };
        present(capacity, BLOCK, &mut read).problems
    }

    /// An MBR with these entries: type, first block, blocks.
    fn mbr(entries: &[(u8, u32, u32)]) -> Vec<Field> {
        let mut fields: Vec<Field> = vec![(510, vec![0x55, 0xaa])];
        for (number, (code, start, blocks)) in entries.iter().enumerate() {
            let at = 450 + 16 * number;
            fields.push((at, vec![*code]));
            fields.push((at + 4, start.to_le_bytes().to_vec()));
            fields.push((at + 8, blocks.to_le_bytes().to_vec()));
        }
        fields
    }

    /// A GPT behind this MBR, with one partition, as it is made for a medium of this number of blocks. Its
    /// last field is the backup header at the end of this medium.
    fn gpt(mbr: Vec<Field>, blocks: u32) -> Vec<Field> {
        let number = |at: usize, number: u32| (at, number.to_le_bytes().to_vec());
        let (header, entry, backup) = (512, 1024, 512 * (BLOCKS as usize - 1));
        let mut fields = mbr;
        fields.extend([
            (header, b"EFI PART".to_vec()),
            number(header + 32, blocks - 1),
            // Where the entries begin, how many there are, and their length.
            number(header + 72, 2),
            number(header + 80, 128),
            number(header + 84, 128),
            (entry, vec![7; 16]),
            number(entry + 32, 64),
            number(entry + 40, BLOCKS - 34),
            (backup, b"EFI PART".to_vec()),
        ]);
        fields
    }

    #[test]
    fn partitions_may_fill_the_medium_and_touch_but_not_exceed_it_or_overlap() {
        let of = |entries: &[(u8, u32, u32)]| problems(&mbr(entries));
        assert_eq!(problems(&[]), []);
        assert_eq!(of(&[(0x83, 64, BLOCKS - 64)]), []);
        assert_eq!(of(&[(0x83, 64, BLOCKS - 63)]), [TableProblem::BeyondEnd]);
        assert_eq!(of(&[(0x83, 64, 1000), (0x0c, 1064, BLOCKS - 1064)]), []);
        assert_eq!(of(&[(0x83, 64, 1001), (0x0c, 1064, BLOCKS - 1064)]), [TableProblem::Overlap]);
        // In any order, and each problem once.
        let both = of(&[(0x83, 1064, BLOCKS), (0x83, 64, BLOCKS)]);
        assert_eq!(both, [TableProblem::BeyondEnd, TableProblem::Overlap]);
    }

    #[test]
    fn whole_gpt_has_no_problem_and_each_damage_of_one_is_named() {
        let protective = || mbr(&[(0xee, 1, BLOCKS - 1)]);
        assert_eq!(problems(&gpt(protective(), BLOCKS)), []);
        assert_eq!(problems(&protective()), [TableProblem::GptHeader]);
        // Copied from a larger medium.
        assert_eq!(problems(&gpt(protective(), BLOCKS + 1)), [TableProblem::GptBackup]);
        let mut without_backup = gpt(protective(), BLOCKS);
        without_backup.pop();
        assert_eq!(problems(&without_backup), [TableProblem::GptBackup]);
        let hybrid = mbr(&[(0xee, 1, 63), (0x0c, 64, 1000)]);
        assert_eq!(problems(&gpt(hybrid, BLOCKS)), [TableProblem::HybridMbr]);
    }

    #[test]
    fn partition_of_a_gpt_beyond_the_end_is_a_problem_as_in_an_mbr() {
        let mut fields = gpt(mbr(&[(0xee, 1, BLOCKS - 1)]), BLOCKS);
        // Its last block is the first one behind the medium.
        fields.push((1024 + 40, BLOCKS.to_le_bytes().to_vec()));
        assert_eq!(problems(&fields), [TableProblem::BeyondEnd]);
        // No disk is as large: such an entry is no partition.
        fields.push((1024 + 40, (1_u64 << 54).to_le_bytes().to_vec()));
        assert_eq!(problems(&fields), []);
    }
}
