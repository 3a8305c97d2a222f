//! Sentences about a disk.

use flashscope_linux::{
    Card, Disk, DiskKind, KernelEvents, MissingDisk, MissingDiskReason, Queue, Reserve, WriteCache,
};

use flashscope_report::counted;

use super::fact::Fact;
use super::{partitions, usb as usb_text};

/// `/dev/sdb  28.6 GiB  stick: SanDisk Ultra Fit (0781:5583)`
pub fn headline(disk: &Disk) -> String {
    let size = if disk.is_empty() { "no card".to_owned() } else { disk.capacity.to_string() };
    let ids = disk.usb.as_ref().map(|usb| format!(" ({:04x}:{:04x})", usb.vendor_id, usb.product_id));
    format!(
        "{} {size}, {}: {}{}",
        disk.path.display(),
        disk.kind.as_str(),
        name(disk),
        ids.unwrap_or_default()
    )
}

/// Vendor and model. The model often contains the vendor.
fn name(disk: &Disk) -> String {
    let model = disk.model.as_deref().unwrap_or_default();
    match disk.vendor.as_deref() {
        Some(vendor) if !model.to_lowercase().starts_with(&vendor.to_lowercase()) => {
            format!("{vendor} {model}").trim().to_owned()
        }
        _ if model.is_empty() => "no name".to_owned(),
        _ => model.to_owned(),
    }
}

/// All facts, the most useful first.
pub fn facts(disk: &Disk) -> Vec<Fact> {
    let usb = disk.usb.as_ref();
    let card = disk.card.as_ref();
    let mut facts = Vec::new();
    let mut add = |name: &str, text: Option<String>| facts.extend(text.map(|text| Fact::new(name, text)));
    add("link", usb.map(usb_text::link).or_else(|| card.map(bus_mode)));
    add("plugged in", usb.map(usb_text::path));
    add("driver", usb.map(usb_text::driver));
    add("kernel log", disk.kernel_events.and_then(|events| kernel_events(disk, events)));
    add("slot", slot(disk));
    add("card", card.map(registers));
    add("registers", registers_hidden(disk).filter(|_| !disk.is_empty()));
    add("speed class", card.and_then(speed_class));
    add("write cache", (!disk.is_empty()).then(|| write_cache(&disk.queue)));
    add("requests", requests(&disk.queue).filter(|_| !disk.is_empty()));
    add("serial", disk.serial.clone());
    facts.extend(partitions::facts(disk));
    facts.extend(remarks(disk).into_iter().map(|remark| Fact::new("note", remark)));
    facts
}

/// The slot of a card reader.
fn slot(disk: &Disk) -> Option<String> {
    let scsi = disk.scsi.as_ref().filter(|_| disk.kind == DiskKind::Reader)?;
    let names: Vec<&str> = [&scsi.vendor, &scsi.model].into_iter().flatten().map(String::as_str).collect();
    let number = scsi.unit.map_or_else(String::new, |unit| format!("number {unit}"));
    Some(
        [number.as_str(), &names.join(" ")]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(": "),
    )
}

/// Why the registers of a card cannot be read; `None` if they can.
pub fn registers_hidden(disk: &Disk) -> Option<String> {
    (disk.kind == DiskKind::Reader).then(|| {
        "not readable through this reader, which presents a card as a disk and hides its registers (maker, date, allocation unit, \
         classes); a reader that Linux drives as mmc_host shows them"
            .to_owned()
    })
}

fn bus_mode(card: &Card) -> String {
    match &card.bus_mode {
        Some(mode) => {
            format!("{}, {} MHz, {} lines", mode.name, (mode.clock_mhz * 10.0).round() / 10.0, mode.lines)
        }
        None => "unknown: only root may read it (debugfs)".to_owned(),
    }
}

fn registers(card: &Card) -> String {
    let maker = match (card.maker, card.manufacturer_id) {
        (Some(maker), Some(number)) => format!("by {maker} ({number:#04x})"),
        (None, Some(number)) => format!("by maker {number:#04x}"),
        _ => "maker unknown".to_owned(),
    };
    let kind = card.kind.as_deref().unwrap_or("card");
    let version = card.configuration.and_then(|scr| scr.version).map(|version| format!(" {version}"));
    let date = card.date.as_ref().map(|date| format!(", made {date}"));
    let life = card.life_used.map(|(one, two)| {
        format!(", life used up: {} of the cells of type A, {} of type B", life(one), life(two))
    });
    let parts = [version, date, life, card.reserve.map(reserve), card.has_command_queue.map(command_queue)];
    let [version, date, life, reserve, queue] = parts.map(Option::unwrap_or_default);
    format!("{kind}{version} {maker}{date}{life}{reserve}{queue}")
}

/// How many of the reserved blocks of an eMMC chip are used.
fn reserve(reserve: Reserve) -> String {
    match reserve {
        Reserve::Normal => ", reserved blocks: less than 80 % used",
        Reserve::Warning => ", reserved blocks: 80 % used; back up its data and plan to replace it",
        Reserve::Urgent => ", reserved blocks: 90 % used, it may soon refuse writes; back up its data now",
    }
    .to_owned()
}

fn command_queue(is_on: bool) -> String {
    let state = if is_on { "on" } else { "off" };
    format!(", command queue {state}")
}

