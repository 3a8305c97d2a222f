//! A disk. What is unknown is null.

use flashscope_device::Bytes;
use flashscope_linux::{Disk, Filesystem, Mount, OptimalSize, Partition, Queue, Scsi, alignment};
use schemars::JsonSchema;
use serde::Serialize;

use super::card::CardDocument;
use super::usb::UsbDocument;
use crate::text::disk as text;

/// A disk of this machine. What is unknown is null.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DiskDocument {
    /// Its device file.
    pub path: String,
    /// What it is, for example `stick`, `card` or `reader`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Its capacity; 0 for a reader without a card.
    pub capacity_bytes: u64,
    /// The vendor it reports.
    pub vendor: Option<String>,
    /// The model it reports.
    pub model: Option<String>,
    /// Its serial number.
    pub serial: Option<String>,
    /// Whether its medium can be removed.
    pub removable: bool,
    /// Whether the kernel refuses writes to it.
    pub read_only: bool,
    /// Whether the running system is on it.
    pub holds_the_system: bool,
    /// The bus it is on, for example `usb` or `mmc`.
    pub bus: &'static str,
    /// What it answers to a SCSI inquiry.
    pub scsi: Option<ScsiDocument>,
    /// What USB reports about it.
    pub usb: Option<UsbDocument>,
    /// What its card registers say.
    pub card: Option<CardDocument>,
    /// Why its card registers cannot be read; null if they can, or if it is not a card.
    pub card_unreadable: Option<String>,
    /// The limits of its request queue.
    pub requests: QueueDocument,
    /// Its write cache: `write back` or `write through`.
    pub write_cache: Option<&'static str>,
    /// Its partitions.
    pub partitions: Vec<PartitionDocument>,
    /// Its filesystem, if it has no partitions.
    pub filesystem: Option<FilesystemDocument>,
    /// Where it and its partitions are mounted.
    pub mounts: Vec<String>,
    /// The same, with filesystem and options.
    pub mounted: Vec<MountDocument>,
    /// What the kernel's log says of it since boot; null if the log cannot be read (it needs root).
    pub kernel_events: Option<KernelEventsDocument>,
    /// What to know about it.
    pub remarks: Vec<String>,
}

/// What the kernel's log says of a disk.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct KernelEventsDocument {
    /// Resets of the device.
    pub resets: u32,
    /// Transfers that arrived damaged.
    pub checksum_errors: u32,
}

/// What a disk answers to a SCSI inquiry.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ScsiDocument {
    /// The vendor.
    pub vendor: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The firmware revision.
    pub revision: Option<String>,
    /// The logical unit number: the slot of a card reader.
    pub unit: Option<u32>,
}

/// The limits of a request queue.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct QueueDocument {
    /// The logical block size.
    pub logical_block_bytes: Option<u64>,
    /// The physical block size that the disk reports.
    pub physical_block_bytes: Option<u64>,
    /// The largest request that the kernel sends.
    pub max_bytes: Option<u64>,
    /// The largest request that the hardware takes.
    pub max_hardware_bytes: Option<u64>,
    /// The most memory segments of one request.
    pub max_segments: Option<u32>,
    /// The queue depth.
    pub depth: Option<u32>,
    /// The largest discard.
    pub max_discard_bytes: Option<u64>,
    /// The read-ahead.
    pub read_ahead_bytes: Option<u64>,
    /// The optimal request size that the disk reports.
    pub optimal_bytes: Option<u64>,
    /// An optimal request size that flashscope ignores.
    pub optimal_ignored: Option<IgnoredSizeDocument>,
}

/// A reported size that flashscope ignores.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IgnoredSizeDocument {
    /// The size.
    pub bytes: u64,
    /// Why it is ignored.
    pub reason: Option<String>,
}

/// A partition.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PartitionDocument {
    /// Its kernel name, for example `sdb1`.
    pub name: String,
    /// Its offset on the disk.
    pub start_bytes: u64,
    /// Its length.
    pub length_bytes: u64,
    /// The largest power of two that divides its offset.
    pub aligned_to_bytes: u64,
    /// Its filesystem.
    pub filesystem: Option<FilesystemDocument>,
    /// Where it is mounted.
    pub mounted: Vec<MountDocument>,
}

/// A filesystem.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FilesystemDocument {
    /// Its kind, for example `vfat`.
    pub kind: String,
    /// Its label.
    pub label: Option<String>,
    /// Its cluster or block size.
    pub cluster_bytes: Option<u64>,
    /// The offset of its first cluster in the partition.
    pub data_start_bytes: Option<u64>,
    /// The largest power of two that divides the offset of its first cluster on the disk.
    pub data_aligned_to_bytes: Option<u64>,
}

