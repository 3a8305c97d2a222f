//! ext4: every block group starts on an edge of an erase block.
//!
//! Block groups have at most 32768 blocks of 4 KiB. With N blocks in an erase block, `-g floor(32768 / N) *
//! N` puts every group on an edge; the default does so for powers of two only. `stripe_width` makes the
//! allocator pack small files into whole aligned erase blocks (kernel: `ext4_mb_group_prealloc`,
//! fs/ext4/mballoc.c).
//!
//! For trials it also makes ext2 and ext3, and each with mke2fs's own stripes and groups.

use std::fmt::Write as _;

use flashscope_device::Bytes;

use super::contract::{
    Cannot, Command, DataArea, ExtMake, Filesystem, FilesystemKind, Placement, Request, Tool,
};
use super::label::{self, LabelError};
use super::option::{KnownOption, OptionValue};
use super::space::{edge_start, whole_blocks};
use crate::ext_version::ExtVersion;
use crate::purpose::Purpose;
use crate::reason::{Because, PlanNumber, Reason};
use crate::version::Version;

/// The block that is always used; mke2fs takes 1 KiB for small disks otherwise.
const BLOCK: Bytes = Bytes::kib(4);
/// The most blocks of a group: the bits of one block (ext4 disk layout, kernel documentation).
const GROUP_BLOCKS_MAX: u64 = 32_768;
/// mke2fs takes a multiple of 8 only.
const GROUP_BLOCKS_UNIT: u64 = 8;
/// The least space for a filesystem with a journal: mke2fs needs 1024 blocks of journal and some more.
const MINIMUM: Bytes = Bytes::mib(16);
/// One inode per this many bytes for large files: 1/4 of the default, which saves inode tables that the
/// kernel zeroes later.
const BYTES_PER_INODE_DATA: u64 = 65_536;
/// For archives: one inode per MiB.
const BYTES_PER_INODE_BACKUP: u64 = 1_048_576;

/// One inode per this many bytes by default, and below [`SMALL`] (e2fsprogs 1.47, mke2fs.conf).
const BYTES_PER_INODE: u64 = 16_384;
const BYTES_PER_INODE_SMALL: u64 = 4_096;
/// Smaller filesystems have the type `small` (mke2fs(8), `-T`).
const SMALL: Bytes = Bytes::mib(512);
/// The size of an inode, and of a group descriptor with 64-bit block numbers (ext4 disk layout).
const INODE_BYTES: u64 = 256;
const DESCRIPTOR_BYTES: u64 = 64;
/// mke2fs reserves descriptors so that the filesystem can grow 1024-fold, in at most 1024 blocks (mke2fs(8),
/// `resize`).
const RESERVED_GROWTH: u64 = 1024;
const RESERVED_BLOCKS_MAX: u64 = 1024;
/// mke2fs wants 50 blocks for files in the last group (lib/ext2fs/initialize.c), and bitmaps take some.
const GROUP_MARGIN: u64 = 64;

/// A discard would take away what undo restores.
const EXTENDED: &str = "nodiscard";
/// The inode tables are few, so they are zeroed at once. By default the kernel does it after the first mount.
const NOT_LAZY: &str = ",lazy_itable_init=0";

/// Neither inode tables nor the journal are zeroed beforehand. That would take most of a trial on a slow
/// stick.
const LAZY: &str = ",lazy_itable_init=1,lazy_journal_init=1";

/// No journal.
const NO_JOURNAL: &str = "^has_journal";

/// The options of a placement.
const OPTIONS: [KnownOption; 7] = [
    KnownOption { flag: "-b", value: OptionValue::Number },
    KnownOption {
        flag: "-E",
        value: OptionValue::Keys(&[
            "nodiscard",
            "lazy_itable_init",
            "lazy_journal_init",
            "stride",
            "stripe_width",
        ]),
    },
    KnownOption { flag: "-g", value: OptionValue::Number },
    KnownOption { flag: "-i", value: OptionValue::Number },
    KnownOption { flag: "-m", value: OptionValue::Number },
    KnownOption { flag: "-O", value: OptionValue::OneOf(&[NO_JOURNAL]) },
    KnownOption { flag: "-t", value: OptionValue::OneOf(&["ext2", "ext3"]) },
];

/// ext4.
pub(super) struct Ext4;

