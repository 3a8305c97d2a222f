//! What a folder lies on: the filesystem, its clusters, and whether that is a stick at all.

use std::path::Path;

use flashscope_device::Bytes;

use crate::mounts::{self, Mount};
use crate::sysfs::{Node, Sysfs};

/// What a folder lies on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ground {
    /// The filesystem as the kernel calls it, e.g. `vfat`; empty if that is not known.
    pub filesystem: String,
    /// The device as it was named when it was mounted; empty if that is not known.
    pub source: String,
    /// The options of the mount.
    pub options: String,
    /// The unit in which it gives space to files, as it says.
    pub cluster: Bytes,
    /// What is measured instead of a stick.
    pub instead: Vec<NoStick>,
}

/// What a folder may lie on that is no stick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoStick {
    /// Memory.
    Memory,
    /// Another machine.
    Network,
    /// Layers over another filesystem.
    Overlay,
    /// A program in user space.
    UserSpace,
    /// The disk that the system runs from.
    SystemDisk,
}

/// Filesystems of other machines, as mountinfo names them.
const NETWORKS: [&str; 12] = [
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
const MEMORIES: [&str; 2] = ["tmpfs", "ramfs"];
/// A filesystem on a disk whose driver is a program: it has a block device below it all the same.
const ON_A_DISK: &str = "fuseblk";

impl Ground {
    /// Of the folder at `path`, with links resolved, by the list of mounts at `list`.
    pub fn of(path: &Path, list: &Path, cluster: Bytes) -> Self {
        let mount = mounts::read(list).ok().and_then(|mounts| holding(path, mounts));
        let mount = mount.unwrap_or_else(|| Mount {
            device: String::new(),
            source: String::new(),
            path: String::new(),
            filesystem: String::new(),
            options: String::new(),
        });
        Self {
            instead: instead(path, &mount.filesystem),
            filesystem: mount.filesystem,
            source: mount.source,
            options: mount.options,
            cluster,
        }
    }

    /// The block device below, if there is one that the kernel counts requests of.
    pub fn node(&self, path: &Path, sysfs: &Sysfs) -> Option<Node> {
        let stat = rustix::fs::stat(path).ok()?;
        let by_number = sysfs.node_of(rustix::fs::major(stat.st_dev), rustix::fs::minor(stat.st_dev));
        by_number.or_else(|| sysfs.node_at(Path::new(&self.source)))
    }
}

/// The mount that holds `path`: the one with the longest name of those it lies below; of several in one place, the last.
fn holding(path: &Path, mounts: Vec<Mount>) -> Option<Mount> {
    let holds = |mount: &Mount| path.starts_with(&mount.path);
    mounts.into_iter().filter(holds).max_by_key(|mount| mount.path.len())
}

fn instead(path: &Path, filesystem: &str) -> Vec<NoStick> {
    let root = rustix::fs::stat("/").map(|root| root.st_dev);
    let here = rustix::fs::stat(path).map(|here| here.st_dev);
    let is_program = filesystem == ON_A_DISK || filesystem.starts_with("fuse.") || filesystem == "fuse";
    let is_network = NETWORKS.contains(&filesystem);
    [
        MEMORIES.contains(&filesystem).then_some(NoStick::Memory),
        is_network.then_some(NoStick::Network),
        (filesystem == "overlay").then_some(NoStick::Overlay),
        (is_program && !is_network).then_some(NoStick::UserSpace),
        (here.is_ok() && root == here).then_some(NoStick::SystemDisk),
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
    fn the_filesystem_is_that_of_the_nearest_mount() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("mounts");
        std::fs::write(&list, LIST).unwrap();
        let of = |path: &str| Ground::of(Path::new(path), &list, Bytes::kib(32));
        assert_eq!(
            (of("/media/stick/a").filesystem.as_str(), of("/media/stick/a").instead),
            ("vfat", vec![])
        );
        assert_eq!(of("/media/stick/a").options, "rw,flush");
        assert_eq!(of("/media/stick/net/a").instead, [NoStick::Network]);
        assert_eq!(of("/media/sticky").filesystem, "ext4");
        assert_eq!(of("/mem/x").instead, [NoStick::Memory]);
        assert_eq!(of("/layers/x").instead, [NoStick::Overlay]);
        assert_eq!(of("/prog/x").instead, [NoStick::UserSpace]);
        assert_eq!(of("/ssh/x").instead, [NoStick::Network]);
        assert_eq!(of("/").instead, [NoStick::SystemDisk]);
        let unknown = Ground::of(Path::new("/x"), Path::new("/no such list"), Bytes::kib(4));
        assert_eq!((unknown.filesystem.as_str(), unknown.instead), ("", vec![]));
    }
}
