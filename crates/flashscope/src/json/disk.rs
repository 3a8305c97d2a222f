//! A disk as JSON, for `list` and for the identity of a check. What is unknown is null.

use flashscope_device::Bytes;
use flashscope_linux::{
    Capability, Card, Disk, Filesystem, MissingDisk, MissingDiskReason, Mount, OptimalSize, Partition, Queue,
    Scsi, SdStatus, Usb, alignment,
};
use serde_json::{Value, json};

use crate::command::list::words;

/// A disk of this machine.
pub fn disk(disk: &Disk) -> Value {
    json!({
        "path": disk.path,
        "type": disk.kind.as_str(),
        "capacity_bytes": disk.capacity,
        "vendor": disk.vendor,
        "model": disk.model,
        "serial": disk.serial,
        "removable": disk.is_removable,
        "read_only": disk.is_read_only,
        "holds_the_system": disk.holds_the_system(),
        "bus": disk.bus.as_str(),
        "scsi": disk.scsi.as_ref().map(scsi),
        "usb": disk.usb.as_ref().map(usb),
        "card": disk.card.as_ref().map(card),
        "card_unreadable": words::registers_hidden(disk),
        "requests": requests(&disk.queue),
        "write_cache": disk.queue.write_cache.map(|cache| cache.as_str()),
        "partitions": disk.partitions.iter().map(partition).collect::<Vec<_>>(),
        "filesystem": disk.filesystem.as_ref().map(|found| filesystem(found, Bytes::ZERO)),
        "mounts": disk.mounts.iter().map(|mount| &mount.path).collect::<Vec<_>>(),
        "mounted": disk.mounts.iter().map(mount).collect::<Vec<_>>(),
        "remarks": words::remarks(disk),
    })
}

fn scsi(scsi: &Scsi) -> Value {
    json!({ "vendor": scsi.vendor, "model": scsi.model, "revision": scsi.revision, "unit": scsi.unit })
}

fn usb(usb: &Usb) -> Value {
    let (status, could) = match usb.capability {
        Some(Capability::Exact { mbit_per_s }) => ("known", Some(mbit_per_s)),
        Some(Capability::AtLeast { mbit_per_s, .. }) => ("at least", Some(mbit_per_s)),
        None => ("unknown", None),
    };
    let hubs = usb.path.hubs.iter().map(
        |hub| json!({ "name": hub.name, "product": hub.product, "link_mbit_per_s": hub.link_mbit_per_s }),
    );
    json!({
        "vendor_id": format!("{:04x}", usb.vendor_id),
        "product_id": format!("{:04x}", usb.product_id),
        "version": usb.version,
        "link_mbit_per_s": usb.link_mbit_per_s,
        "could_mbit_per_s": could,
        "could_status": status,
        "held_back": usb.is_held_back(),
        "link": words::link(usb),
        "driver": usb.driver,
        "offers_uas": usb.offers_uas,
        "path": usb.path.name,
        "bus_number": usb.path.bus,
        "ports": usb.path.ports,
        "hubs": hubs.collect::<Vec<_>>(),
    })
}

fn card(card: &Card) -> Value {
    json!({
        "kind": card.kind,
        "manufacturer_id": card.manufacturer_id,
        "maker": card.maker,
        "name": card.identification.as_ref().map(|cid| &cid.product),
        "oem": card.identification.as_ref().map(|cid| &cid.oem),
        "revision": card.identification.as_ref().map(|cid| &cid.revision),
        "date": card.date,
        "preferred_erase_bytes": card.preferred_erase,
        "allocation_unit_bytes": card.allocation_unit(),
        "capacity_bytes": card.specific_data.and_then(|csd| csd.capacity),
        "write_protected": card.specific_data.map(|csd| csd.write_protected),
        "specification": card.configuration.and_then(|scr| scr.version),
        "status": card.status.as_ref().map(status),
        "bus_mode": card.bus_mode.as_ref().map(|mode| {
            json!({ "name": mode.name, "clock_mhz": mode.clock_mhz, "lines": mode.lines })
        }),
        "life_used_tenths": card.life_used.map(|(single, multiple)| [single, multiple]),
    })
}

fn status(status: &SdStatus) -> Value {
    json!({
        "allocation_unit_bytes": status.allocation_unit,
        "uhs_allocation_unit_bytes": status.uhs_allocation_unit,
        "video_allocation_unit_bytes": status.video_allocation_unit,
        "speed_class": status.speed_class,
        "uhs_grade": status.uhs_grade,
        "video_class": status.video_class,
        "application_class": status.application_class,
        "discards": status.discards,
    })
}

fn requests(queue: &Queue) -> Value {
    let optimal = |is_bogus: bool| queue.optimal.filter(|optimal| optimal.implausible.is_some() == is_bogus);
    json!({
        "logical_block_bytes": queue.logical_block,
        "physical_block_bytes": queue.physical_block,
        "max_bytes": queue.max_request,
        "max_hardware_bytes": queue.max_hardware_request,
        "max_segments": queue.max_segments,
        "depth": queue.depth,
        "max_discard_bytes": queue.max_discard,
        "read_ahead_bytes": queue.read_ahead,
        "optimal_bytes": optimal(false).map(|optimal| optimal.size),
        "optimal_ignored": optimal(true).map(ignored),
    })
}

fn ignored(optimal: OptimalSize) -> Value {
    json!({ "bytes": optimal.size, "reason": optimal.implausible.map(|implausible| implausible.to_string()) })
}

fn partition(partition: &Partition) -> Value {
    json!({
        "name": partition.name,
        "start_bytes": partition.start,
        "length_bytes": partition.length,
        "aligned_to_bytes": alignment(partition.start),
        "filesystem": partition.filesystem.as_ref().map(|found| filesystem(found, partition.start)),
        "mounted": partition.mounts.iter().map(mount).collect::<Vec<_>>(),
    })
}

/// `start`: where its partition begins on the disk.
fn filesystem(found: &Filesystem, start: Bytes) -> Value {
    json!({
        "kind": found.kind,
        "label": found.label,
        "cluster_bytes": found.cluster,
        "data_start_bytes": found.data_start,
        "data_aligned_to_bytes": found.data_alignment(start),
    })
}

fn mount(mount: &Mount) -> Value {
    json!({
        "source": mount.source,
        "path": mount.path,
        "filesystem": mount.filesystem,
        "options": mount.options,
    })
}

/// A place without a disk.
pub fn idle(idle: &MissingDisk) -> Value {
    let why = match idle.reason {
        MissingDiskReason::NoCard => "no card",
        MissingDiskReason::NoDriver => "no driver",
        MissingDiskReason::NoDisk => "no disk",
    };
    json!({ "name": idle.name, "product": idle.product, "why": why })
}
