//! The filesystem that a directory lies on, its cluster size, and whether a stick is behind it.

use std::path::Path;

use flashscope_device::Bytes;

use crate::mounts::{self, Mount};
use crate::sysfs::{Node, Sysfs};

/// The filesystem that a directory lies on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackingFilesystem {
    /// The filesystem type as the kernel calls it, e.g. `vfat`; empty if unknown.
    pub filesystem: String,
    /// The mounted device; empty if unknown.
    pub source: String,
    /// The mount options.
    pub options: String,
    /// The allocation unit for files, as the filesystem reports it.
    pub cluster: Bytes,
    /// Reasons why no stick is measured there; empty for a stick.
    pub non_stick: Vec<NonStickStorage>,
}

/// How a filesystem treats data that is written again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewriting {
    /// It overwrites where the data lies, and can reserve space there without writing it.
    InPlaceReserved,
    /// It overwrites where the data lies.
    InPlace,
    /// It writes elsewhere, or is not known.
    Elsewhere,
}

/// Storage that is not a stick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NonStickStorage {
    /// Memory.
    Memory,
    /// Another machine.
    Network,
    /// An overlay over another filesystem.
    Overlay,
    /// A program in user space (FUSE).
    UserSpace,
    /// The system disk.
    SystemDisk,
}

/// Network filesystems, as mountinfo names them.
const NETWORK_FILESYSTEMS: [&str; 12] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "ceph",
    "afs",
    "virtiofs",
    "fuse.sshfs",
    "fuse.glusterfs",
    "fuse.rclone",
];
const MEMORY_FILESYSTEMS: [&str; 3] = ["tmpfs", "ramfs", "devtmpfs"];
/// FUSE filesystems on a block device.
const FUSE_ON_A_DISK: &str = "fuseblk";

impl BackingFilesystem {
    /// The filesystem of the directory at `path`, whose links are resolved. `list` is the list of mounts.
    pub fn of(path: &Path, list: &Path, cluster: Bytes) -> Self {
        let mount = mounts::read(list).ok().and_then(|mounts| mount_of(path, mounts));
        let mount = mount.unwrap_or_else(|| Mount {
            device: String::new(),
            source: String::new(),
            path: String::new(),
            filesystem: String::new(),
            options: String::new(),
        });
        Self {
            non_stick: non_stick(path, &mount.filesystem),
            filesystem: mount.filesystem,
            source: mount.source,
            options: mount.options,
            cluster,
        }
    }

    /// How it treats data that is written again.
    #[must_use]
    pub fn rewriting(&self) -> Rewriting {
        match self.filesystem.as_str() {
            "ext4" | "xfs" => Rewriting::InPlaceReserved,
            "ext2" | "ext3" | "vfat" | "msdos" | "exfat" | "ntfs" | "ntfs3" | FUSE_ON_A_DISK => {
                Rewriting::InPlace
            }
            _ => Rewriting::Elsewhere,
        }
    }

    /// The block device below, if the kernel counts its requests.
    pub fn node(&self, path: &Path, sysfs: &Sysfs) -> Option<Node> {
        let stat = rustix::fs::stat(path).ok()?;
        let by_number = sysfs.node_of(rustix::fs::major(stat.st_dev), rustix::fs::minor(stat.st_dev));
        by_number.or_else(|| sysfs.node_at(Path::new(&self.source)))
    }
}

/// The mount that holds `path`: the one with the longest mount path above it; of several on one mount
/// point, the last.
fn mount_of(path: &Path, mounts: Vec<Mount>) -> Option<Mount> {
    let holds = |mount: &Mount| path.starts_with(&mount.path);
    mounts.into_iter().filter(holds).max_by_key(|mount| mount.path.len())
}

fn non_stick(path: &Path, filesystem: &str) -> Vec<NonStickStorage> {
    let root = rustix::fs::stat("/").map(|root| root.st_dev);
    let here = rustix::fs::stat(path).map(|here| here.st_dev);
    let is_program = filesystem == FUSE_ON_A_DISK || filesystem.starts_with("fuse.") || filesystem == "fuse";
    let is_network = NETWORK_FILESYSTEMS.contains(&filesystem);
    [
        MEMORY_FILESYSTEMS.contains(&filesystem).then_some(NonStickStorage::Memory),
        is_network.then_some(NonStickStorage::Network),
        (filesystem == "overlay").then_some(NonStickStorage::Overlay),
        (is_program && !is_network).then_some(NonStickStorage::UserSpace),
        (here.is_ok() && root == here).then_some(NonStickStorage::SystemDisk),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "\
22 1 8:1 / / rw - ext4 /dev/sda1 rw
30 22 8:17 / /media/stick rw - vfat /dev/sdb1 rw,flush
31 22 0:40 / /media/stick/net rw - nfs4 server:/share rw
32 22 0:41 / /mem rw - tmpfs tmpfs rw
33 22 0:42 / /layers rw - overlay overlay rw
34 22 0:43 / /prog rw - fuse.example /dev/fuse rw
35 22 0:44 / /ssh rw - fuse.sshfs host: rw
";

    #[test]
    fn nearest_mount_decides_the_filesystem() {
        let directory = tempfile::tempdir().unwrap();
        let list = directory.path().join("mounts");
        std::fs::write(&list, LIST).unwrap();
        let of = |path: &str| BackingFilesystem::of(Path::new(path), &list, Bytes::kib(32));
        assert_eq!(
            (of("/media/stick/a").filesystem.as_str(), of("/media/stick/a").non_stick),
            ("vfat", vec![])
        );
        assert_eq!(of("/media/stick/a").options, "rw,flush");
        assert_eq!(of("/media/stick/net/a").non_stick, [NonStickStorage::Network]);
        assert_eq!(of("/media/sticky").filesystem, "ext4");
        assert_eq!(of("/mem/x").non_stick, [NonStickStorage::Memory]);
        assert_eq!(of("/layers/x").non_stick, [NonStickStorage::Overlay]);
        assert_eq!(of("/prog/x").non_stick, [NonStickStorage::UserSpace]);
        assert_eq!(of("/ssh/x").non_stick, [NonStickStorage::Network]);
        assert_eq!(of("/").non_stick, [NonStickStorage::SystemDisk]);
        assert_eq!(of("/proc").non_stick, [], "there, and not on the system disk");
        let unknown = BackingFilesystem::of(Path::new("/x"), Path::new("/no such list"), Bytes::kib(4));
        assert_eq!((unknown.filesystem.as_str(), unknown.non_stick), ("", vec![]));
    }
}
