//! The contract of a filesystem: where it goes, which command makes it, and what it cannot do.

use std::fmt;
use std::str::FromStr;

use flashscope_device::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::label::LabelError;
use super::option::KnownOption;
use crate::ext_version::ExtVersion;
use crate::purpose::Purpose;
use crate::reason::Reason;
use crate::table_kind::TableKind;
use crate::version::Version;

/// The kind of a filesystem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FilesystemKind {
    /// Linux's usual filesystem.
    Ext4,
    /// FAT16 or FAT32.
    Vfat,
    /// The filesystem of SDXC cards.
    Exfat,
    /// A log-structured filesystem for flash.
    F2fs,
    /// A filesystem for large files.
    Xfs,
    /// A copy-on-write filesystem.
    Btrfs,
    /// Windows' filesystem.
    Ntfs,
    /// A log-structured filesystem with snapshots.
    Nilfs2,
}

impl FilesystemKind {
    /// All kinds, in the order of the help.
    pub const ALL: [Self; 8] =
        [Self::Ext4, Self::Vfat, Self::Exfat, Self::F2fs, Self::Xfs, Self::Btrfs, Self::Ntfs, Self::Nilfs2];

    /// The name on the command line, in JSON and in the kernel.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Vfat => "vfat",
            Self::Exfat => "exfat",
            Self::F2fs => "f2fs",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
            Self::Ntfs => "ntfs",
            Self::Nilfs2 => "nilfs2",
        }
    }
}

impl fmt::Display for FilesystemKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// A filesystem that flashscope does not make.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not offered; use ext4, vfat, exfat, f2fs, xfs, btrfs, ntfs or nilfs2")]
pub struct UnknownFilesystem(String);

impl FromStr for FilesystemKind {
    type Err = UnknownFilesystem;

    fn from_str(text: &str) -> Result<Self, UnknownFilesystem> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| UnknownFilesystem(text.to_owned()))
    }
}

/// The space on a medium that one partition may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// The first byte after the partition table and earlier partitions.
    pub first: Bytes,
    /// The end: the first byte that the partition must not reach.
    pub end: Bytes,
}

/// What is asked of a filesystem.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The space for the partition.
    pub space: Space,
    /// The erase block.
    pub erase_block: Bytes,
    /// The logical block of the medium: 512 bytes or 4 KiB.
    pub logical_block: Bytes,
    /// The finely mapped area at the start of the medium: zero if it has none, `None` if it is not known.
    pub fat_area: Option<Bytes>,
    /// The purpose.
    pub purpose: Purpose,
    /// A cluster size that the user asks for.
    pub cluster: Option<Bytes>,
    /// Whether the filesystem keeps a journal, where that is a choice (ext4).
    pub has_journal: bool,
    /// The version of ext, and whose defaults it has.
    pub ext: ExtMake,
}

#[cfg(test)]
impl Request {
    /// For the space from 1 MiB to `end`, with erase blocks of 4 MiB.
    pub(crate) fn until(purpose: Purpose, end: Bytes) -> Self {
        Self {
            space: Space { first: Bytes::mib(1), end },
            erase_block: Bytes::mib(4),
            logical_block: Bytes::new(512),
            fat_area: None,
            purpose,
            cluster: None,
            has_journal: true,
            ext: ExtMake::Planned,
        }
    }
}

/// What a user can choose for some filesystems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The cluster.
    Cluster,
    /// Whether there is a journal.
    Journal,
}

impl Choice {
    /// The option of the command line.
    #[must_use]
    pub const fn option(self) -> &'static str {
        match self {
            Self::Cluster => "--cluster",
            Self::Journal => "--no-journal",
        }
    }
}

/// How an ext filesystem is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExtMake {
    /// ext4 whose stripes and groups are whole erase blocks, as plans have it.
    #[default]
    Planned,
    /// The same for a trial: neither mke2fs nor the kernel zeroes inode tables and journal beforehand.
    Striped,
    /// mke2fs's own stripes and groups for this version, also for a trial.
    Plain(ExtVersion),
}

/// Where a filesystem goes, and with which options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Placement {
    /// The filesystem.
    pub filesystem: FilesystemKind,
    /// The start of the partition.
    pub start: Bytes,
    /// The size of the partition.
    pub size: Bytes,
    /// The cluster or block size.
    pub cluster: Bytes,
    /// The options of the tool that set the layout, in its own units.
    pub options: Vec<String>,
    /// Where its data begins.
    pub data_area: DataArea,
    /// The arithmetic of each number.
    pub reasons: Vec<Reason>,
    /// What this filesystem cannot align.
    pub cannot: Option<Cannot>,
}

