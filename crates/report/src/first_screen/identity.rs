//! What the device is, in a few words each.

use flashscope_device::SECTOR;
use flashscope_record::attachment::{LinkKind, Volume};

use crate::words::diagnosis::link_name;
use crate::{Report, printable};

/// The name, the capacity, the link, and the first filesystem.
pub fn facts(report: &Report<'_>) -> Vec<String> {
    let run = report.run;
    let name = printable(&run.device_name);
    let target = printable(&run.target);
    let name = match (run.is_of_a_virtual_stick(), name.is_empty()) {
        (true, _) | (false, true) => target,
        (false, false) => format!("{name} ({target})"),
    };
    let announced = run.capacity.as_ref().map(|verdict| verdict.announced);
    let measured = run.observations.iter().find_map(|seen| seen.conditions.capacity);
    let capacity = announced.or(measured);
    let link = run.attachment.link.as_ref().map(|link| link_text(&link.kind));
    let volume = run.attachment.volumes.first().map(volume);
    let facts = [capacity.map(|capacity| capacity.to_string()), link, volume];
    std::iter::once(name).chain(facts.into_iter().flatten().map(|fact| printable(&fact))).collect()
}

/// `USB, 5 Gbit/s`.
fn link_text(kind: &LinkKind) -> String {
    match kind {
        LinkKind::Usb { mbit_per_s } if *mbit_per_s >= 1000.0 => {
            format!("USB, {} Gbit/s", mbit_per_s / 1000.0)
        }
        LinkKind::Usb { mbit_per_s } => format!("USB, {mbit_per_s} Mbit/s"),
        other => link_name(other),
    }
}

/// `exfat at sector 63`.
fn volume(volume: &Volume) -> String {
    let filesystem = volume.filesystem.as_deref().unwrap_or("partition");
    format!("{filesystem} at sector {}", volume.start / SECTOR)
}
