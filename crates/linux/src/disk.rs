//! What a disk says of itself.

use std::path::PathBuf;

use flashscope_device::Bytes;

use crate::mounts::Mount;

/// A disk, as the kernel lists it. All texts are printable.
#[derive(Debug, Clone, PartialEq)]
pub struct Disk {
    /// The kernel's name, e.g. `sdb`.
    pub name: String,
    /// Its device file, e.g. `/dev/sdb`.
    pub path: PathBuf,
    /// How much it claims to hold; zero for a reader without a card.
    pub capacity: Bytes,
    /// Who made it, as far as it says.
    pub vendor: Option<String>,
    /// What it is called.
    pub model: Option<String>,
    /// Its serial number.
    pub serial: Option<String>,
    /// True if its medium can be taken out.
    pub is_removable: bool,
    /// True if the kernel takes no writes for it (a card's lock switch).
    pub is_read_only: bool,
    /// What it hangs on.
    pub bus: Bus,
    /// What USB says, if it hangs on that.
    pub usb: Option<Usb>,
    /// What its card registers say, if it is an SD or MMC card in a reader of its own.
    pub card: Option<Card>,
    /// Its partitions.
    pub partitions: Vec<Partition>,
    /// Where it and its partitions are mounted.
    pub mounts: Vec<Mount>,
}

/// A partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// The kernel's name, e.g. `sdb1`.
    pub name: String,
    /// Where on the disk it starts.
    pub start: Bytes,
    /// How long it is.
    pub length: Bytes,
}

/// What a disk hangs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bus {
    /// USB: a stick, or a card in a USB reader.
    Usb,
    /// A reader for SD and MMC cards, or an eMMC chip.
    Mmc,
    /// `NVMe`.
    Nvme,
    /// SATA or PATA.
    Ata,
    /// Another SCSI bus.
    Scsi,
    /// A virtual machine's disk.
    Virtio,
    /// A file, taken as a disk.
    Loop,
    /// Compressed memory.
    Zram,
    /// Something else the kernel makes up: device mapper, RAID, network.
    Virtual,
    /// None of these.
    Other,
}

impl Bus {
    /// The bus as a word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Usb => "usb",
            Self::Mmc => "mmc",
            Self::Nvme => "nvme",
            Self::Ata => "ata",
            Self::Scsi => "scsi",
            Self::Virtio => "virtio",
            Self::Loop => "loop",
            Self::Zram => "zram",
            Self::Virtual => "virtual",
            Self::Other => "other",
        }
    }
}

/// What USB says of a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Usb {
    /// The maker's number.
    pub vendor_id: u32,
    /// The maker's number for the product.
    pub product_id: u32,
    /// The speed of the link as it is now, Mbit/s: 1.5, 12, 480, 5000, 10000, 20000.
    pub link_mbit_per_s: Option<f64>,
    /// The USB version the device speaks on this link, e.g. `2.10`.
    pub version: Option<String>,
    /// The driver: `usb-storage` takes one command at a time, `uas` several.
    pub driver: Option<String>,
}

/// What the registers of an SD or MMC card say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// `SD` or `MMC`.
    pub kind: Option<String>,
    /// The maker's number.
    pub manufacturer_id: Option<u32>,
    /// When it was made, as `month/year`.
    pub date: Option<String>,
    /// The unit it asks to be erased in: for an SD card its allocation unit, as it claims.
    pub preferred_erase: Option<Bytes>,
}
