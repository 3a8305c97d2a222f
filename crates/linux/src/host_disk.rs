//! The disk of this machine that a target lies on, where that is no stick or card.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use flashscope_device::Bytes;

use crate::disk::{Bus, Disk};
use crate::disk_kind::DiskKind;
use crate::files::BackingFilesystem;
use crate::identify::identity_of;
use crate::loop_backing::backing_inode;
use crate::roots::Roots;
use crate::sysfs::{Node, Sysfs};

impl Disk {
    /// Whether it is a disk of this machine, real or of a virtual machine, and no stick or card. A disk that
    /// the kernel puts together from others may lie on a stick.
    #[must_use]
    pub fn is_of_host(&self) -> bool {
        self.kind == DiskKind::Disk && matches!(self.bus, Bus::Virtio | Bus::Nvme | Bus::Ata | Bus::Scsi)
    }
}

/// The name of the disk of this machine that the disk, partition, loop device or file at `path` lies on;
/// `None` for a stick or card, and where it is not known, as on a filesystem of a program.
#[must_use]
pub fn host_disk(path: &Path, roots: &Roots) -> Option<String> {
    let node = node_of(path, roots)?;
    identity_of(&node, roots)?.disk.filter(Disk::is_of_host).map(|disk| disk.name)
}

/// The disk or partition that the target is, or that its file lies on.
fn node_of(path: &Path, roots: &Roots) -> Option<Node> {
    let path = std::fs::canonicalize(path).ok()?;
    let metadata = std::fs::metadata(&path).ok()?;
    let sysfs = Sysfs::at(&roots.sysfs);
    let of_number = |device| sysfs.node_of(rustix::fs::major(device), rustix::fs::minor(device));
    if metadata.file_type().is_block_device() {
        return of_number(backing_inode(&path).map_or(metadata.rdev(), |(device, _)| device));
    }
    BackingFilesystem::of(&path, &roots.mounts, Bytes::ZERO).node(&path, &sysfs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A copy of /sys with a disk whose device number is that of the filesystem below `path`.
    fn host_disk_on(bus: &str, path: &Path) -> Option<String> {
        let device = std::fs::metadata(path).unwrap().dev();
        let folder = tempfile::tempdir().unwrap();
        let disk = format!("devices/{bus}/block/vda");
        let number = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
        std::fs::create_dir_all(folder.path().join(&disk)).unwrap();
        std::fs::create_dir_all(folder.path().join("dev/block")).unwrap();
        std::fs::write(folder.path().join(&disk).join("dev"), &number).unwrap();
        std::fs::write(folder.path().join(&disk).join("size"), "2048").unwrap();
        let link = folder.path().join("dev/block").join(number);
        std::os::unix::fs::symlink(format!("../../{disk}"), link).unwrap();
        host_disk(path, &Roots { sysfs: folder.path().to_owned(), ..Roots::default() })
    }

    #[test]
    fn image_file_lies_on_the_disk_of_its_filesystem() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(host_disk_on("pci0000:00/virtio1", file.path()), Some("vda".to_owned()));
        assert_eq!(host_disk_on("virtual", file.path()), None, "it may lie on a stick");
        assert_eq!(host_disk(Path::new("/dev/null"), &Roots::default()), None);
    }
}