impl Ext4 {
    /// Whether mke2fs zeroes inode tables and journal.
    fn laziness(request: &Request) -> &'static str {
        match request.ext {
            ExtMake::Planned if Self::bytes_per_inode(request.purpose).is_some() => NOT_LAZY,
            ExtMake::Planned => "",
            ExtMake::Striped | ExtMake::Plain(_) => LAZY,
        }
    }

    /// What the purpose and the user choose.
    fn choose(request: &Request, options: &mut Vec<String>, reasons: &mut Vec<Reason>) {
        if let ExtMake::Plain(version @ (ExtVersion::Ext2 | ExtVersion::Ext3)) = request.ext {
            options.extend(["-t".to_owned(), version.as_str().to_owned()]);
        }
        if let Some(bytes) = Self::bytes_per_inode(request.purpose) {
            options.extend(["-i".to_owned(), bytes.to_string()]);
            let because = Because::FewerInodeTables;
            reasons.push(Reason::new(PlanNumber::BytesPerInode, bytes.to_string(), "", because));
        }
        if !matches!(request.purpose, Purpose::LinuxRoot | Purpose::BoardBoot) {
            options.extend(["-m".to_owned(), "0".to_owned()]);
            reasons.push(Reason::new(PlanNumber::ReservedForRoot, "0 %", "", Because::NoReserveForData));
        }
        if !request.has_journal {
            options.extend(["-O".to_owned(), NO_JOURNAL.to_owned()]);
            reasons.push(Reason::new(PlanNumber::Journal, "none", "", Because::NoJournal));
        }
    }

    /// The size without a last group that is too small for its own inode table and descriptors. mke2fs would
    /// make all groups smaller for it, and they would leave the edges.
    fn without_small_group(size: Bytes, group: u64, purpose: Purpose) -> Bytes {
        let blocks = size / BLOCK;
        let Some(last) = blocks.checked_rem(group).filter(|last| *last > 0 && blocks > group) else {
            return size;
        };
        let usual = if size < SMALL { BYTES_PER_INODE_SMALL } else { BYTES_PER_INODE };
        let inodes = size.get() / Self::bytes_per_inode(purpose).unwrap_or(usual);
        let inodes_per_group = inodes.div_ceil(blocks.div_ceil(group));
        let inode_table = inodes_per_group.div_ceil(BLOCK.get() / INODE_BYTES);
        // Room for 1024 times as many groups is reserved, at most one block of block numbers.
        let descriptors = (blocks * RESERVED_GROWTH).div_ceil(group) * DESCRIPTOR_BYTES;
        let reserved = descriptors.div_ceil(BLOCK.get()).min(RESERVED_BLOCKS_MAX) * 2;
        if last < inode_table + reserved + GROUP_MARGIN { size - BLOCK * last } else { size }
    }

    fn bytes_per_inode(purpose: Purpose) -> Option<u64> {
        match purpose {
            Purpose::Backup => Some(BYTES_PER_INODE_BACKUP),
            Purpose::LinuxData | Purpose::Share | Purpose::Camera => Some(BYTES_PER_INODE_DATA),
            Purpose::LinuxRoot | Purpose::BoardBoot => None,
        }
    }
}

impl Filesystem for Ext4 {
    fn kind(&self) -> FilesystemKind {
        FilesystemKind::Ext4
    }

    fn tool(&self) -> Tool {
        Tool {
            program: "mkfs.ext4",
            package: "e2fsprogs",
            first: &["-F", "-q"],
            label: "-L",
            version_option: Some("-V"),
            since: Version([1, 42, 0]),
            newer: &[],
        }
    }

    fn align(&self, request: &Request) -> Result<Placement, Cannot> {
        let erase_block = request.erase_block;
        let (start, available) = edge_start(request, erase_block)?;
        let blocks = erase_block / BLOCK;
        let is_plain = matches!(request.ext, ExtMake::Plain(_));
        let aligned_group = GROUP_BLOCKS_MAX.checked_div(blocks).unwrap_or_default() * blocks;
        let group = if is_plain { GROUP_BLOCKS_MAX } else { aligned_group };
        let size = Self::without_small_group(available, group, request.purpose);
        if size < MINIMUM {
            return Err(Cannot::TooSmall { filesystem: self.kind(), minimum: MINIMUM, available: size });
        }
        let mut reasons = vec![Reason::new(
            PlanNumber::PartitionStart,
            format!("sector {}", start / request.logical_block),
            whole_blocks(start, erase_block),
            Because::GroupsFollowStart,
        )];
        let mut options = vec!["-b".to_owned(), BLOCK.get().to_string()];
        let is_possible =
            erase_block.is_multiple_of(BLOCK) && group > 0 && group.is_multiple_of(GROUP_BLOCKS_UNIT);
        let cannot = (!is_possible).then_some(Cannot::DataArea { filesystem: self.kind(), erase_block });
        let mut extended = format!("{EXTENDED}{}", Self::laziness(request));
        if is_possible && !is_plain {
            let _ = write!(extended, ",stride={blocks},stripe_width={blocks}");
            reasons.push(Reason::new(
                PlanNumber::StripeWidth,
                format!("{blocks} blocks"),
                format!("{erase_block} / {BLOCK}"),
                Because::SmallFilesPacked,
            ));
            if group != GROUP_BLOCKS_MAX {
                options.extend(["-g".to_owned(), group.to_string()]);
                reasons.push(Reason::new(
                    PlanNumber::BlocksPerGroup,
                    group.to_string(),
                    format!("floor({GROUP_BLOCKS_MAX} / {blocks}) x {blocks}"),
                    Because::EveryGroupOnEdge,
                ));
            }
        }
        options.extend(["-E".to_owned(), extended]);
        Self::choose(request, &mut options, &mut reasons);
        let data_area =
            if is_possible { DataArea::Groups { size: BLOCK * group } } else { DataArea::Anywhere };
        Ok(Placement {
            filesystem: self.kind(),
            start,
            size,
            cluster: BLOCK,
            options,
            data_area,
            reasons,
            cannot,
        })
    }

