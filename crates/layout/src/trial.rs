//! Filesystems with options, as trials compare them, and the plan of each.
//!
//! A trial's plan is a plan like any other. Only its start may be forced off the edge, since a trial measures
//! what that costs.

use flashscope_device::Bytes;

use crate::ext_version::ExtVersion;
use crate::filesystem::{self, DataArea, ExtMake, FilesystemKind, Placement, Tool};
use crate::medium::Medium;
use crate::plan::Plan;
use crate::planner::{PlanError, Wish, plan};
use crate::purpose::Purpose;

/// A filesystem with its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Variant {
    /// ext2.
    Ext2,
    /// ext3.
    Ext3,
    /// ext4 with the stripes and groups of mke2fs.
    Ext4,
    /// ext4 whose stripes and groups are whole erase blocks, as plans have it.
    Ext4Stripe,
    /// ext4 without a journal.
    Ext4NoJournal,
    /// FAT.
    Vfat,
    /// FAT mounted with `flush`, as desktops do.
    VfatFlush,
    /// exFAT.
    Exfat,
    /// f2fs.
    F2fs,
    /// btrfs.
    Btrfs,
    /// XFS.
    Xfs,
    /// NTFS.
    Ntfs,
    /// NILFS2.
    Nilfs2,
}

impl Variant {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 13] = [
        Self::Ext2,
        Self::Ext3,
        Self::Ext4,
        Self::Ext4Stripe,
        Self::Ext4NoJournal,
        Self::Vfat,
        Self::VfatFlush,
        Self::Exfat,
        Self::F2fs,
        Self::Btrfs,
        Self::Xfs,
        Self::Ntfs,
        Self::Nilfs2,
    ];

    /// Its name on the command line and in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ext2 => "ext2",
            Self::Ext3 => "ext3",
            Self::Ext4 => "ext4",
            Self::Ext4Stripe => "ext4-stripe",
            Self::Ext4NoJournal => "ext4-nojournal",
            Self::Vfat => "vfat",
            Self::VfatFlush => "vfat-flush",
            Self::Exfat => "exfat",
            Self::F2fs => "f2fs",
            Self::Btrfs => "btrfs",
            Self::Xfs => "xfs",
            Self::Ntfs => "ntfs",
            Self::Nilfs2 => "nilfs2",
        }
    }

    /// The variant of this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|variant| variant.name() == name)
    }

    /// The filesystem.
    #[must_use]
    pub const fn kind(self) -> FilesystemKind {
        match self {
            Self::Ext2 | Self::Ext3 | Self::Ext4 | Self::Ext4Stripe | Self::Ext4NoJournal => {
                FilesystemKind::Ext4
            }
            Self::Vfat | Self::VfatFlush => FilesystemKind::Vfat,
            Self::Exfat => FilesystemKind::Exfat,
            Self::F2fs => FilesystemKind::F2fs,
            Self::Btrfs => FilesystemKind::Btrfs,
            Self::Xfs => FilesystemKind::Xfs,
            Self::Ntfs => FilesystemKind::Ntfs,
            Self::Nilfs2 => FilesystemKind::Nilfs2,
        }
    }

    /// The program that makes it.
    #[must_use]
    pub fn tool(self) -> Tool {
        filesystem::of_kind(self.kind()).tool()
    }

    /// The kernel's name of its type.
    #[must_use]
    pub const fn driver(self) -> &'static str {
        match self {
            Self::Ext2 => "ext2",
            Self::Ext3 => "ext3",
            // The driver of the kernel; ntfs-3g is a program.
            Self::Ntfs => "ntfs3",
            _ => self.kind().as_str(),
        }
    }

    /// Its mount options beyond the kernel's defaults, for the filesystem's driver.
    #[must_use]
    pub const fn mount_data(self) -> &'static str {
        match self {
            // Otherwise a thread of the kernel zeroes inode tables while files are written.
            Self::Ext4 | Self::Ext4Stripe | Self::Ext4NoJournal => "noinit_itable",
            Self::VfatFlush => "flush",
            // Without its cleaner, a program of its own.
            Self::Nilfs2 => "nogc",
            _ => "",
        }
    }

    /// What its filesystem is planned for. Clusters of FAT, exFAT and NTFS are those that every system
    /// takes; ext has as many inodes as mke2fs takes.
    const fn purpose(self) -> Purpose {
        match self.kind() {
            FilesystemKind::Ext4 => Purpose::LinuxRoot,
            _ => Purpose::Share,
        }
    }

    const fn ext(self) -> ExtMake {
        match self {
            Self::Ext4Stripe => ExtMake::Striped,
            Self::Ext2 => ExtMake::Plain(ExtVersion::Ext2),
            Self::Ext3 => ExtMake::Plain(ExtVersion::Ext3),
            _ => ExtMake::Plain(ExtVersion::Ext4),
        }
    }

    /// The plan of a trial: one partition, on edges of erase blocks or, if `start` is given, exactly there.
    ///
    /// # Errors
    /// [`PlanError`] if it cannot be made there.
    pub fn plan(self, medium: &Medium, start: Option<Bytes>, seed: u64) -> Result<Plan, PlanError> {
        let wish = Wish {
            filesystem: Some(self.kind()),
            has_journal: !matches!(self, Self::Ext4NoJournal),
            ext: self.ext(),
            ..Wish::new(self.purpose(), seed)
        };
        let mut planned = plan(medium, &wish)?;
        for partition in &mut planned.partitions {
            partition.is_bootable = false;
            if let Some(start) = start {
                let end = partition.end();
                move_to(&mut partition.placement, start, end, medium.logical_block)?;
            }
        }
        Ok(planned)
    }

    /// The plan of a trial in the partition from `start` on: the filesystem begins there, and takes `size`
    /// or less.
    ///
    /// # Errors
    /// [`PlanError`] if it cannot be made there.
    pub fn plan_in_partition(
        self,
        medium: &Medium,
        start: Bytes,
        size: Bytes,
        seed: u64,
    ) -> Result<Plan, PlanError> {
        // Options are chosen for this size, and without the FATs before the first edge: the start is fixed.
        let before = medium.erase_block.size.max(Bytes::mib(1));
        let capacity = size.checked_add(before).unwrap_or(size);
        let part = Medium { capacity, fat_area: Some(Bytes::ZERO), ..medium.clone() };
        let mut planned = Self::plan(self, &part, None, seed)?;
        planned.medium = medium.clone();
        let end = start.checked_add(size).unwrap_or(medium.capacity);
        for partition in &mut planned.partitions {
            move_to(&mut partition.placement, start, end, medium.logical_block)?;
        }
        Ok(planned)
    }
}