/// Where the data of a filesystem begins on the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum DataArea {
    /// Clusters start at this offset of the medium.
    At {
        /// The offset from the start of the medium.
        offset: Bytes,
    },
    /// Groups of this size start at the start of the partition and repeat.
    Groups {
        /// The size of a group.
        size: Bytes,
    },
    /// The filesystem decides later; nothing is known beforehand.
    Anywhere,
}

impl DataArea {
    /// Whether everything that is known of the data area lies on edges of `erase_block`.
    #[must_use]
    pub const fn is_aligned(self, start: Bytes, erase_block: Bytes) -> bool {
        match self {
            Self::At { offset } => offset.is_multiple_of(erase_block),
            Self::Groups { size } => start.is_multiple_of(erase_block) && size.is_multiple_of(erase_block),
            Self::Anywhere => false,
        }
    }
}

/// What a filesystem cannot align, or why it cannot be made at all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Cannot {
    /// The space is too small for the filesystem.
    #[error("{filesystem} needs at least {minimum}, and {available} are available; use another filesystem")]
    TooSmall {
        /// The filesystem.
        filesystem: FilesystemKind,
        /// What it needs.
        minimum: Bytes,
        /// What there is.
        available: Bytes,
    },
    /// The space is too large for the filesystem.
    #[error("{filesystem} holds at most {maximum}, and {available} are available; use another filesystem")]
    TooLarge {
        /// The filesystem.
        filesystem: FilesystemKind,
        /// What it holds.
        maximum: Bytes,
        /// What there is.
        available: Bytes,
    },
    /// The data area cannot be aligned with this filesystem.
    #[error("the data area of {filesystem} cannot be aligned to {erase_block}; its start is aligned")]
    DataArea {
        /// The filesystem.
        filesystem: FilesystemKind,
        /// The erase block.
        erase_block: Bytes,
    },
    /// Segments come in powers of two only.
    #[error(
        "{filesystem} has segments of powers of two only; {segment} divides the erase block of {erase_block}"
    )]
    PowersOfTwoOnly {
        /// The filesystem.
        filesystem: FilesystemKind,
        /// The segment that is used.
        segment: Bytes,
        /// The erase block.
        erase_block: Bytes,
    },
    /// Fewer than two erase blocks fit into the space.
    #[error("only {available} are available; with erase blocks of {erase_block} nothing can be aligned")]
    FewEraseBlocks {
        /// What there is.
        available: Bytes,
        /// The erase block.
        erase_block: Bytes,
    },
    /// The cluster size does not fit.
    #[error("{filesystem} cannot have clusters of {cluster}; use {usable}")]
    Cluster {
        /// The filesystem.
        filesystem: FilesystemKind,
        /// What was asked for.
        cluster: Bytes,
        /// What fits, in words.
        usable: String,
    },
}

/// The program that makes a filesystem, and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tool {
    /// The program, e.g. `mkfs.ext4`.
    pub program: &'static str,
    /// The Debian package that holds it.
    pub package: &'static str,
    /// The options that stand first in every command.
    pub first: &'static [&'static str],
    /// The option before the label.
    pub label: &'static str,
    /// The option that prints its version; `None` if it has none.
    pub version_option: Option<&'static str>,
    /// The least version that takes the options used here, and the project whose version it is.
    pub since: Version,
    /// Options that need a later version.
    pub newer: &'static [NewerOption],
}

impl Command {
    /// A program and its arguments, without input.
    pub fn new<const N: usize>(program: &str, arguments: [&str; N]) -> Self {
        let arguments = arguments.map(str::to_owned).to_vec();
        Self { program: program.to_owned(), arguments, input: String::new() }
    }
}

/// An option that older versions of a tool lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewerOption {
    /// The option. It takes a value.
    pub flag: &'static str,
    /// The first version that has it.
    pub since: Version,
    /// An older version is used without the option: always if `None`, or only where it has this value.
    pub default: Option<&'static str>,
}