    fn check_label(&self, label: &str) -> Result<(), LabelError> {
        label::utf8(label, self.kind(), 16)
    }

    fn placed_options(&self, placement: &Placement, uuid: &str) -> Vec<String> {
        // mke2fs takes the last -E only, so all extended options stand in one.
        let with_seed = |option: &String| {
            if option.starts_with(EXTENDED) { format!("{option},hash_seed={uuid}") } else { option.clone() }
        };
        placement.options.iter().map(with_seed).collect()
    }

    fn identifier(&self, uuid: &str) -> Vec<String> {
        vec!["-U".to_owned(), uuid.to_owned()]
    }

    fn check(&self, device: &str) -> Option<Command> {
        Some(Command::new("e2fsck", ["-f", "-n", device]))
    }

    fn choices(&self) -> &'static [super::Choice] {
        &[super::Choice::Journal]
    }

    fn options(&self) -> &'static [KnownOption] {
        &OPTIONS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The placement in 4 GiB with this erase block.
    fn placed(erase_block: Bytes) -> Placement {
        placed_until(Bytes::gib(4), erase_block, Purpose::LinuxData)
    }

    /// The placement in the space from 1 MiB to `end`.
    fn placed_until(end: Bytes, erase_block: Bytes, purpose: Purpose) -> Placement {
        let request = Request { erase_block, ..Request::until(purpose, end) };
        Ext4.align(&request).unwrap()
    }

    fn value<'a>(placement: &'a Placement, flag: &str) -> Option<&'a str> {
        placement.options.iter().skip_while(|option| *option != flag).nth(1).map(String::as_str)
    }

    /// mke2fs refuses groups of no blocks, and of blocks that are no multiple of 8.
    #[test]
    fn groups_and_stripes_are_whole_erase_blocks_where_mke2fs_takes_such_groups() {
        for (erase_block, stripe, blocks, option) in [
            (Bytes::kib(4), 1, 32_768, None),
            (Bytes::kib(48), 12, 32_760, Some("32760")),
            (Bytes::mib(4), 1024, 32_768, None),
            (Bytes::mib(6), 1536, 32_256, Some("32256")),
            (Bytes::mib(128), 32_768, 32_768, None),
        ] {
            let placement = placed(erase_block);
            assert_eq!(value(&placement, "-g"), option, "{erase_block}");
            let extended = format!("nodiscard,lazy_itable_init=0,stride={stripe},stripe_width={stripe}");
            assert_eq!(value(&placement, "-E"), Some(extended.as_str()));
            assert_eq!(placement.data_area, DataArea::Groups { size: Bytes::kib(4) * blocks });
            assert_eq!(placement.cannot, None, "{erase_block}");
        }
        // No whole block; groups of 32766 blocks, twice; and less than one erase block in a group.
        for erase_block in [Bytes::new(512), Bytes::kib(12), Bytes::kib(24), Bytes::mib(256)] {
            let placement = placed(erase_block);
            assert_eq!(value(&placement, "-g"), None, "{erase_block}");
            assert_eq!(value(&placement, "-E"), Some("nodiscard,lazy_itable_init=0"), "{erase_block}");
            assert_eq!(placement.data_area, DataArea::Anywhere);
            let cannot = Cannot::DataArea { filesystem: FilesystemKind::Ext4, erase_block };
            assert_eq!(placement.cannot, Some(cannot));
        }
    }

    /// It holds its inode table, twice the blocks of descriptors, and 64 blocks more.
    #[test]
    fn last_group_is_left_off_where_a_block_is_missing_for_its_own_tables() {
        for (purpose, groups, least) in [
            (Purpose::LinuxData, 8, 114 + 2 * 129 + 64),
            // More inodes: mke2fs's own number, and its number below 512 MiB.
            (Purpose::LinuxRoot, 8, 457 + 2 * 129 + 64),
            (Purpose::LinuxRoot, 2, 1398 + 2 * 33 + 64),
            // Here descriptors for a growth of 1025 would take a block more.
            (Purpose::LinuxData, 40, 126 + 2 * 641 + 64),
            // The most blocks of descriptors.
            (Purpose::Backup, 80, 8 + 2 * 1024 + 64),
        ] {
            let whole = 32_768 * groups;
            let size = |blocks: u64| {
                let end = Bytes::mib(1) + Bytes::kib(4) * blocks;
                placed_until(end, Bytes::kib(4), purpose).size
            };
            assert_eq!(size(whole + least), Bytes::kib(4) * (whole + least), "{purpose}, {groups}");
            assert_eq!(size(whole + least - 1), Bytes::kib(4) * whole, "{purpose}, {groups}");
        }
    }
}