/// Resets and checksum errors in the kernel's log; `None` without any.
fn kernel_events(disk: &Disk, events: KernelEvents) -> Option<String> {
    let of = |number: u32, what: &str| (number > 0).then(|| counted(u64::from(number), what));
    let seen: Vec<String> = [of(events.resets, "reset"), of(events.checksum_errors, "checksum error")]
        .into_iter()
        .flatten()
        .collect();
    let advice = if disk.usb.is_some() {
        "each costs seconds: try another cable, port or hub (see dmesg)"
    } else {
        "the contacts or the card may be failing: clean them, or try another slot (see dmesg)"
    };
    (!seen.is_empty()).then(|| format!("{} in the log since boot; {advice}", seen.join(", ")))
}

fn life(tenths: u8) -> String {
    if tenths > 10 {
        "more than 100 %".to_owned()
    } else {
        format!("{} to {} %", (tenths - 1) * 10, tenths * 10)
    }
}

/// The classes in the status register of an SD card.
fn speed_class(card: &Card) -> Option<String> {
    if card.kind.as_deref() != Some("SD") {
        return None;
    }
    let unit = card.allocation_unit().map(|unit| format!("allocation unit {unit}"));
    let Some(status) = &card.status else {
        let unit = unit.map_or_else(String::new, |unit| format!("{unit}; "));
        return Some(format!("{unit}classes unknown: the status register is not readable here"));
    };
    let parts: Vec<String> = unit.into_iter().chain(status.classes()).collect();
    Some(if parts.is_empty() { "none".to_owned() } else { parts.join(", ") })
}

fn write_cache(queue: &Queue) -> String {
    match queue.write_cache {
        Some(WriteCache::WriteBack) => {
            "write back: written data is durable only after a flush (sync, unmount)"
        }
        Some(WriteCache::WriteThrough) => "write through, as reported",
        None => "unknown: not in sysfs",
    }
    .to_owned()
}

fn requests(queue: &Queue) -> Option<String> {
    let most = queue.max_request?;
    let limit = queue.max_hardware_request.filter(|limit| *limit != most);
    let hardware = limit.map(|limit| format!(" (hardware limit {limit})"));
    let depth = queue.depth.map(|depth| format!(", queue depth {depth}"));
    let blocks = queue.logical_block.map(|logical| {
        match queue.physical_block.filter(|physical| *physical != logical) {
            Some(physical) => format!(", {logical} blocks ({physical} physical, as reported)"),
            None => format!(", {logical} blocks"),
        }
    });
    let parts = [hardware, depth, blocks].into_iter().flatten().collect::<String>();
    Some(format!("at most {most}{parts}"))
}

/// What to know about a disk.
pub fn remarks(disk: &Disk) -> Vec<String> {
    let optimal = disk.queue.optimal.and_then(|optimal| {
        let implausible = optimal.implausible?;
        Some(format!(
            "its reported optimal request size, {} bytes, is ignored: {implausible}",
            optimal.size.get()
        ))
    });
    let system = disk.holds_the_system().then(|| "the running system is on it".to_owned());
    let locked = disk
        .is_read_only
        .then(|| "read-only: a lock switch, or the kernel disabled writes after errors".to_owned());
    let size = disk
        .card
        .as_ref()
        .and_then(|card| card.specific_data?.capacity)
        .filter(|size| *size != disk.capacity);
    let size = size.map(|size| format!("its registers report {size}, the kernel {}", disk.capacity));
    let sync = disk.mounts.iter().find(|mount| mount.has("sync"));
    let sync =
        sync.map(|mount| format!("{} is mounted with sync: each write waits for the disk", mount.path));
    [system, locked, optimal, size, sync].into_iter().flatten().collect()
}

/// A slot or device without a disk.
pub fn idle(idle: &MissingDisk) -> String {
    let name = idle
        .product
        .as_ref()
        .map_or_else(|| idle.name.clone(), |product| format!("{} ({product})", idle.name));
    match idle.reason {
        MissingDiskReason::NoCard => format!("{name}: an SD card slot without a card"),
        MissingDiskReason::NoDriver => {
            format!("{name}: USB storage without a driver; try modprobe usb-storage")
        }
        MissingDiskReason::NoUasDriver => {
            format!(
                "{name}: USB storage that supports UAS, without a driver; try modprobe uas (usb-storage leaves such a device to uas)"
            )
        }
        MissingDiskReason::NoDisk => {
            format!("{name}: USB storage without a disk; it is starting or does not answer (see dmesg)")
        }
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;

    use super::*;

    #[test]
    fn missing_hardware_limit_is_left_out() {
        let of = |hardware| {
            let most = Some(Bytes::mib(4));
            requests(&Queue { max_request: most, max_hardware_request: hardware, ..Queue::default() })
        };
        assert_eq!(of(Some(Bytes::mib(32))).unwrap(), "at most 4 MiB (hardware limit 32 MiB)");
        assert_eq!(of(None).unwrap(), "at most 4 MiB");
    }

    #[test]
    fn life_used_up_is_a_range_of_ten_percent_until_all_is_used() {
        let shown = [1, 2, 10, 11].map(life);
        assert_eq!(shown, ["0 to 10 %", "10 to 20 %", "90 to 100 %", "more than 100 %"]);
    }
}
