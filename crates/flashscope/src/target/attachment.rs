//! How a target is plugged in and what lies on it, as plain data for the diagnosis.

use flashscope_device::Bytes;
use flashscope_linux::{Card, Disk, Filesystem, Identity, Sort};
use flashscope_record::attachment::{Attachment, Driver, Link, Volume};
use flashscope_sim::profile::Link as SimLink;
use flashscope_sim::target::Target as SimTarget;

/// A virtual stick's: it could do what its profile's link does. Of USB no more is known than of real sticks. Nothing lies on it.
pub fn of_virtual(target: &SimTarget) -> Attachment {
    let (now, own) = (&target.profile.link, &target.own_link);
    let usb = now.bus.usb_mbit_per_s().and_then(|mbit| Link::usb(mbit, own.bus.usb_mbit_per_s()));
    let link = usb.unwrap_or_else(|| exact(now, own));
    let link = Link { is_readers: now.card.is_some(), ..link };
    let request_max = Some(target.profile.link.timing().max_command);
    // Where it is cut is the profile's, and no driver's to change.
    Attachment { link: Some(link), request_max, driver: None, volumes: Vec::new(), in_memory: false }
}

fn exact(now: &SimLink, own: &SimLink) -> Link {
    let carries =
        |link: &SimLink| (link.timing().ceiling_per_s().as_f64(), link.timing().ceiling_per_s().as_f64());
    let could = (carries(own) > carries(now)).then(|| (own.bus.to_string(), carries(own)));
    Link { name: now.bus.to_string(), carries: carries(now), could, brake: None, is_readers: false }
}

/// A disk's: its USB link, and its partitions. Of a partition nothing but the link: it was measured from its own beginning.
pub fn of_real(identity: &Identity) -> Attachment {
    let Some(disk) = &identity.disk else { return Attachment::default() };
    let volumes = if identity.partition.is_some() { Vec::new() } else { volumes(disk) };
    Attachment {
        link: link(disk),
        request_max: disk.queue.max_request,
        driver: driver(disk),
        volumes,
        in_memory: false,
    }
}

fn driver(disk: &Disk) -> Option<Driver> {
    let usb = disk.usb.as_ref()?;
    let name = usb.driver.clone()?;
    Some(Driver { leaves_uas: usb.offers_uas == Some(true) && name != "uas", name })
}

fn link(disk: &Disk) -> Option<Link> {
    let Some(usb) = &disk.usb else { return disk.card.as_ref().and_then(link_of_card) };
    let could = usb.ability.as_ref().map(|ability| ability.at_least_mbit_per_s());
    let now = usb.link_mbit_per_s?;
    let brake = usb.brake.as_ref().map(|brake| brake.in_words(now));
    Some(Link { brake, is_readers: disk.sort == Sort::Reader, ..Link::usb(now, could)? })
}

/// The bus between a reader of its own and its card: four lines at the clock carry half of it in bytes, at both edges of it all;
/// checksums and commands leave 85 to 98 %. A card with a UHS grade could do UHS-I, 25 to 104 MB/s (SD Physical Layer, chapter
/// 4.2.2.2).
fn link_of_card(card: &Card) -> Option<Link> {
    let mode = card.bus_mode.as_ref()?;
    let edges = if mode.name.to_ascii_lowercase().contains("ddr") { 2.0 } else { 1.0 };
    let bytes_per_s = mode.clock_mhz * 1e6 * f64::from(mode.lines) / 8.0 * edges;
    let is_uhs = mode.name.contains("uhs");
    let could_uhs = !is_uhs && card.status.as_ref().is_some_and(|status| status.uhs_grade > 0);
    let could = could_uhs.then(|| ("UHS-I".to_owned(), (25e6, 96e6)));
    let name = format!("the card's bus ({})", mode.name);
    let carries = (bytes_per_s * 0.85, bytes_per_s * 0.98);
    Some(Link { name, carries, is_readers: could.is_some(), could, brake: None })
}

fn volumes(disk: &Disk) -> Vec<Volume> {
    let volume = |name: &str, start: Bytes, filesystem: Option<&Filesystem>| Volume {
        name: name.to_owned(),
        start,
        data_start: filesystem.and_then(|filesystem| filesystem.data_start),
    };
    let of_parts = disk
        .partitions
        .iter()
        .map(|partition| volume(&partition.name, partition.start, partition.filesystem.as_ref()));
    let of_whole =
        disk.filesystem.as_ref().map(|filesystem| volume(&disk.name, Bytes::ZERO, Some(filesystem)));
    of_parts.chain(of_whole).collect()
}
