//! What could hold a disk, or should be one, and is none: an empty slot for cards, a USB stick that the kernel made nothing of.

use crate::sysfs::{Node, Sysfs};

/// A place without a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idle {
    /// The kernel's name, e.g. `mmc1` or `1-4`.
    pub name: String,
    /// What it calls itself, printable.
    pub product: Option<String>,
    /// Why there is no disk.
    pub why: Idleness,
}

/// Why there is no disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idleness {
    /// A slot for SD cards with no card in it.
    NoCard,
    /// USB storage that no driver has taken.
    NoDriver,
    /// USB storage with a driver, but without a disk: it is starting, or it does not answer.
    NoDisk,
}

/// `bInterfaceClass` of mass storage.
const MASS_STORAGE: u32 = 8;

/// Every place without a disk.
pub fn idle(sysfs: &Sysfs) -> Vec<Idle> {
    let hosts = sysfs.nodes("class/mmc_host").unwrap_or_default();
    let devices = sysfs.nodes("bus/usb/devices").unwrap_or_default();
    hosts.iter().filter_map(without_card).chain(devices.iter().filter_map(without_disk)).collect()
}

/// A card is a directory below its host, named `mmc0:aaaa`; so is a wireless chip.
fn without_card(host: &Node) -> Option<Idle> {
    let name = host.name();
    let is_taken = host.children().iter().any(|child| child.name().starts_with(&format!("{name}:")));
    let driver = host.below("device").and_then(|device| device.below("driver"));
    (!is_taken).then(|| Idle { product: driver.map(|driver| driver.name()), name, why: Idleness::NoCard })
}

/// Interfaces are listed among the devices, named `1-4:1.0`.
fn without_disk(interface: &Node) -> Option<Idle> {
    let is_storage = interface.hexadecimal("bInterfaceClass") == Some(MASS_STORAGE);
    let device = interface.below("..").filter(|_| is_storage)?;
    let why = match interface.below("driver") {
        None => Idleness::NoDriver,
        Some(_) if has_disk(interface) => return None,
        Some(_) => Idleness::NoDisk,
    };
    Some(Idle { name: device.name(), product: device.text("product"), why })
}

/// `host6/target6:0:0/6:0:0:0` below an interface is a disk, or an optical drive.
fn has_disk(interface: &Node) -> bool {
    let children = |nodes: Vec<Node>| nodes.iter().flat_map(Node::children).collect::<Vec<_>>();
    let units = children(children(children(vec![interface.clone()])));
    units.iter().any(|unit| unit.name().matches(':').count() == 3)
}
