//! The kind of a disk, combined from several attributes in sysfs.

use crate::disk::{Bus, Disk};
use crate::disk_kind::DiskKind;
use crate::reader_ids;
use crate::sysfs::Node;

/// SCSI's peripheral device type of an optical drive.
const OPTICAL: u32 = 5;

/// Parts of card readers' names, in lower case.
const READER_NAME_PARTS: [&str; 13] = [
    "reader",
    "card",
    "crw",
    "sd/",
    "/mmc",
    "sdhc",
    "sdxc",
    "microsd",
    "micro sd",
    "sddr",
    "compact flash",
    "massstorageclass",
    "-rdf",
];

/// What a reader calls a slot, as the first word of a logical unit's model: `SD  Transcend`, `SD/MMC`.
const SLOT_NAMES: [&str; 11] =
    ["sd", "mmc", "sdhc", "sdxc", "microsd", "tf", "cf", "cfast", "ms", "sm", "xd"];

/// The kind of `disk`, whose other properties are known; `device` is its device directory.
pub fn disk_kind(disk: &Disk, device: Option<&Node>) -> DiskKind {
    let is_optical = device.is_some_and(is_optical) || disk.name.starts_with("sr");
    match disk.bus {
        _ if is_optical => DiskKind::Optical,
        Bus::Usb if is_reader(disk, device) => DiskKind::Reader,
        Bus::Usb if disk.is_removable => DiskKind::Stick,
        Bus::Usb => DiskKind::UsbDisk,
        Bus::Mmc if ["boot", "rpmb", "gp"].iter().any(|part| disk.name.contains(part)) => {
            DiskKind::EmbeddedPart
        }
        Bus::Mmc if is_soldered(disk) => DiskKind::Embedded,
        Bus::Mmc => DiskKind::Card,
        Bus::Ata | Bus::Scsi if disk.is_removable => DiskKind::Reader,
        _ => DiskKind::Disk,
    }
}

fn is_optical(device: &Node) -> bool {
    device.number("type") == Some(OPTICAL)
}

/// Whether the flash is an eMMC chip. Removable MMC cards are no longer made.
fn is_soldered(disk: &Disk) -> bool {
    disk.card.as_ref().is_some_and(|card| card.kind.as_deref() == Some("MMC")) && !disk.is_removable
}

/// Whether it is a card reader: a removable medium, and a reader's name, a slot's name, a reader's USB ids,
/// several slots on one USB device, or no medium. A stick is never empty.
fn is_reader(disk: &Disk, device: Option<&Node>) -> bool {
    let scsi = disk.scsi.as_ref();
    let names = [disk.vendor.as_deref(), disk.model.as_deref(), scsi.and_then(|scsi| scsi.model.as_deref())];
    let has_reader_ids =
        || disk.usb.as_ref().is_some_and(|usb| reader_ids::is_of_a_reader(usb.vendor_id, usb.product_id));
    let is_slot = || scsi.and_then(|scsi| scsi.model.as_deref()).is_some_and(names_a_slot);
    let has_reader_name = |name: &str| {
        let name = name.to_lowercase();
        READER_NAME_PARTS.iter().any(|word| name.contains(word))
    };
    disk.is_removable
        && (disk.is_empty()
            || names.into_iter().flatten().any(has_reader_name)
            || is_slot()
            || has_reader_ids()
            || shares_scsi_target(device))
}

/// Whether the model of a logical unit begins with the name of a slot.
fn names_a_slot(model: &str) -> bool {
    let lower = model.to_lowercase();
    let first = lower.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    SLOT_NAMES.contains(&first)
}

/// Whether other disks share the SCSI target. The emulated optical drive of some sticks does not count.
fn shares_scsi_target(device: Option<&Node>) -> bool {
    let Some(target) = device.and_then(|device| device.ancestors().nth(1)) else { return false };
    let is_disk = |unit: &Node| unit.name().matches(':').count() == 3 && !is_optical(unit);
    target.children().iter().filter(|unit| is_disk(unit)).count() > 1
}
