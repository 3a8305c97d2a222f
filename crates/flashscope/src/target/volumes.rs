//! The volumes on a target, as the kernel lists them, or as they are read from it.

use std::path::Path;

use flashscope_device::{Bytes, Device, DeviceExt};
use flashscope_layout::present::{Present, PresentVolume, present};
use flashscope_linux::{Disk, Filesystem, Mount, Partition, printable};
use flashscope_record::attachment::Volume;

/// The volumes on a disk that the kernel knows.
pub fn of_disk(disk: &Disk) -> Vec<Volume> {
    let of_whole = disk.filesystem.as_ref().map(|filesystem| Volume {
        size: Some(disk.capacity),
        mount_options: mount_options(&disk.mounts),
        mount_point: mount_point(&disk.mounts),
        ..with_filesystem(&disk.name, Bytes::ZERO, Some(filesystem))
    });
    disk.partitions.iter().map(of_partition).chain(of_whole).collect()
}

/// A partition that the kernel knows.
pub fn of_partition(partition: &Partition) -> Volume {
    Volume {
        size: Some(partition.length),
        mount_options: mount_options(&partition.mounts),
        mount_point: mount_point(&partition.mounts),
        ..with_filesystem(&partition.name, partition.start, partition.filesystem.as_ref())
    }
}

fn with_filesystem(name: &str, start: Bytes, filesystem: Option<&Filesystem>) -> Volume {
    Volume {
        name: name.to_owned(),
        start,
        data_start: filesystem.and_then(|filesystem| filesystem.data_start),
        filesystem: filesystem.map(|filesystem| filesystem.kind.clone()),
        cluster: filesystem.and_then(|filesystem| filesystem.cluster),
        group: filesystem.and_then(|filesystem| filesystem.group),
        stripe: filesystem.and_then(|filesystem| filesystem.stripe),
        has_journal: filesystem.and_then(|filesystem| filesystem.has_journal),
        ..Volume::default()
    }
}

/// Where it is mounted for writing.
fn mount_point(mounts: &[Mount]) -> Option<String> {
    let is_writable = |mount: &&Mount| mount.options.split(',').any(|option| option == "rw");
    mounts.iter().find(is_writable).map(|mount| mount.path.clone())
}

/// The options of the first mount, each once.
fn mount_options(mounts: &[Mount]) -> Vec<String> {
    let mut options: Vec<String> = Vec::new();
    for option in mounts.first().iter().flat_map(|mount| mount.options.split(',')) {
        if !option.is_empty() && !options.iter().any(|known| known == option) {
            options.push(option.to_owned());
        }
    }
    options
}

/// The volumes on an image file or a disk whose partitions the kernel does not list.
pub fn on_device(device: &mut dyn Device, target: &Path) -> Vec<Volume> {
    let found = read(device).volumes;
    found.iter().map(|volume| volume.to_record(name(volume, target))).collect()
}

fn name(volume: &PresentVolume, target: &Path) -> String {
    let file_name = || printable(&target.file_name().unwrap_or(target.as_os_str()).to_string_lossy());
    volume.number.map_or_else(file_name, |number| format!("partition {number}"))
}

/// Partition table and filesystems on a device. A range that cannot be read holds nothing.
pub fn read(device: &mut dyn Device) -> Present {
    let (capacity, block) = {
        let capabilities = device.capabilities();
        (capabilities.capacity, capabilities.logical_block)
    };
    present(capacity, block, &mut |range| {
        let read = device.read_bytes(range).ok()?.ok()?;
        Some(read.to_vec())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_first_mount_are_kept_once() {
        let mount = |options: &str| Mount {
            device: "8:17".to_owned(),
            source: "/dev/sdb1".to_owned(),
            path: "/media/stick".to_owned(),
            filesystem: "vfat".to_owned(),
            options: options.to_owned(),
        };
        assert_eq!(mount_options(&[mount("rw,sync,rw,,flush"), mount("ro")]), ["rw", "sync", "flush"]);
        assert_eq!(mount_options(&[]), [""; 0]);
    }
}
