//! What sort of thing a disk is: sysfs does not say it in one place.

use crate::disk::{Bus, Disk};
use crate::sysfs::Node;

/// What sort of thing a disk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sort {
    /// A USB stick.
    Stick,
    /// A slot of a USB card reader, with or without a card.
    Reader,
    /// A USB disk that says its medium cannot be taken out: an SSD or hard disk, and some sticks.
    UsbDisk,
    /// An SD or MMC card in a reader of its own.
    Card,
    /// A flash chip that is soldered to the board (eMMC).
    Embedded,
    /// A part of an eMMC chip that is no disk: for booting, or for keys.
    EmbeddedPart,
    /// An optical drive, or what a stick shows as one.
    Optical,
    /// Any other disk.
    Disk,
}

impl Sort {
    /// The sort in words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stick => "stick",
            Self::Reader => "card reader",
            Self::UsbDisk => "USB disk",
            Self::Card => "card",
            Self::Embedded => "eMMC chip",
            Self::EmbeddedPart => "part of an eMMC chip",
            Self::Optical => "optical drive",
            Self::Disk => "disk",
        }
    }
}

/// SCSI's peripheral device type of an optical drive.
const OPTICAL: u32 = 5;

/// What card readers are called, in small letters.
const WORDS_OF_READERS: [&str; 12] = [
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
];

/// Of the disk at `device`, whose other properties are known.
pub fn of(disk: &Disk, device: Option<&Node>) -> Sort {
    let is_optical = device.is_some_and(is_optical) || disk.name.starts_with("sr");
    match disk.bus {
        _ if is_optical => Sort::Optical,
        Bus::Usb if is_reader(disk, device) => Sort::Reader,
        Bus::Usb if disk.is_removable => Sort::Stick,
        Bus::Usb => Sort::UsbDisk,
        Bus::Mmc if ["boot", "rpmb", "gp"].iter().any(|part| disk.name.contains(part)) => Sort::EmbeddedPart,
        Bus::Mmc if is_soldered(disk) => Sort::Embedded,
        Bus::Mmc => Sort::Card,
        Bus::Ata | Bus::Scsi if disk.is_removable => Sort::Reader,
        _ => Sort::Disk,
    }
}

fn is_optical(device: &Node) -> bool {
    device.number("type") == Some(OPTICAL)
}

/// MMC cards are a thing of the past: what speaks MMC today is a chip.
fn is_soldered(disk: &Disk) -> bool {
    disk.card.as_ref().is_some_and(|card| card.kind.as_deref() == Some("MMC")) && !disk.is_removable
}

/// A reader says so in its name, shares its USB device among several slots, or is empty: a stick never is.
fn is_reader(disk: &Disk, device: Option<&Node>) -> bool {
    let scsi = disk.scsi.as_ref();
    let names = [disk.model.as_deref(), scsi.and_then(|scsi| scsi.model.as_deref())];
    let is_called_so = |name: &str| {
        let name = name.to_lowercase();
        WORDS_OF_READERS.iter().any(|word| name.contains(word))
    };
    disk.is_removable
        && (disk.is_empty() || names.into_iter().flatten().any(is_called_so) || shares_its_device(device))
}

/// Whether other disks, not counting the optical drive that some sticks show, hang on the same SCSI target.
fn shares_its_device(device: Option<&Node>) -> bool {
    let Some(target) = device.and_then(|device| device.ancestors().nth(1)) else { return false };
    let is_disk = |unit: &Node| unit.name().matches(':').count() == 3 && !is_optical(unit);
    target.children().iter().filter(|unit| is_disk(unit)).count() > 1
}
