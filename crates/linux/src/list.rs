//! Lists the disks of this machine from sysfs.

use std::path::PathBuf;

use crate::describe::describe;
use crate::disk::{Bus, Disk};
use crate::kernel_log::{self, KernelEvents};
use crate::missing_disk::{MissingDisk, missing_disks};
use crate::mounts;
use crate::roots::Roots;
use crate::sysfs::Sysfs;

/// The disks, and what has none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// The disks, sorted by name.
    pub disks: Vec<Disk>,
    /// Slots and devices that could provide a disk but do not.
    pub missing: Vec<MissingDisk>,
    /// The names of disks that vanished while they were read.
    pub vanished: Vec<String>,
}

/// The list of disks cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the list of disks from {}; is sysfs mounted?", path.display())]
pub struct ListError {
    path: PathBuf,
    source: std::io::Error,
}

/// The disks that the kernel knows, sorted by name. Empty loop, zram and other virtual disks are left out.
/// A card reader without a card is included, with a capacity of zero.
///
/// # Errors
/// [`ListError`] if there is no list of disks. Without a list of mounts, the disks have no mounts.
pub fn list(roots: &Roots) -> Result<Listing, ListError> {
    let sysfs = Sysfs::at(&roots.sysfs);
    let nodes = sysfs.disks().map_err(|source| ListError { path: roots.sysfs.join("block"), source })?;
    let mounts = mounts::read(&roots.mounts).unwrap_or_default();
    let mut listing = Listing { missing: missing_disks(&sysfs), ..Listing::default() };
    let messages = roots.kernel_log.as_deref().and_then(kernel_log::read);
    for node in nodes {
        let mut disk = describe(&node, &mounts, roots);
        let names = disk.log_names();
        disk.kernel_events = messages
            .as_ref()
            .filter(|_| !names.is_empty())
            .map(|messages| KernelEvents::of(messages, &names));
        // The entry of a disk that appears or vanishes has no size.
        if !node.is_there() || node.text("size").is_none() {
            listing.vanished.push(disk.name);
        } else if is_something(&disk) {
            listing.disks.push(disk);
        }
    }
    Ok(listing)
}

/// Another USB device with the vendor, model and serial number of this disk. udev gives both one persistent
/// name, which leads to either. `None` without one, and for the slots of one reader, which have names of
/// their own.
#[must_use]
pub fn twin(disk: &Disk, roots: &Roots) -> Option<PathBuf> {
    let identity = |disk: &Disk| (disk.vendor.clone(), disk.model.clone(), disk.serial.clone());
    let port = disk.usb.as_ref().map(|usb| &usb.path.name)?;
    let others = list(roots).ok()?.disks.into_iter().filter(|other| other.name != disk.name);
    let is_elsewhere = |other: &Disk| other.usb.as_ref().is_some_and(|usb| usb.path.name != *port);
    others.filter(is_elsewhere).find(|other| identity(other) == identity(disk)).map(|other| other.path)
}

fn is_something(disk: &Disk) -> bool {
    let is_virtual = matches!(disk.bus, Bus::Loop | Bus::Zram | Bus::Virtual);
    !disk.is_empty() || disk.is_removable && !is_virtual
}
