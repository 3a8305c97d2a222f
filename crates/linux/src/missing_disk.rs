//! Slots and devices that could provide a disk but do not: an empty card slot, a USB stick without a
//! driver.

use crate::sysfs::{Node, Sysfs};
use crate::usb;

/// A slot or device without a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingDisk {
    /// The kernel's name, e.g. `mmc1` or `1-4`.
    pub name: String,
    /// The product name, printable.
    pub product: Option<String>,
    /// Why there is no disk.
    pub reason: MissingDiskReason,
}

/// Why there is no disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingDiskReason {
    /// An SD card slot without a card.
    NoCard,
    /// USB storage without a driver.
    NoDriver,
    /// USB storage without a driver that supports UAS: where uas is built, usb-storage leaves it to uas.
    NoUasDriver,
    /// USB storage with a driver but without a disk: it is starting, or it does not respond.
    NoDisk,
}

/// `bInterfaceClass` of mass storage.
const MASS_STORAGE: u32 = 8;

/// Every slot and device without a disk.
pub fn missing_disks(sysfs: &Sysfs) -> Vec<MissingDisk> {
    let hosts = sysfs.nodes("class/mmc_host").unwrap_or_default();
    let devices = sysfs.nodes("bus/usb/devices").unwrap_or_default();
    hosts.iter().filter_map(without_card).chain(devices.iter().filter_map(without_disk)).collect()
}

/// The host, if no card is in it. A card is a directory below its host, named `mmc0:aaaa`; so is a wireless
/// chip.
fn without_card(host: &Node) -> Option<MissingDisk> {
    let name = host.name();
    let is_taken = host.children().iter().any(|child| child.name().starts_with(&format!("{name}:")));
    let driver = host.below("device").and_then(|device| device.below("driver"));
    (!is_taken).then(|| MissingDisk {
        product: driver.map(|driver| driver.name()),
        name,
        reason: MissingDiskReason::NoCard,
    })
}

/// The device, if its interface is mass storage without a disk. Interfaces are listed among the devices,
/// named `1-4:1.0`.
fn without_disk(interface: &Node) -> Option<MissingDisk> {
    let is_storage = interface.hexadecimal("bInterfaceClass") == Some(MASS_STORAGE);
    let device = interface.below("..").filter(|_| is_storage)?;
    let reason = match interface.below("driver") {
        None if usb::offers_uas(&device) == Some(true) => MissingDiskReason::NoUasDriver,
        None => MissingDiskReason::NoDriver,
        Some(_) if has_disk(interface) => return None,
        Some(_) => MissingDiskReason::NoDisk,
    };
    Some(MissingDisk { name: device.name(), product: device.text("product"), reason })
}

/// Whether a disk or optical drive lies below an interface, as `host6/target6:0:0/6:0:0:0`.
fn has_disk(interface: &Node) -> bool {
    let children = |nodes: Vec<Node>| nodes.iter().flat_map(Node::children).collect::<Vec<_>>();
    let units = children(children(children(vec![interface.clone()])));
    units.iter().any(|unit| unit.name().matches(':').count() == 3)
}