/// Moves a placement to `start`, before `end`, with the options that it has elsewhere: as a partition that
/// was made without regard to the erase block.
fn move_to(
    placement: &mut Placement,
    start: Bytes,
    end: Bytes,
    logical_block: Bytes,
) -> Result<(), PlanError> {
    if !start.is_multiple_of(logical_block) || start < logical_block || start >= end {
        return Err(PlanError::Start { start, logical_block });
    }
    placement.size = placement.size.min((end - start).round_down(logical_block));
    placement.reasons.clear();
    if let DataArea::At { offset } = &mut placement.data_area {
        *offset = start + (*offset - placement.start);
    }
    placement.start = start;
    // The boot sectors of FAT and NTFS hold the start of the partition.
    let flag = match placement.filesystem {
        FilesystemKind::Vfat => "-h",
        FilesystemKind::Ntfs => "-p",
        _ => return Ok(()),
    };
    let at = placement.options.iter().position(|option| option == flag);
    if let Some(value) = at.and_then(|at| placement.options.get_mut(at + 1)) {
        *value = (start / logical_block).to_string();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply::check;
    use flashscope_device::memory::MemoryDevice;

    fn medium() -> Medium {
        Medium { target: "/dev/loop0".to_owned(), capacity: Bytes::gib(2), ..Medium::stick() }
    }

    #[test]
    fn plan_of_each_variant_passes_the_check_of_apply_wherever_it_starts() {
        let device = MemoryDevice::new(Bytes::gib(2));
        for variant in Variant::ALL {
            assert_eq!(Variant::of_name(variant.name()), Some(variant));
            for start in [None, Some(Bytes::new(63 * 512)), Some(Bytes::mib(9))] {
                let plan = variant.plan(&medium(), start, 7).unwrap();
                check(&plan, &device).unwrap();
                let placement = &plan.partitions[0].placement;
                assert!(start.is_none_or(|start| placement.start == start), "{variant:?}");
                assert!(!plan.partitions[0].is_bootable);
            }
        }
    }

    #[test]
    fn stripes_and_groups_are_those_of_the_erase_block_in_one_variant_only() {
        let options = |variant: Variant| {
            variant.plan(&medium(), None, 7).unwrap().partitions[0].placement.options.join(" ")
        };
        assert!(options(Variant::Ext4Stripe).contains("stripe_width=1024"));
        for variant in [Variant::Ext2, Variant::Ext3, Variant::Ext4, Variant::Ext4NoJournal] {
            assert!(!options(variant).contains("stripe"), "{variant:?}");
        }
        assert!(options(Variant::Ext2).contains("-t ext2") && options(Variant::Ext3).contains("-t ext3"));
        assert!(options(Variant::Ext4NoJournal).contains("^has_journal"));
    }

    #[test]
    fn forced_start_moves_the_data_area_off_the_edge() {
        let start = Bytes::new(63 * 512);
        for variant in [Variant::Vfat, Variant::Exfat, Variant::F2fs, Variant::Ext4Stripe] {
            let placement =
                |start| variant.plan(&medium(), start, 7).unwrap().partitions[0].placement.clone();
            let (planned, moved) = (placement(None), placement(Some(start)));
            assert!(planned.data_area.is_aligned(planned.start, Bytes::mib(4)), "{variant:?}");
            assert!(!moved.data_area.is_aligned(moved.start, Bytes::mib(4)), "{variant:?}");
            if let (DataArea::At { offset: from }, DataArea::At { offset: to }) =
                (planned.data_area, moved.data_area)
            {
                assert_eq!(to - moved.start, from - planned.start, "{variant:?}");
            }
            let hidden = moved.options.iter().position(|option| option == "-h");
            assert!(hidden.is_none_or(|at| moved.options[at + 1] == "63"), "{variant:?}");
        }
    }

    #[test]
    fn filesystem_in_a_partition_starts_there_and_fits_into_it() {
        let (start, size) = (Bytes::new(63 * 512), Bytes::mib(600));
        for variant in Variant::ALL {
            let plan = variant.plan_in_partition(&medium(), start, size, 7).unwrap();
            let placement = &plan.partitions[0].placement;
            assert!(placement.start == start && placement.size <= size, "{variant:?}: {placement:?}");
            assert!(placement.size >= Bytes::mib(590), "{variant:?}: {placement:?}");
        }
        let aligned = Variant::Vfat.plan_in_partition(&medium(), Bytes::mib(8), size, 7).unwrap();
        let placement = &aligned.partitions[0].placement;
        assert!(placement.data_area.is_aligned(placement.start, Bytes::mib(4)), "by reserved sectors");
    }

    #[test]
    fn start_that_no_partition_can_have_is_refused() {
        // Where the medium ends, and behind it.
        for start in [0, 100, 2 << 30, 3 << 30] {
            let refused = Variant::Ext4.plan(&medium(), Some(Bytes::new(start)), 7);
            assert!(matches!(refused, Err(PlanError::Start { .. })), "{start}");
        }
        let first = Bytes::new(512);
        let planned = Variant::Ext4.plan(&medium(), Some(first), 7).unwrap();
        assert_eq!(planned.partitions[0].placement.start, first, "just behind the table");
    }
}
