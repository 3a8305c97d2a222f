//! Identifies one target: its name, and the disk it lies on.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use flashscope_device::Bytes;

use crate::describe::{describe, partition};
use crate::disk::{Disk, Partition};
use crate::mounts;
use crate::printable::printable;
use crate::roots::Roots;
use crate::sysfs::{Node, Sysfs};
use crate::usb::{Usb, VirtualBus};

/// The identity of a target, without a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Identity {
    /// One printable line: `SanDisk Ultra (0781:5581), 28.6 GiB, usb 480 Mbit/s`.
    pub name: String,
    /// The disk, if the target is one or a partition of one.
    pub disk: Option<Disk>,
    /// The partition, if the target is one.
    pub partition: Option<Partition>,
}

/// Identifies the target at `path`. An inaccessible path gets its own name; opening it will report the
/// error.
#[must_use]
pub fn identify(path: &Path, roots: &Roots) -> Identity {
    from_sysfs(path, roots).unwrap_or_else(|| {
        let file_name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let size = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map(|file| file.len());
        let size = size.map_or_else(String::new, |size| format!(", {}", Bytes::new(size)));
        Identity { name: format!("image file {}{size}", printable(&file_name)), disk: None, partition: None }
    })
}

fn from_sysfs(path: &Path, roots: &Roots) -> Option<Identity> {
    let metadata = std::fs::metadata(path).ok().filter(|metadata| metadata.file_type().is_block_device())?;
    let (major, minor) = (rustix::fs::major(metadata.rdev()), rustix::fs::minor(metadata.rdev()));
    identity_of(&Sysfs::at(&roots.sysfs).node_of(major, minor)?, roots)
}

/// Identifies the disk or partition at `node`.
pub fn identity_of(node: &Node, roots: &Roots) -> Option<Identity> {
    let mounts = mounts::read(&roots.mounts).unwrap_or_default();
    let is_partition = node.partition_start().is_some();
    let disk_node = if is_partition { node.below("..")? } else { node.clone() };
    let disk = describe(&disk_node, &mounts, roots);
    let partition = partition(node, &mounts, roots).filter(|_| is_partition);
    Some(Identity { name: one_line(&disk, partition.as_ref()), disk: Some(disk), partition })
}

fn one_line(disk: &Disk, partition: Option<&Partition>) -> String {
    let called: Vec<&str> = [&disk.vendor, &disk.model].into_iter().flatten().map(String::as_str).collect();
    let called = if called.is_empty() { disk.name.clone() } else { called.join(" ") };
    let ids = disk
        .usb
        .as_ref()
        .map_or_else(String::new, |usb| format!(" ({:04x}:{:04x})", usb.vendor_id, usb.product_id));
    let link = |usb: &Usb| match (usb.path.virtual_bus, usb.link_mbit_per_s) {
        (Some(VirtualBus::Network), _) => " over the network".to_owned(),
        (Some(VirtualBus::Gadget), _) => " of a gadget".to_owned(),
        (None, Some(mbit_per_s)) => format!(" {mbit_per_s} Mbit/s"),
        (None, None) => String::new(),
    };
    let link = disk.usb.as_ref().map_or_else(String::new, link);
    let part = partition.map_or_else(String::new, |partition| {
        format!("{}, {} from {} of ", partition.name, partition.length, partition.start)
    });
    printable(&format!("{part}{called}{ids}, {}, {}{link}", disk.capacity, disk.bus.as_str()))
}
