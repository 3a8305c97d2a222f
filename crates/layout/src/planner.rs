//! Makes a plan: table, partitions and filesystems for a purpose.

use flashscope_device::{Bytes, SECTOR};

use crate::chs::Chs;
use crate::filesystem::{
    self, Cannot, Choice, ExtMake, Filesystem, FilesystemKind, LabelError, Request, Space,
};
use crate::ids::Ids;
use crate::medium::Medium;
use crate::misfit::{Misfit, misfit};
use crate::plan::{GainInterval, Partition, PartitionTable, Plan, TableKind};
use crate::purpose::Purpose;
use crate::reason::{Because, PlanNumber, Reason};
use crate::standard::{StandardFilesystem, standard};

/// The identifier of an MBR has 32 bits (UEFI 2.10, 5.2.1).
const MBR_ID_DIGITS: usize = 8;
/// An MBR counts sectors with 32 bits.
const MBR_SECTORS_MAX: u64 = u32::MAX as u64;
/// A GPT takes 34 sectors at the start and 33 at the end, with sectors of 512 bytes (UEFI 2.10, 5.3.1); some
/// more where sectors are larger.
const GPT_START_SECTORS: u64 = 34;
const GPT_END_SECTORS: u64 = 33;
/// An MBR takes the first sector.
const MBR_START_SECTORS: u64 = 1;
/// The first partition of every usual tool starts at 1 MiB or later; boot loaders use the space before it.
const FIRST_USABLE: Bytes = Bytes::mib(1);
/// The boot partition of a board: what the images of Raspberry Pi OS have since 2023.
const BOOT_SIZE: Bytes = Bytes::mib(512);
/// On small cards the boot partition takes at most this share.
const BOOT_SHARE: u64 = 8;

/// What a user asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Wish {
    /// The purpose.
    pub purpose: Purpose,
    /// Another filesystem than the purpose suggests.
    pub filesystem: Option<FilesystemKind>,
    /// Another cluster than the purpose suggests.
    pub cluster: Option<Bytes>,
    /// The label; empty for none.
    pub label: String,
    /// Whether the filesystem keeps a journal, where that is a choice (ext4).
    pub has_journal: bool,
    /// How an ext filesystem is made.
    pub ext: ExtMake,
    /// A GPT although an MBR would do, or the other way round.
    pub table: Option<TableKind>,
    /// A geometry for the CHS fields.
    pub chs: Option<Chs>,
    /// The seed of all identifiers: the same seed gives the same bytes.
    pub seed: u64,
    /// What the layout gains, if that is known.
    pub gain: Option<GainInterval>,
    /// The sustained write speed, bytes per second, if that is known.
    pub sustained_write: Option<f64>,
}

impl Wish {
    /// Why the filesystem does not suit the purpose. What the purpose chooses itself suits it.
    #[must_use]
    pub fn misfit(&self) -> Option<Misfit> {
        self.filesystem.and_then(|kind| misfit(self.purpose, kind))
    }

