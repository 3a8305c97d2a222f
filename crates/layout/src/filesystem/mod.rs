//! Filesystems that a plan can use: one file each, behind one trait, registered once.

mod btrfs;
mod contract;
mod exfat;
mod ext4;
mod f2fs;
mod label;
mod nilfs2;
mod ntfs;
pub mod option;
mod space;
mod vfat;
mod xfs;

pub use contract::{
    Cannot, Choice, Command, DataArea, ExtMake, Filesystem, FilesystemKind, NewerOption, Placement, Request,
    Space, TooOld, Tool,
};
pub use label::LabelError;

/// All filesystems, in the order of the help.
pub const ALL: [&dyn Filesystem; 8] = [
    &ext4::Ext4,
    &vfat::Vfat,
    &exfat::Exfat,
    &f2fs::F2fs,
    &xfs::Xfs,
    &btrfs::Btrfs,
    &ntfs::Ntfs,
    &nilfs2::Nilfs2,
];

/// The filesystem of this kind.
#[must_use]
pub fn of_kind(kind: FilesystemKind) -> &'static dyn Filesystem {
    let is_kind = |filesystem: &&&dyn Filesystem| filesystem.kind() == kind;
    ALL.iter().find(is_kind).copied().unwrap_or(ALL[0])
}
