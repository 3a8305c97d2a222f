//! What a real target is, for `--json`.

use flashscope_linux::Identity;

use crate::document::{DiskIdentity, Identity as TargetIdentity};

/// The identity of a disk, a partition or an image file.
pub fn describe(identity: &Identity, capacity_bytes: u64) -> TargetIdentity {
    let name = &identity.name;
    match &identity.disk {
        None => TargetIdentity::ImageFile { name: name.clone(), capacity_bytes },
        Some(disk) if identity.partition.is_some() => {
            TargetIdentity::Partition(DiskIdentity::new(name, disk, capacity_bytes))
        }
        Some(disk) => TargetIdentity::Disk(DiskIdentity::new(name, disk, capacity_bytes)),
    }
}