    /// A wish for this purpose, everything else as it suggests.
    #[must_use]
    pub const fn new(purpose: Purpose, seed: u64) -> Self {
        Self {
            purpose,
            filesystem: None,
            cluster: None,
            has_journal: true,
            ext: ExtMake::Planned,
            label: String::new(),
            table: None,
            chs: None,
            seed,
            gain: None,
            sustained_write: None,
        }
    }
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// The filesystem cannot be made there.
    #[error(transparent)]
    Cannot(#[from] Cannot),
    /// The label is not possible.
    #[error(transparent)]
    Label(#[from] LabelError),
    /// The filesystem never works for the purpose.
    #[error(transparent)]
    Misfit(Misfit),
    /// None of the filesystems has this choice.
    #[error(
        "{} is for {}, and this plan makes {made}: leave it out, or name another filesystem (--fs)",
        .choice.option(),
        takers(*.choice)
    )]
    NotOffered {
        /// The choice.
        choice: Choice,
        /// The filesystem of the plan.
        made: FilesystemKind,
    },
    /// The disk is too small for the erase block.
    #[error(
        "{target} has {capacity}, less than two erase blocks of {erase_block}: nothing can be aligned; give a smaller one (--erase-block)"
    )]
    TooSmall {
        /// The target.
        target: String,
        /// Its size.
        capacity: Bytes,
        /// The erase block.
        erase_block: Bytes,
    },
    /// The part that stores data is too small for the erase block.
    #[error(
        "a true size of {true_size} is less than two erase blocks of {erase_block}, so no partition fits; give the size in bytes that \
         `flashscope verify` finds (--true-size)"
    )]
    TrueSizeTooSmall {
        /// The size that was given.
        true_size: Bytes,
        /// The erase block.
        erase_block: Bytes,
    },
    /// The erase block is no whole number of logical blocks.
    #[error("an erase block of {erase_block} is no multiple of the logical block of {logical_block}")]
    EraseBlock {
        /// The erase block.
        erase_block: Bytes,
        /// The logical block.
        logical_block: Bytes,
    },
    /// sfdisk makes a GPT in a file for blocks of 512 bytes only.
    #[error("a GPT for logical blocks of {logical_block} is not offered; ask for an MBR (--table mbr)")]
    GptBlock {
        /// The logical block.
        logical_block: Bytes,
    },
    /// It cannot store more than it announces.
    #[error("a true size of {true_size} is more than the capacity of {capacity}; leave out --true-size")]
    TrueSize {
        /// The size that was given.
        true_size: Bytes,
        /// The capacity.
        capacity: Bytes,
    },
    /// The second copy of a GPT lies at the end.
    #[error(
        "a GPT keeps a copy at the end, where this device stores nothing; leave the choice to flashscope, or ask for an MBR (--table mbr)"
    )]
    GptBeyondTrueSize,
    /// Only an MBR has CHS fields.
    #[error("a GPT has no CHS fields; leave out --chs, or ask for an MBR (--table mbr)")]
    ChsInGpt,
    /// A partition cannot start there.
    #[error(
        "no partition can start at {start}: it needs a multiple of {logical_block}, from {logical_block} on, with space behind it"
    )]
    Start {
        /// The start.
        start: Bytes,
        /// The logical block.
        logical_block: Bytes,
    },
    /// An MBR cannot describe so large a disk.
    #[error(
        "an MBR holds at most {maximum}, and {target} has {capacity}; leave the choice to flashscope, or ask for gpt"
    )]
    MbrTooSmall {
        /// The target.
        target: String,
        /// Its size.
        capacity: Bytes,
        /// The most an MBR can describe.
        maximum: Bytes,
    },
}

/// The filesystem that a purpose suggests for a capacity.
fn suggested(purpose: Purpose, capacity: Bytes) -> FilesystemKind {
    let standard = match standard(capacity).filesystem {
        StandardFilesystem::Fat | StandardFilesystem::Fat32 => FilesystemKind::Vfat,
        StandardFilesystem::Exfat => FilesystemKind::Exfat,
    };
    match purpose {
        Purpose::Share | Purpose::Camera => standard,
        Purpose::LinuxData | Purpose::LinuxRoot | Purpose::BoardBoot | Purpose::Backup => {
            FilesystemKind::Ext4
        }
    }
}

/// What to ask for so that the filesystem stays what it is, by its name in the kernel: a purpose, and the
/// filesystem if the purpose suggests another one. A filesystem that is not offered becomes ext4.
#[must_use]
pub fn keeping(filesystem: &str, capacity: Bytes) -> (Purpose, Option<FilesystemKind>) {
    let (purpose, kind) = match filesystem {
        "" => (Purpose::Share, None),
        "vfat" | "msdos" => (Purpose::Share, Some(FilesystemKind::Vfat)),
        "exfat" => (Purpose::Share, Some(FilesystemKind::Exfat)),
        "ntfs" | "ntfs3" | "fuseblk" => (Purpose::Share, Some(FilesystemKind::Ntfs)),
        name => (Purpose::LinuxData, name.parse().ok()),
    };
    (purpose, kind.filter(|kind| *kind != suggested(purpose, capacity)))
}

