//! The filesystems that are recorded, each with its options.

/// A filesystem with its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variant {
    /// Its name in the index of the recordings.
    pub name: &'static str,
    /// The command that makes it on the device at its end.
    pub mkfs: &'static str,
    /// The type for mount.
    pub mount_type: &'static str,
    /// The mount options.
    pub mount: &'static str,
    /// The Debian package of the command.
    pub package: &'static str,
    /// The kernel modules beyond those of every lab.
    pub modules: &'static [&'static str],
    /// The erase block that its options were chosen for, MiB.
    pub erase_block_mib: Option<u64>,
}

/// Inode tables and journal are written by mkfs, not by the kernel in the first minutes after the mount.
const ALL_AT_ONCE: &str = "lazy_itable_init=0,lazy_journal_init=0";

/// All of them. Debian 12 has no program that makes HFS+. Mount options are those of desktops (udisks2) and
/// of Debian's installer.
pub const ALL: [Variant; 14] = [
    ext("ext2", "mkfs.ext2 -q -F", None),
    ext("ext3", "mkfs.ext3 -q -F", None),
    ext("ext4", "mkfs.ext4 -q -F", None),
    ext("ext4-stripe", "mkfs.ext4 -q -F -E stride=1024,stripe_width=1024", Some(4)),
    ext("ext4-nojournal", "mkfs.ext4 -q -F -O ^has_journal", None),
    fat("vfat", "rw"),
    fat("vfat-flush", "flush"),
    Variant {
        name: "exfat",
        mkfs: "mkfs.exfat",
        mount_type: "exfat",
        mount: "rw",
        package: "exfatprogs",
        modules: &[],
        erase_block_mib: None,
    },
    Variant {
        name: "f2fs",
        mkfs: "mkfs.f2fs -q -f",
        mount_type: "f2fs",
        mount: "rw",
        package: "f2fs-tools",
        modules: &["crc32_generic", "f2fs"],
        erase_block_mib: None,
    },
    Variant {
        name: "btrfs",
        mkfs: "mkfs.btrfs -q -f",
        mount_type: "btrfs",
        mount: "rw",
        package: "btrfs-progs",
        modules: &["btrfs"],
        erase_block_mib: None,
    },
    Variant {
        name: "xfs",
        mkfs: "mkfs.xfs -q -f",
        mount_type: "xfs",
        mount: "rw",
        package: "xfsprogs",
        modules: &["xfs"],
        erase_block_mib: None,
    },
    Variant {
        name: "ntfs",
        mkfs: "mkfs.ntfs -q -f -F",
        mount_type: "ntfs-3g",
        mount: "big_writes",
        package: "ntfs-3g",
        modules: &["fuse"],
        erase_block_mib: None,
    },
    Variant {
        name: "nilfs2",
        mkfs: "mkfs.nilfs2 -q -f",
        mount_type: "nilfs2",
        // Without its cleaner, a program of its own.
        mount: "nogc",
        package: "nilfs-tools",
        modules: &["nilfs2"],
        erase_block_mib: None,
    },
    Variant {
        name: "reiserfs",
        mkfs: "mkfs.reiserfs -q -f -f",
        mount_type: "reiserfs",
        mount: "rw",
        package: "reiserfsprogs",
        modules: &["reiserfs"],
        erase_block_mib: None,
    },
];

const fn ext(name: &'static str, mkfs: &'static str, erase_block_mib: Option<u64>) -> Variant {
    let mount_type = match name.as_bytes()[3] {
        b'2' => "ext2",
        b'3' => "ext3",
        _ => "ext4",
    };
    Variant { name, mkfs, mount_type, mount: "rw", package: "e2fsprogs", modules: &[], erase_block_mib }
}

const fn fat(name: &'static str, mount: &'static str) -> Variant {
    Variant {
        name,
        mkfs: "mkfs.vfat -I",
        mount_type: "vfat",
        mount,
        package: "dosfstools",
        modules: &[],
        erase_block_mib: None,
    }
}

impl Variant {
    /// The variant of this name.
    pub fn of_name(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|variant| variant.name == name)
    }

    /// The command without the device.
    pub fn mkfs_command(&self) -> String {
        if !self.mkfs.starts_with("mkfs.ext") {
            return self.mkfs.to_owned();
        }
        match self.mkfs.split_once(" -E ") {
            Some((before, options)) => format!("{before} -E {ALL_AT_ONCE},{options}"),
            None => format!("{} -E {ALL_AT_ONCE}", self.mkfs),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ext_filesystems_are_complete_when_mkfs_ends() {
        let command = |name| Variant::of_name(name).map(Variant::mkfs_command).unwrap_or_default();
        assert_eq!(command("ext2"), "mkfs.ext2 -q -F -E lazy_itable_init=0,lazy_journal_init=0");
        assert!(command("ext4-stripe").ends_with("lazy_journal_init=0,stride=1024,stripe_width=1024"));
        assert_eq!(command("xfs"), "mkfs.xfs -q -f");
    }
}
