//! Describes one disk from its sysfs directory and the directories above it.

use std::path::Path;

use crate::card::Card;
use crate::classify::disk_kind;
use crate::disk::{Bus, Disk, Partition, Scsi};
use crate::disk_kind::DiskKind;
use crate::mounts::Mount;
use crate::roots::Roots;
use crate::sysfs::{Node, Sysfs};
use crate::volume::Filesystem;
use crate::{queue, usb};

/// The longest chain of device mappers on a partition (encryption, volumes) that is followed. Guess: real
/// chains have two.
const HOLDERS_MAX: usize = 8;

/// Describes the disk at `node`.
pub fn describe(node: &Node, mounts: &[Mount], roots: &Roots) -> Disk {
    let name = node.name();
    let device = node.below("device");
    let above = above(node, device.as_ref());
    let bus = bus(&above, &name);
    let usb_device = above.iter().find(|above| above.text("idVendor").is_some()).filter(|_| bus == Bus::Usb);
    let interface = above.iter().find(|above| above.text("bInterfaceClass").is_some());
    let of_device = |attribute| device.as_ref().and_then(|device| device.text(attribute));
    let of_usb = |attribute| usb_device.and_then(|device| device.text(attribute));
    let scsi = device.as_ref().and_then(scsi);
    let capacity = node.size();
    let partitions = partitions(node);
    let mounts = Mounts { all: mounts, roots, is_readable: !capacity.is_zero() };
    let mut disk = Disk {
        path: Path::new("/dev").join(name.replace('!', "/")),
        vendor: of_usb("manufacturer").or_else(|| scsi.as_ref()?.vendor.clone()),
        model: of_usb("product").or_else(|| of_device("model")).or_else(|| of_device("name")),
        serial: of_usb("serial").or_else(|| of_device("serial")).or_else(|| node.text("serial")),
        is_removable: node.is_set("removable"),
        is_read_only: node.is_set("ro"),
        kind: DiskKind::Disk,
        usb: usb_device.and_then(|device| usb::read(device, interface, roots)),
        card: device
            .as_ref()
            .filter(|_| bus == Bus::Mmc)
            .map(|device| Card::read(device, debug(&above, roots).as_ref())),
        queue: queue::read(node, capacity),
        mounts: mounts.of_all(&partitions, node),
        filesystem: mounts.filesystem(node).filter(|_| partitions.is_empty()),
        partitions: partitions.iter().filter_map(|node| mounts.partition(node)).collect(),
        capacity,
        scsi,
        bus,
        name,
        kernel_events: None,
    };
    disk.kind = disk_kind(&disk, device.as_ref());
    disk
}

/// The directories above a disk, nearest first; those above its device too, because a copy of sysfs may
/// lack the links.
fn above(node: &Node, device: Option<&Node>) -> Vec<Node> {
    node.ancestors().chain(device.into_iter().flat_map(Node::ancestors)).collect()
}

/// The bus, from the names of the devices above the disk, or from its own name.
fn bus(above: &[Node], name: &str) -> Bus {
    let is_above = |is_it: &dyn Fn(&str) -> bool| above.iter().any(|node| is_it(&node.name()));
    let numbered = |prefix: &'static str| {
        move |name: &str| {
            name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        }
    };
    match name {
        _ if name.starts_with("loop") => Bus::Loop,
        _ if name.starts_with("zram") => Bus::Zram,
        _ if name.starts_with("nvme") => Bus::Nvme,
        _ if is_above(&|name| name == "virtual") => Bus::Virtual,
        _ if is_above(&numbered("usb")) => Bus::Usb,
        _ if is_above(&numbered("mmc")) => Bus::Mmc,
        _ if is_above(&numbered("ata")) => Bus::Ata,
        _ if is_above(&numbered("virtio")) => Bus::Virtio,
        _ if is_above(&numbered("host")) => Bus::Scsi,
        _ => Bus::Other,
    }
}

/// The disk's answer to SCSI's INQUIRY; its directory is named `host:channel:target:unit`.
fn scsi(device: &Node) -> Option<Scsi> {
    let name = device.name();
    let unit = name.rsplit(':').next().filter(|_| name.matches(':').count() == 3)?;
    Some(Scsi {
        vendor: device.text("vendor"),
        model: device.text("model"),
        revision: device.text("rev"),
        unit: unit.parse().ok(),
    })
}

/// The debugfs directory of a card's host, e.g. `mmc0`.
fn debug(above: &[Node], roots: &Roots) -> Option<Node> {
    let is_host = |node: &&Node| node.ancestors().nth(1).is_some_and(|above| above.name() == "mmc_host");
    let host = above.iter().find(is_host)?;
    let sysfs = Sysfs::at(&roots.sysfs);
    sysfs.node(&roots.sysfs.join("kernel/debug").join(host.name()))
}

/// The list of mounts, and the other sources for filesystems.
struct Mounts<'a> {
    all: &'a [Mount],
    roots: &'a Roots,
    is_readable: bool,
}

impl Mounts<'_> {
    /// The mounts of a disk and its partitions.
    fn of_all(&self, partitions: &[Node], disk: &Node) -> Vec<Mount> {
        partitions.iter().chain([disk]).flat_map(|node| self.of(node)).collect()
    }

    /// The mounts of a disk or partition, or of the device mappers on it.
    fn of(&self, node: &Node) -> Vec<Mount> {
        let mut nodes = vec![node.clone()];
        for at in 0..HOLDERS_MAX {
            let holders = nodes.get(at).map_or_else(Vec::new, |node| node.entries("holders"));
            nodes.extend(holders);
        }
        self.all.iter().filter(|mount| nodes.iter().any(|node| is_of(mount, node))).cloned().collect()
    }

    fn filesystem(&self, node: &Node) -> Option<Filesystem> {
        let mount = self.all.iter().find(|mount| is_of(mount, node));
        let found = Filesystem::on(&node.name(), node.text("dev").as_deref(), mount, self.roots);
        found.filter(|_| self.is_readable)
    }

    fn partition(&self, node: &Node) -> Option<Partition> {
        Some(Partition {
            name: node.name(),
            start: node.partition_start()?,
            length: node.size(),
            filesystem: self.filesystem(node),
            mounts: self.of(node),
        })
    }
}

/// Matches by device number or, where the filesystem has a number of its own, by name.
fn is_of(mount: &Mount, node: &Node) -> bool {
    node.text("dev").as_ref() == Some(&mount.device) || mount.source == format!("/dev/{}", node.name())
}

/// Where the disk at `node` and its partitions are mounted.
pub fn mounts(node: &Node, mounts: &[Mount], roots: &Roots) -> Vec<Mount> {
    Mounts { all: mounts, roots, is_readable: false }.of_all(&partitions(node), node)
}

fn partitions(disk: &Node) -> Vec<Node> {
    disk.children().into_iter().filter(|child| child.partition_start().is_some()).collect()
}

/// Describes the partition at `node`, with its filesystem.
pub fn partition(node: &Node, mounts: &[Mount], roots: &Roots) -> Option<Partition> {
    Mounts { all: mounts, roots, is_readable: true }.partition(node)
}