/// Makes a plan.
///
/// # Errors
/// [`PlanError`] if the disk is too small, the label impossible, or the filesystem cannot be made.
pub fn plan(medium: &Medium, wish: &Wish) -> Result<Plan, PlanError> {
    let erase_block = medium.erase_block.size;
    if erase_block.is_zero() || !erase_block.is_multiple_of(medium.logical_block) {
        return Err(PlanError::EraseBlock { erase_block, logical_block: medium.logical_block });
    }
    if let Some(true_size) = medium.true_size.filter(|size| *size > medium.capacity) {
        return Err(PlanError::TrueSize { true_size, capacity: medium.capacity });
    }
    if let Some(true_size) = medium.true_size.filter(|size| *size < erase_block * 2) {
        return Err(PlanError::TrueSizeTooSmall { true_size, erase_block });
    }
    if medium.usable() < erase_block * 2 {
        let target = medium.target.clone();
        return Err(PlanError::TooSmall { target, capacity: medium.usable(), erase_block });
    }
    if let Some(misfit) = wish.misfit().filter(|misfit| misfit.is_impossible()) {
        return Err(PlanError::Misfit(misfit));
    }
    let ids = Ids::of_seed(wish.seed);
    let table = table(medium, wish, &ids)?;
    let space = space(medium, table.kind);
    let partitions = match wish.purpose {
        Purpose::BoardBoot => board(medium, wish, &table, space)?,
        _ => {
            let kind = wish.filesystem.unwrap_or_else(|| suggested(wish.purpose, medium.usable()));
            vec![partition(medium, wish, &table, (1, kind), space)?]
        }
    };
    refuse_unused(wish, &partitions)?;
    Ok(Plan {
        medium: medium.clone(),
        purpose: wish.purpose,
        table,
        partitions,
        gain: wish.gain,
        predicted: None,
        udev_rule: wish.sustained_write.and_then(|rate| crate::writeback::udev_rule(&medium.identity, rate)),
    })
}

/// Refuses a choice that no filesystem of the plan has: it would change nothing.
fn refuse_unused(wish: &Wish, partitions: &[Partition]) -> Result<(), PlanError> {
    let asked = [(Choice::Cluster, wish.cluster.is_some()), (Choice::Journal, !wish.has_journal)];
    let kinds = || partitions.iter().map(|partition| partition.placement.filesystem);
    let has = |choice| kinds().any(|kind| filesystem::of_kind(kind).choices().contains(&choice));
    let unused = asked.into_iter().find(|(choice, is_asked)| *is_asked && !has(*choice));
    match (unused, kinds().next_back()) {
        (Some((choice, _)), Some(made)) => Err(PlanError::NotOffered { choice, made }),
        _ => Ok(()),
    }
}

/// The filesystems that have this choice: `vfat, exfat and ntfs`.
fn takers(choice: Choice) -> String {
    let has = filesystem::ALL.iter().filter(|each| each.choices().contains(&choice));
    let names: Vec<&str> = has.map(|each| each.kind().as_str()).collect();
    match names.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}

fn table(medium: &Medium, wish: &Wish, ids: &Ids) -> Result<PartitionTable, PlanError> {
    let maximum = medium.logical_block * MBR_SECTORS_MAX;
    let is_too_large = medium.usable() > maximum;
    let is_clipped = medium.true_size.is_some();
    let (kind, because) = match wish.table {
        Some(TableKind::Gpt) if is_clipped => return Err(PlanError::GptBeyondTrueSize),
        Some(TableKind::Mbr) | None if is_too_large && (is_clipped || wish.table.is_some()) => {
            let target = medium.target.clone();
            return Err(PlanError::MbrTooSmall { target, capacity: medium.usable(), maximum });
        }
        None if is_clipped => (TableKind::Mbr, Because::GptNeedsTheEnd),
        Some(kind) => (kind, Because::Asked),
        None if is_too_large => (TableKind::Gpt, Because::LargerThanMbr),
        None => (TableKind::Mbr, Because::MbrIsReadEverywhere),
    };
    if wish.chs.is_some() && kind == TableKind::Gpt {
        return Err(PlanError::ChsInGpt);
    }
    let arithmetic = format!(
        "{} / {} = {} sectors",
        medium.usable(),
        medium.logical_block,
        medium.usable() / medium.logical_block
    );
    let reason = Reason::new(PlanNumber::TableKind, kind.as_sfdisk(), arithmetic, because);
    let id = match kind {
        TableKind::Mbr => ids.table.chars().take(MBR_ID_DIGITS).collect(),
        TableKind::Gpt if medium.logical_block != SECTOR => {
            return Err(PlanError::GptBlock { logical_block: medium.logical_block });
        }
        TableKind::Gpt => ids.table.clone(),
    };
    Ok(PartitionTable { kind, id, reason, chs: wish.chs })
}

