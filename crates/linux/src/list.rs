//! The disks of this machine, read from sysfs.

use std::path::PathBuf;

use crate::describe::describe;
use crate::disk::{Bus, Disk};
use crate::idle::{Idle, idle};
use crate::mounts;
use crate::roots::Roots;
use crate::sysfs::Sysfs;

/// What there is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// The disks, by name.
    pub disks: Vec<Disk>,
    /// What could hold a disk, or should be one, and is none.
    pub idle: Vec<Idle>,
    /// The names of disks that went away while they were read.
    pub vanished: Vec<String>,
}

/// Why there is no list.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the list of disks from {}; is sysfs mounted?", path.display())]
pub struct ListError {
    path: PathBuf,
    source: std::io::Error,
}

/// The disks the kernel knows, by name. Loop, zram and other virtual disks that hold nothing are left out; a card
/// reader without a card is in the list, with a capacity of zero.
///
/// # Errors
/// [`ListError`] if there is no list of disks. Without a list of mounts the disks have none.
pub fn list(roots: &Roots) -> Result<Listing, ListError> {
    let sysfs = Sysfs::at(&roots.sysfs);
    let nodes = sysfs.disks().map_err(|source| ListError { path: roots.sysfs.join("block"), source })?;
    let mounts = mounts::read(&roots.mounts).unwrap_or_default();
    let mut listing = Listing { idle: idle(&sysfs), ..Listing::default() };
    for node in nodes {
        let disk = describe(&node, &mounts, roots);
        // An entry without a size is half made, or half gone.
        if !node.is_there() || node.text("size").is_none() {
            listing.vanished.push(disk.name);
        } else if is_something(&disk) {
            listing.disks.push(disk);
        }
    }
    Ok(listing)
}

fn is_something(disk: &Disk) -> bool {
    let is_virtual = matches!(disk.bus, Bus::Loop | Bus::Zram | Bus::Virtual);
    !disk.is_empty() || disk.is_removable && !is_virtual
}