/// A tool that lacks an option that a plan needs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "this needs {program} {flag} {value}, which version {since} introduced; upgrade the package {package}"
)]
pub struct TooOld {
    /// The program.
    pub program: &'static str,
    /// The package that has it.
    pub package: &'static str,
    /// The option.
    pub flag: &'static str,
    /// Its value.
    pub value: String,
    /// The first version that has it.
    pub since: Version,
}

impl Tool {
    /// A command for this version, without the options that it lacks. `None`: the version is not known, and
    /// nothing newer is used.
    ///
    /// # Errors
    /// [`TooOld`] if an option is lacking that matters.
    pub fn adapt(&self, command: Command, version: Option<Version>) -> Result<Command, TooOld> {
        let mut arguments = Vec::with_capacity(command.arguments.len());
        let mut all = command.arguments.into_iter();
        while let Some(argument) = all.next() {
            let newer = self.newer.iter().find(|option| option.flag == argument);
            let Some(option) = newer.filter(|option| version.is_none_or(|version| version < option.since))
            else {
                arguments.push(argument);
                continue;
            };
            let value = all.next().unwrap_or_default();
            if option.default.is_some_and(|default| default != value) {
                let (program, package) = (self.program, self.package);
                return Err(TooOld { program, package, flag: option.flag, value, since: option.since });
            }
        }
        Ok(Command { arguments, ..command })
    }
}

/// A command: a program and its arguments, never a shell string.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Command {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// What it reads from standard input; empty for nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub input: String,
}

/// The partition types of Linux's filesystems and of Windows' (UEFI 2.10, 5.3.3; the lists of sfdisk).
const MBR_LINUX: u8 = 0x83;
const GPT_LINUX: &str = "0FC63DAF-8483-4772-8E79-3D69D8477DE4";
pub(super) const GPT_BASIC_DATA: &str = "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7";

/// One filesystem that a plan can use.
pub trait Filesystem: Sync {
    /// Its kind.
    fn kind(&self) -> FilesystemKind;

    /// The program that makes it.
    fn tool(&self) -> Tool;

    /// Places it in a space, with its data area on edges of erase blocks where that is possible.
    ///
    /// # Errors
    /// [`Cannot`] if it cannot be made there at all.
    fn align(&self, request: &Request) -> Result<Placement, Cannot>;

    /// Checks a label.
    ///
    /// # Errors
    /// [`LabelError`] if the filesystem cannot have this label.
    fn check_label(&self, label: &str) -> Result<(), LabelError>;

    /// The options of a placement as the command has them.
    fn placed_options(&self, placement: &Placement, _uuid: &str) -> Vec<String> {
        placement.options.clone()
    }

    /// The options that set its identifier; none if the tool draws one itself.
    fn identifier(&self, _uuid: &str) -> Vec<String> {
        Vec::new()
    }

    /// The command that makes it on `device`, a partition.
    fn command(&self, placement: &Placement, label: &str, uuid: &str, device: &str) -> Command {
        let tool = self.tool();
        let mut arguments: Vec<String> = tool.first.iter().map(|word| (*word).to_owned()).collect();
        arguments.extend(self.placed_options(placement, uuid));
        if !label.is_empty() {
            arguments.extend([tool.label.to_owned(), label.to_owned()]);
        }
        arguments.extend(self.identifier(uuid));
        arguments.push(device.to_owned());
        Command { program: tool.program.to_owned(), arguments, input: String::new() }
    }

    /// The command that checks it on `device` without writing, if there is one. It fails if something is
    /// wrong.
    fn check(&self, device: &str) -> Option<Command>;

    /// The options that [`Filesystem::align`] sets, with their values.
    fn options(&self) -> &'static [KnownOption];

    /// What a user can choose for it.
    fn choices(&self) -> &'static [Choice] {
        &[]
    }

    /// The type of its partition in an MBR.
    fn mbr_type(&self, _placement: &Placement) -> u8 {
        MBR_LINUX
    }

    /// The type of its partition in a GPT.
    fn gpt_type(&self) -> &'static str {
        GPT_LINUX
    }

    /// The type of its partition in a table of this kind, as sfdisk reads it.
    fn type_code(&self, placement: &Placement, table: TableKind) -> String {
        match table {
            TableKind::Mbr => format!("{:02x}", self.mbr_type(placement)),
            TableKind::Gpt => self.gpt_type().to_owned(),
        }
    }

    /// The mount options that suit a stick or card.
    fn mount_options(&self) -> &'static [&'static str] {
        &["noatime"]
    }
}