/// The space between the tables.
fn space(medium: &Medium, kind: TableKind) -> Space {
    let (start, end) = match kind {
        TableKind::Mbr => (MBR_START_SECTORS, 0),
        TableKind::Gpt => (GPT_START_SECTORS, GPT_END_SECTORS),
    };
    let usual = match kind {
        TableKind::Mbr => FIRST_USABLE.min(medium.erase_block.size),
        // sfdisk puts nothing before 1 MiB on a GPT.
        TableKind::Gpt => FIRST_USABLE,
    };
    let first = (medium.logical_block * start).max(usual);
    let end = medium.usable().saturating_sub(medium.logical_block * end).round_down(medium.logical_block);
    Space { first, end }
}

/// A FAT partition to boot from, and an ext4 partition for the rest.
fn board(
    medium: &Medium,
    wish: &Wish,
    table: &PartitionTable,
    space: Space,
) -> Result<Vec<Partition>, PlanError> {
    let boot_size = BOOT_SIZE.min(medium.usable() / BOOT_SHARE).round_up(medium.erase_block.size);
    let boot_end = (space.first + boot_size).round_up(medium.erase_block.size).min(space.end);
    let boot_wish = Wish { label: String::new(), ..wish.clone() };
    let boot_space = Space { end: boot_end, ..space };
    let boot = partition(medium, &boot_wish, table, (1, FilesystemKind::Vfat), boot_space)?;
    let kind = wish.filesystem.unwrap_or(FilesystemKind::Ext4);
    let root = partition(medium, wish, table, (2, kind), Space { first: boot.end(), ..space })?;
    Ok(vec![boot, root])
}

