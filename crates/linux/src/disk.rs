//! What a disk says of itself.

use std::path::PathBuf;

use flashscope_device::Bytes;

use crate::card::Card;
use crate::mounts::Mount;
use crate::queue::Queue;
use crate::sort::Sort;
use crate::usb::Usb;
use crate::volume::Filesystem;

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
    /// What sort of thing it is.
    pub sort: Sort,
    /// What SCSI says of it, if it speaks that; for a reader, this is the slot.
    pub scsi: Option<Scsi>,
    /// What USB says, if it hangs on that.
    pub usb: Option<Usb>,
    /// What its card registers say, if it is an SD or MMC card in a reader of its own.
    pub card: Option<Card>,
    /// How it takes requests.
    pub queue: Queue,
    /// Its partitions.
    pub partitions: Vec<Partition>,
    /// What is on it, if it has no partitions.
    pub filesystem: Option<Filesystem>,
    /// Where it and its partitions are mounted.
    pub mounts: Vec<Mount>,
}

impl Disk {
    /// True for a stick, a card or a reader, and anything else on USB: what flashscope is for.
    #[must_use]
    pub const fn is_stick_or_card(&self) -> bool {
        matches!(self.sort, Sort::Stick | Sort::Reader | Sort::UsbDisk | Sort::Card)
    }

    /// True if the running system lies on it.
    #[must_use]
    pub fn holds_the_system(&self) -> bool {
        self.mounts
            .iter()
            .any(|mount| ["/", "/usr", "/boot", "/boot/firmware"].contains(&mount.path.as_str()))
    }

    /// True for a reader without a card.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.capacity.is_zero()
    }
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
    /// What is on it.
    pub filesystem: Option<Filesystem>,
    /// Where it is mounted.
    pub mounts: Vec<Mount>,
}

/// What a disk answers to SCSI's inquiry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scsi {
    /// Who made it: for sticks often nobody, or `Generic`.
    pub vendor: Option<String>,
    /// What it is called.
    pub model: Option<String>,
    /// The firmware's revision.
    pub revision: Option<String>,
    /// Its number among those that share one USB device: the slot of a reader.
    pub unit: Option<u32>,
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
