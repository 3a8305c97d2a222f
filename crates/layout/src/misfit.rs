//! Which filesystem does not suit which purpose, and why: one table.

use crate::filesystem::FilesystemKind;
use crate::purpose::Purpose;

/// Why a filesystem does not suit a purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// It never works: cameras format and read what the SD Association's standards name.
    #[error("cameras read vfat and exfat only, not {0}; leave out --fs")]
    UnknownToCameras(FilesystemKind),
    /// It never works: a root needs owners, permissions, device files and symbolic links.
    #[error(
        "{0} has no owners, permissions and symbolic links, so Linux cannot have its root there; leave out --fs"
    )]
    NoRoot(FilesystemKind),
    /// It works with unusual mount options only.
    #[error(
        "ntfs keeps Linux's owners and permissions only with special mount options; take ext4 for a root"
    )]
    UnusualRoot,
    /// It works with further software.
    #[error("Windows, macOS and televisions do not read {0} without further software")]
    LinuxOnly(FilesystemKind),
    /// It works on Windows and Linux.
    #[error("macOS reads ntfs but does not write it, and many televisions do not read it")]
    WindowsOnly,
    /// It works, without what Linux stores besides contents.
    #[error("{0} keeps no owners and permissions of Linux as it is usually mounted; take ext4 for them")]
    NoPermissions(FilesystemKind),
    /// It works for files below 4 GiB: FAT counts the bytes of a file with 32 bits.
    #[error("vfat holds no file of 4 GiB or more; take exfat for them")]
    SmallFilesOnly,
}

impl Misfit {
    /// Whether it can never work, so that there is no plan.
    #[must_use]
    pub const fn is_impossible(self) -> bool {
        matches!(self, Self::UnknownToCameras(_) | Self::NoRoot(_))
    }
}

/// Why this filesystem does not suit this purpose; `None` if it does.
#[must_use]
pub const fn misfit(purpose: Purpose, kind: FilesystemKind) -> Option<Misfit> {
    use FilesystemKind::{Exfat, Ntfs, Vfat};
    match (purpose, kind) {
        (Purpose::Camera | Purpose::Share, Vfat | Exfat) | (Purpose::Backup, Exfat | Ntfs) => None,
        (Purpose::Camera, _) => Some(Misfit::UnknownToCameras(kind)),
        (Purpose::Share, Ntfs) => Some(Misfit::WindowsOnly),
        (Purpose::Share, _) => Some(Misfit::LinuxOnly(kind)),
        (Purpose::LinuxRoot | Purpose::BoardBoot, Vfat | Exfat) => Some(Misfit::NoRoot(kind)),
        (Purpose::LinuxRoot | Purpose::BoardBoot, Ntfs) => Some(Misfit::UnusualRoot),
        (Purpose::LinuxData, Vfat | Exfat | Ntfs) => Some(Misfit::NoPermissions(kind)),
        (Purpose::Backup, Vfat) => Some(Misfit::SmallFilesOnly),
        (Purpose::LinuxData | Purpose::LinuxRoot | Purpose::BoardBoot | Purpose::Backup, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_purpose_chooses_itself_fits_it() {
        use FilesystemKind::{Exfat, Ext4, Vfat};
        let usual = [
            (Purpose::Share, Vfat),
            (Purpose::Share, Exfat),
            (Purpose::LinuxData, Ext4),
            (Purpose::LinuxRoot, Ext4),
            (Purpose::Camera, Vfat),
            (Purpose::Camera, Exfat),
            (Purpose::BoardBoot, Ext4),
            (Purpose::Backup, Ext4),
        ];
        for (purpose, kind) in usual {
            assert_eq!(misfit(purpose, kind), None, "{kind} for {purpose}");
        }
    }

    #[test]
    fn a_camera_and_a_root_refuse_what_they_cannot_use() {
        let is_impossible = |purpose, kind| misfit(purpose, kind).is_some_and(Misfit::is_impossible);
        assert!(is_impossible(Purpose::Camera, FilesystemKind::Ext4));
        assert!(is_impossible(Purpose::LinuxRoot, FilesystemKind::Vfat));
        assert!(!is_impossible(Purpose::LinuxRoot, FilesystemKind::Ntfs));
        assert!(!is_impossible(Purpose::Share, FilesystemKind::Ext4));
    }
}
