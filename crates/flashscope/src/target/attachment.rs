//! How a target is attached and its volumes, as data for the diagnosis.

use flashscope_linux::{Card, Disk, DiskKind, Identity, LinkLimit, SdStatus};
use flashscope_record::attachment::{Attachment, Driver, Link, LinkKind, LinkRange, SlowLinkCause};
use flashscope_record::claims::{Claims, SpeedMark};
use flashscope_sim::target::Target as SimTarget;
use flashscope_twin::link_of;

use super::volumes;

/// A virtual stick is capable of its profile's link. For USB, as little is known as for a real stick. It
/// has no volumes.
pub fn of_virtual(target: &SimTarget) -> Attachment {
    let link = link_of(&target.profile.link, &target.own_link);
    let request_max = Some(target.profile.link.timing().max_command);
    // The profile sets the request size, not a driver.
    Attachment { link: Some(link), request_max, ..Attachment::default() }
}

/// A disk has a link and volumes. A partition has only the link: it was measured from its own start.
pub fn of_real(identity: &Identity) -> Attachment {
    let Some(disk) = &identity.disk else { return Attachment::default() };
    let volumes = if identity.partition.is_some() { Vec::new() } else { volumes::of_disk(disk) };
    Attachment {
        link: link(disk),
        request_max: disk.queue.max_request,
        driver: driver(disk),
        volumes,
        in_memory: false,
        host_disk: disk.is_of_host().then(|| disk.name.clone()),
        claims: claims(disk),
    }
}

/// The classes in the registers of a card. A USB reader hides them; a stick has none.
fn claims(disk: &Disk) -> Claims {
    let card = disk.card.as_ref();
    let status = card.and_then(|card| card.status.as_ref());
    Claims {
        marks: status.map(marks).unwrap_or_default(),
        allocation_unit: card.and_then(Card::allocation_unit),
        registers_hidden: disk.kind == DiskKind::Reader,
        has_command_queue: card.and_then(|card| card.has_command_queue).unwrap_or_default(),
    }
}

/// The classes of a status register that the standard knows.
fn marks(status: &SdStatus) -> Vec<SpeedMark> {
    let all = [
        SpeedMark::SpeedClass(status.speed_class.unwrap_or(0)),
        SpeedMark::UhsGrade(status.uhs_grade),
        SpeedMark::VideoClass(status.video_class),
        SpeedMark::ApplicationClass(status.application_class),
    ];
    let known = SpeedMark::all();
    all.into_iter().filter(|mark| known.contains(mark)).collect()
}

fn driver(disk: &Disk) -> Option<Driver> {
    let usb = disk.usb.as_ref()?;
    let name = usb.driver.clone()?;
    Some(Driver { is_uas_unused: usb.offers_uas == Some(true) && name != "uas", name })
}

fn link(disk: &Disk) -> Option<Link> {
    let Some(usb) = &disk.usb else { return disk.card.as_ref().and_then(link_of_card) };
    let supported = usb.capability.as_ref().map(|capability| capability.at_least_mbit_per_s());
    let now = usb.link_mbit_per_s.filter(|_| usb.path.virtual_bus.is_none())?;
    let slow_cause = usb.link_limit.as_ref().map(slow_cause);
    Some(Link { slow_cause, is_card_reader: disk.kind == DiskKind::Reader, ..Link::usb(now, supported)? })
}

/// Why the link is slower than the device, as plain data.
pub fn slow_cause(limit: &LinkLimit) -> SlowLinkCause {
    match limit {
        LinkLimit::Hub(hub) => SlowLinkCause::Hub { name: hub.name.clone(), product: hub.product.clone() },
        LinkLimit::Port => SlowLinkCause::Port,
        LinkLimit::Contact => SlowLinkCause::Contact,
        LinkLimit::PortOrHub => SlowLinkCause::PortOrHub,
    }
}

/// The bus between an mmc reader and its card: 4 lines transfer half a byte a clock, a whole byte at double
/// data rate. Checksums and commands leave 85 to 98 %. A card with a UHS grade is capable of UHS-I, 25 to
/// 104 MB/s (SD Physical Layer, chapter 4.2.2.2).
fn link_of_card(card: &Card) -> Option<Link> {
    let mode = card.bus_mode.as_ref()?;
    let edges = if mode.name.to_ascii_lowercase().contains("ddr") { 2.0 } else { 1.0 };
    let bytes_per_s = mode.clock_mhz * 1e6 * f64::from(mode.lines) / 8.0 * edges;
    let is_uhs = mode.name.contains("uhs");
    let supports_uhs = !is_uhs && card.status.as_ref().is_some_and(|status| status.uhs_grade > 0);
    let uhs = || LinkRange { kind: LinkKind::Named("UHS-I".to_owned()), bytes_per_s: (25e6, 96e6) };
    Some(Link {
        kind: LinkKind::CardBus { mode: mode.name.clone() },
        bytes_per_s: (bytes_per_s * 0.85, bytes_per_s * 0.98),
        device_fastest: supports_uhs.then(uhs),
        slow_cause: None,
        is_card_reader: supports_uhs,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use flashscope_linux::{BusMode, Roots, list};

    use super::*;

    /// The driver of a disk of the desktop, if the disk said this of UAS and the kernel had chosen `name`.
    fn driver_of(name: &str, offers_uas: Option<bool>) -> Driver {
        let copy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sysfs/desktop");
        let mut disks = list(&Roots::copy(&copy)).unwrap().disks;
        let disk = disks.iter_mut().find(|disk| disk.name == "sdc").unwrap();
        let usb = disk.usb.as_mut().unwrap();
        (usb.driver, usb.offers_uas) = (Some(name.to_owned()), offers_uas);
        driver(disk).unwrap()
    }

    #[test]
    fn uas_is_unused_only_where_the_device_offers_it_and_another_driver_is_chosen() {
        for (name, offers_uas, is_uas_unused) in [
            ("usb-storage", Some(true), true),
            ("usb-storage", Some(false), false),
            ("usb-storage", None, false),
            ("uas", Some(true), false),
            ("uas", None, false),
        ] {
            let expected = Driver { name: name.to_owned(), is_uas_unused };
            assert_eq!(driver_of(name, offers_uas), expected, "{offers_uas:?}");
        }
    }

    /// The link of a card with a UHS grade, if its bus were in this mode.
    fn link_in_mode(name: &str, clock_mhz: f64, lines: u32) -> Link {
        let copy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sysfs/raspberry-pi");
        let mut disks = list(&Roots::copy(&copy)).unwrap().disks;
        let disk = disks.iter_mut().find(|disk| disk.card.is_some()).unwrap();
        disk.card.as_mut().unwrap().bus_mode = Some(BusMode { name: name.to_owned(), clock_mhz, lines });
        link(disk).unwrap()
    }

    #[test]
    fn bus_of_a_card_carries_half_a_byte_an_edge_of_its_clock_on_four_lines() {
        for (name, clock_mhz, lines, bytes_per_s, could_be_faster) in [
            ("sd legacy", 25.0, 1, 3.125e6, true),
            ("sd high-speed", 50.0, 4, 25e6, true),
            ("sd uhs SDR104", 200.0, 4, 100e6, false),
            ("sd uhs DDR50", 50.0, 4, 50e6, false),
        ] {
            let link = link_in_mode(name, clock_mhz, lines);
            assert_eq!(link.bytes_per_s, (bytes_per_s * 0.85, bytes_per_s * 0.98), "{name}");
            assert_eq!(link.device_fastest.is_some(), could_be_faster, "{name}");
        }
    }
}