/// A mount.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MountDocument {
    /// The device, as it was mounted.
    pub source: String,
    /// The directory.
    pub path: String,
    /// The filesystem.
    pub filesystem: String,
    /// The options.
    pub options: String,
}

impl From<&Disk> for DiskDocument {
    fn from(disk: &Disk) -> Self {
        Self {
            path: disk.path.display().to_string(),
            kind: disk.kind.as_str(),
            capacity_bytes: disk.capacity.get(),
            vendor: disk.vendor.clone(),
            model: disk.model.clone(),
            serial: disk.serial.clone(),
            removable: disk.is_removable,
            read_only: disk.is_read_only,
            holds_the_system: disk.holds_the_system(),
            bus: disk.bus.as_str(),
            scsi: disk.scsi.as_ref().map(ScsiDocument::from),
            usb: disk.usb.as_ref().map(UsbDocument::from),
            card: disk.card.as_ref().map(CardDocument::from),
            card_unreadable: text::registers_hidden(disk),
            kernel_events: disk.kernel_events.map(|events| KernelEventsDocument {
                resets: events.resets,
                checksum_errors: events.checksum_errors,
            }),
            requests: QueueDocument::from(&disk.queue),
            write_cache: disk.queue.write_cache.map(|cache| cache.as_str()),
            partitions: disk.partitions.iter().map(PartitionDocument::from).collect(),
            filesystem: disk.filesystem.as_ref().map(|found| FilesystemDocument::at(found, Bytes::ZERO)),
            mounts: disk.mounts.iter().map(|mount| mount.path.clone()).collect(),
            mounted: disk.mounts.iter().map(MountDocument::from).collect(),
            remarks: text::remarks(disk),
        }
    }
}

impl From<&Scsi> for ScsiDocument {
    fn from(scsi: &Scsi) -> Self {
        Self {
            vendor: scsi.vendor.clone(),
            model: scsi.model.clone(),
            revision: scsi.revision.clone(),
            unit: scsi.unit,
        }
    }
}

impl From<&Queue> for QueueDocument {
    fn from(queue: &Queue) -> Self {
        let (used, ignored) = match queue.optimal {
            Some(OptimalSize { size, implausible: None }) => (Some(size.get()), None),
            Some(OptimalSize { size, implausible: Some(implausible) }) => {
                (None, Some(IgnoredSizeDocument { bytes: size.get(), reason: Some(implausible.to_string()) }))
            }
            None => (None, None),
        };
        Self {
            logical_block_bytes: queue.logical_block.map(Bytes::get),
            physical_block_bytes: queue.physical_block.map(Bytes::get),
            max_bytes: queue.max_request.map(Bytes::get),
            max_hardware_bytes: queue.max_hardware_request.map(Bytes::get),
            max_segments: queue.max_segments,
            depth: queue.depth,
            max_discard_bytes: queue.max_discard.map(Bytes::get),
            read_ahead_bytes: queue.read_ahead.map(Bytes::get),
            optimal_bytes: used,
            optimal_ignored: ignored,
        }
    }
}

impl From<&Partition> for PartitionDocument {
    fn from(partition: &Partition) -> Self {
        let start = partition.start;
        Self {
            name: partition.name.clone(),
            start_bytes: start.get(),
            length_bytes: partition.length.get(),
            aligned_to_bytes: alignment(start).get(),
            filesystem: partition.filesystem.as_ref().map(|found| FilesystemDocument::at(found, start)),
            mounted: partition.mounts.iter().map(MountDocument::from).collect(),
        }
    }
}

impl FilesystemDocument {
    /// A filesystem in a partition that starts at `start` on the disk.
    fn at(found: &Filesystem, start: Bytes) -> Self {
        Self {
            kind: found.kind.clone(),
            label: found.label.clone(),
            cluster_bytes: found.cluster.map(Bytes::get),
            data_start_bytes: found.data_start.map(Bytes::get),
            data_aligned_to_bytes: found.data_alignment(start).map(Bytes::get),
        }
    }
}

impl From<&Mount> for MountDocument {
    fn from(mount: &Mount) -> Self {
        Self {
            source: mount.source.clone(),
            path: mount.path.clone(),
            filesystem: mount.filesystem.clone(),
            options: mount.options.clone(),
        }
    }
}
