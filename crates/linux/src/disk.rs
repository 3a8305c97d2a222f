//! What a disk reports about itself.

use std::path::PathBuf;

use flashscope_device::Bytes;

use crate::card::Card;
use crate::disk_kind::DiskKind;
use crate::kernel_log::KernelEvents;
use crate::mounts::Mount;
use crate::queue::Queue;
use crate::usb::Usb;
use crate::volume::Filesystem;

/// Where a running system is mounted: the Filesystem Hierarchy Standard's directories that a running program
/// needs, and the places of firmware (`/boot/firmware` on a Raspberry Pi, `/efi` with systemd-boot).
const SYSTEM_MOUNTS: [&str; 9] =
    ["/", "/usr", "/var", "/home", "/nix", "/boot", "/boot/efi", "/boot/firmware", "/efi"];

/// A disk, as the kernel lists it. All texts are printable.
#[derive(Debug, Clone, PartialEq)]
pub struct Disk {
    /// The kernel's name, e.g. `sdb`.
    pub name: String,
    /// The device file, e.g. `/dev/sdb`.
    pub path: PathBuf,
    /// The reported capacity; zero for a reader without a card.
    pub capacity: Bytes,
    /// The vendor, if the disk reports one.
    pub vendor: Option<String>,
    /// The model name.
    pub model: Option<String>,
    /// The serial number.
    pub serial: Option<String>,
    /// Whether its medium can be removed.
    pub is_removable: bool,
    /// Whether the kernel refuses writes to it (a card's lock switch).
    pub is_read_only: bool,
    /// The bus it is attached to.
    pub bus: Bus,
    /// The kind of disk.
    pub kind: DiskKind,
    /// The SCSI identity, if it speaks SCSI; for a reader, this names the slot.
    pub scsi: Option<Scsi>,
    /// The USB properties, if it is attached by USB.
    pub usb: Option<Usb>,
    /// The card registers, for an SD or MMC card in a native card reader (`mmc_host`).
    pub card: Option<Card>,
    /// The request queue's limits.
    pub queue: Queue,
    /// The partitions.
    pub partitions: Vec<Partition>,
    /// The filesystem, if it has no partitions.
    pub filesystem: Option<Filesystem>,
    /// Where it and its partitions are mounted.
    pub mounts: Vec<Mount>,
    /// What the kernel's log says of it; `None` if the log may not be read (it needs root on most systems).
    pub kernel_events: Option<KernelEvents>,
}

impl Disk {
    /// Whether flashscope is meant for it: a stick, a card, a reader, or any other USB disk.
    #[must_use]
    pub const fn is_stick_or_card(&self) -> bool {
        matches!(self.kind, DiskKind::Stick | DiskKind::Reader | DiskKind::UsbDisk | DiskKind::Card)
    }

    /// How the kernel's log names it: `usb 2-1`, or `mmc0` and `mmcblk0`.
    pub(crate) fn log_names(&self) -> Vec<String> {
        match (&self.usb, self.bus) {
            (Some(usb), _) => vec![format!("usb {}", usb.path.name)],
            (None, Bus::Mmc) => {
                vec![self.name.clone(), self.name.replacen("mmcblk", "mmc", 1)]
            }
            _ => Vec::new(),
        }
    }

    /// Whether the running system is on it.
    #[must_use]
    pub fn holds_the_system(&self) -> bool {
        self.mounts.iter().any(|mount| SYSTEM_MOUNTS.contains(&mount.path.as_str()))
    }

    /// Whether it is a reader without a card.
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
    /// Its offset on the disk.
    pub start: Bytes,
    /// Its length.
    pub length: Bytes,
    /// The filesystem on it.
    pub filesystem: Option<Filesystem>,
    /// Where it is mounted.
    pub mounts: Vec<Mount>,
}

/// A disk's answer to SCSI's INQUIRY command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scsi {
    /// The vendor; many sticks report none, or `Generic`.
    pub vendor: Option<String>,
    /// The model name.
    pub model: Option<String>,
    /// The firmware revision.
    pub revision: Option<String>,
    /// The logical unit number among those that share one USB device: the slot of a reader.
    pub unit: Option<u32>,
}

/// The bus a disk is attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bus {
    /// USB: a stick, or a card in a USB reader.
    Usb,
    /// A native reader for SD and MMC cards, or an eMMC chip.
    Mmc,
    /// `NVMe`.
    Nvme,
    /// SATA or PATA.
    Ata,
    /// Another SCSI bus.
    Scsi,
    /// A virtual machine's disk.
    Virtio,
    /// A file attached as a disk.
    Loop,
    /// Compressed memory.
    Zram,
    /// Another virtual disk: device mapper, RAID, network.
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