fn partition(
    medium: &Medium,
    wish: &Wish,
    table: &PartitionTable,
    (number, kind): (u32, FilesystemKind),
    space: Space,
) -> Result<Partition, PlanError> {
    let filesystem: &dyn Filesystem = filesystem::of_kind(kind);
    filesystem.check_label(&wish.label)?;
    let request = Request {
        space,
        erase_block: medium.erase_block.size,
        logical_block: medium.logical_block,
        fat_area: medium.fat_area,
        purpose: wish.purpose,
        cluster: wish.cluster,
        has_journal: wish.has_journal,
        ext: wish.ext,
    };
    let mut placement = filesystem.align(&request)?;
    let end = placement.start + placement.size;
    placement.reasons.push(Reason::new(
        PlanNumber::PartitionSize,
        format!("{} sectors", placement.size / medium.logical_block),
        format!("{} - {}", end / medium.logical_block, placement.start / medium.logical_block),
        if wish.purpose == Purpose::BoardBoot && number == 1 {
            Because::BootPartition
        } else {
            Because::EndOnEdge
        },
    ));
    let type_code = filesystem.type_code(&placement, table.kind);
    let index = usize::try_from(number).unwrap_or(1).saturating_sub(1);
    let ids = Ids::of_seed(wish.seed);
    let part_uuid = match table.kind {
        TableKind::Mbr => format!("{}-{number:02x}", table.id),
        TableKind::Gpt => ids.partitions.get(index).cloned().unwrap_or_default(),
    };
    let uuid = ids.filesystems.get(index).cloned().unwrap_or_default();
    Ok(Partition {
        number,
        label: wish.label.clone(),
        part_uuid,
        uuid,
        type_code,
        is_bootable: number == 1 && matches!(wish.purpose, Purpose::BoardBoot | Purpose::LinuxRoot),
        mount_options: filesystem.mount_options().iter().map(|option| (*option).to_owned()).collect(),
        placement,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::medium::{EraseBlock, EraseBlockSource};

    #[test]
    fn a_kept_filesystem_is_named_only_where_the_purpose_suggests_another() {
        let of = |name| keeping(name, Bytes::gib(16));
        assert_eq!([of("vfat"), of("msdos"), of("")], [(Purpose::Share, None); 3]);
        assert_eq!(of("exfat"), (Purpose::Share, Some(FilesystemKind::Exfat)));
        assert_eq!(keeping("exfat", Bytes::gib(64)), (Purpose::Share, None));
        assert_eq!(keeping("vfat", Bytes::gib(64)), (Purpose::Share, Some(FilesystemKind::Vfat)));
        assert_eq!(of("fuseblk"), (Purpose::Share, Some(FilesystemKind::Ntfs)));
        assert_eq!(of("xfs"), (Purpose::LinuxData, Some(FilesystemKind::Xfs)));
        assert_eq!([of("ext4"), of("hfsplus")], [(Purpose::LinuxData, None); 2]);
    }

    /// Why each partition has its size.
    fn why_sizes(purpose: Purpose) -> Vec<Because> {
        let planned = plan(&Medium::stick(), &Wish::new(purpose, 1)).unwrap();
        let of_size = |reason: &&Reason| reason.number == PlanNumber::PartitionSize;
        planned.reasons().filter(of_size).map(|reason| reason.because).collect()
    }

    #[test]
    fn only_the_first_partition_of_a_board_has_the_size_of_a_boot_partition() {
        assert_eq!(why_sizes(Purpose::BoardBoot), [Because::BootPartition, Because::EndOnEdge]);
        for purpose in [Purpose::Share, Purpose::LinuxData, Purpose::LinuxRoot, Purpose::Camera] {
            assert_eq!(why_sizes(purpose), [Because::EndOnEdge], "{purpose}");
        }
    }

    #[test]
    fn sizes_of_disk_and_partition_are_given_in_sectors() {
        let planned = plan(&Medium::stick(), &Wish::new(Purpose::LinuxData, 1)).unwrap();
        assert_eq!(planned.table.reason.arithmetic, "8 GiB / 512 B = 16777216 sectors");
        let size = planned.reasons().find(|reason| reason.number == PlanNumber::PartitionSize).unwrap();
        assert_eq!((size.value.as_str(), size.arithmetic.as_str()), ("16769024 sectors", "16777216 - 8192"));
    }

    #[test]
    fn identifier_of_an_mbr_has_eight_digits_and_names_its_partitions() {
        let planned = plan(&Medium::stick(), &Wish::new(Purpose::BoardBoot, 1)).unwrap();
        let id = planned.table.id.as_str();
        assert!(id.len() == 8 && u32::from_str_radix(id, 16).is_ok(), "{id}");
        let names = planned.partitions.iter().map(|partition| partition.part_uuid.clone());
        assert!(names.eq([1, 2].map(|number| format!("{id}-0{number}"))), "{:?}", planned.partitions);
    }

    #[test]
    fn geometry_is_kept_in_an_mbr_and_refused_in_a_gpt() {
        let with = |table, chs| {
            let wish = Wish { table, chs, ..Wish::new(Purpose::LinuxData, 1) };
            plan(&Medium::stick(), &wish).map(|planned| (planned.table.kind, planned.table.chs))
        };
        let chs = Some(Chs { heads: 224, sectors: 56 });
        for table in [None, Some(TableKind::Mbr)] {
            assert_eq!(with(table, chs), Ok((TableKind::Mbr, chs)));
            assert_eq!(with(table, None), Ok((TableKind::Mbr, None)));
        }
        assert_eq!(with(Some(TableKind::Gpt), chs), Err(PlanError::ChsInGpt));
        assert_eq!(with(Some(TableKind::Gpt), None), Ok((TableKind::Gpt, None)));
    }

    #[test]
    fn medium_of_two_erase_blocks_is_planned_and_a_smaller_one_is_refused() {
        let of = |capacity, true_size| {
            let erase_block = EraseBlock { size: Bytes::mib(16), source: EraseBlockSource::Given };
            let medium = Medium { capacity, true_size, erase_block, ..Medium::stick() };
            let planned = plan(&medium, &Wish::new(Purpose::LinuxData, 1));
            let placed = planned.map(|mut planned| planned.partitions.remove(0).placement);
            placed.map(|placed| (placed.start, placed.size))
        };
        let (least, large) = (Bytes::mib(32), Bytes::gib(8));
        for (capacity, true_size) in [(least, None), (large, Some(least))] {
            assert_eq!(of(capacity, true_size), Ok((Bytes::mib(16), Bytes::mib(16))), "{true_size:?}");
        }
        let less = least - SECTOR;
        assert!(matches!(of(less, None), Err(PlanError::TooSmall { .. })));
        assert!(matches!(of(large, Some(less)), Err(PlanError::TrueSizeTooSmall { .. })));
    }
}
