//! The disks of this machine, read from sysfs.

use std::path::{Path, PathBuf};

use flashscope_device::Bytes;

use crate::disk::{Bus, Card, Disk, Partition, Usb};
use crate::mounts::{self, Mount};
use crate::sysfs::{Node, Sysfs};

/// Where to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// The sysfs tree.
    pub sysfs: PathBuf,
    /// The list of mounts.
    pub mountinfo: PathBuf,
}

impl Default for Roots {
    /// Those of this machine.
    fn default() -> Self {
        Self { sysfs: "/sys".into(), mountinfo: "/proc/self/mountinfo".into() }
    }
}

/// Why there is no list.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the list of disks from {}: {source}; is sysfs mounted?", path.display())]
pub struct ListError {
    path: PathBuf,
    source: std::io::Error,
}

/// The disks the kernel knows, by name. Loop, zram and other virtual disks that hold nothing are left out; a card
/// reader without a card is in the list, with a capacity of zero.
///
/// # Errors
/// [`ListError`] if there is no list of disks. Without a list of mounts the disks have none.
pub fn list(roots: &Roots) -> Result<Vec<Disk>, ListError> {
    let nodes = Sysfs::at(&roots.sysfs).disks();
    let nodes = nodes.map_err(|source| ListError { path: roots.sysfs.join("block"), source })?;
    let mounts = mounts::read(&roots.mountinfo).unwrap_or_default();
    let disks = nodes.iter().map(|node| describe(node, &mounts));
    Ok(disks.filter(|disk| !disk.capacity.is_zero() || disk.is_removable && !is_virtual(disk.bus)).collect())
}

const fn is_virtual(bus: Bus) -> bool {
    matches!(bus, Bus::Loop | Bus::Zram | Bus::Virtual)
}

/// What is known of the disk at `node`.
pub fn describe(node: &Node, mounts: &[Mount]) -> Disk {
    let name = node.name();
    let bus = bus(node.path(), &name);
    let device = node.below("device");
    let of_device = |attribute| device.as_ref().and_then(|device| device.text(attribute));
    let usb_device = node.ancestors().find(|above| above.text("idVendor").is_some());
    let of_usb = |attribute| usb_device.as_ref().and_then(|device| device.text(attribute));
    let partitions: Vec<Node> =
        node.children().into_iter().filter(|child| child.partition_start().is_some()).collect();
    Disk {
        path: Path::new("/dev").join(name.replace('!', "/")),
        capacity: node.size(),
        vendor: of_usb("manufacturer").or_else(|| of_device("vendor")),
        model: of_usb("product").or_else(|| of_device("model")).or_else(|| of_device("name")),
        serial: of_usb("serial").or_else(|| of_device("serial")).or_else(|| node.text("serial")),
        is_removable: node.is_set("removable"),
        is_read_only: node.is_set("ro"),
        usb: usb_device.as_ref().and_then(|device| usb(device, node)),
        card: device.filter(|_| bus == Bus::Mmc).map(|device| card(&device)),
        mounts: mounts_of(mounts, node, &partitions),
        partitions: partitions.iter().filter_map(partition).collect(),
        bus,
        name,
    }
}

/// The bus, from the names of the devices above the disk, or from its own name.
fn bus(path: &Path, name: &str) -> Bus {
    let above = |is_it: &dyn Fn(&str) -> bool| {
        path.components().any(|component| component.as_os_str().to_str().is_some_and(is_it))
    };
    let numbered = |prefix: &'static str| {
        move |component: &str| {
            component.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        }
    };
    match name {
        _ if name.starts_with("loop") => Bus::Loop,
        _ if name.starts_with("zram") => Bus::Zram,
        _ if name.starts_with("nvme") => Bus::Nvme,
        _ if above(&|component| component == "virtual") => Bus::Virtual,
        _ if above(&numbered("usb")) => Bus::Usb,
        _ if above(&numbered("mmc")) => Bus::Mmc,
        _ if above(&numbered("ata")) => Bus::Ata,
        _ if above(&numbered("virtio")) => Bus::Virtio,
        _ if above(&numbered("host")) => Bus::Scsi,
        _ => Bus::Other,
    }
}

fn usb(device: &Node, disk: &Node) -> Option<Usb> {
    let interface = disk.ancestors().find(|above| above.text("bInterfaceClass").is_some());
    Some(Usb {
        vendor_id: device.hexadecimal("idVendor")?,
        product_id: device.hexadecimal("idProduct")?,
        link_mbit_per_s: device.number("speed"),
        version: device.text("version"),
        driver: interface.and_then(|interface| interface.below("driver")).map(|driver| driver.name()),
    })
}

fn card(device: &Node) -> Card {
    Card {
        kind: device.text("type"),
        manufacturer_id: device.hexadecimal("manfid"),
        date: device.text("date"),
        preferred_erase: device
            .number("preferred_erase_size")
            .map(Bytes::new)
            .filter(|bytes| !bytes.is_zero()),
    }
}

fn partition(node: &Node) -> Option<Partition> {
    Some(Partition { name: node.name(), start: node.partition_start()?, length: node.size() })
}

/// The mounts of a disk and its partitions, by device number or, where the filesystem has a number of its own, by name.
fn mounts_of(mounts: &[Mount], disk: &Node, partitions: &[Node]) -> Vec<Mount> {
    let is_of = |mount: &Mount, node: &Node| {
        node.text("dev").as_ref() == Some(&mount.device) || mount.source == format!("/dev/{}", node.name())
    };
    let nodes = || partitions.iter().chain([disk]);
    mounts.iter().filter(|mount| nodes().any(|node| is_of(mount, node))).cloned().collect()
}
