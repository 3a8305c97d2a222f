//! The list of disks from copies of real machines' sysfs, in `testdata/sysfs`.

use std::path::Path;

use flashscope_device::Bytes;
use flashscope_linux::{
    Bus, Capability, Disk, DiskKind, ImplausibleReason, LinkLimit, Listing, MissingDiskReason, Roots,
    UnknownReason, Usb, WriteCache, list,
};

fn machine(name: &str) -> Listing {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sysfs").join(name);
    list(&Roots::copy(&directory)).unwrap()
}

fn disk<'a>(listing: &'a Listing, name: &str) -> &'a Disk {
    listing.disks.iter().find(|disk| disk.name == name).unwrap()
}

fn usb<'a>(listing: &'a Listing, name: &str) -> &'a Usb {
    disk(listing, name).usb.as_ref().unwrap()
}

#[test]
fn usb_3_stick_in_a_usb_2_port_is_limited_by_the_port() {
    let desktop = machine("desktop");
    let stick = usb(&desktop, "sdb");
    assert_eq!(
        (stick.link_mbit_per_s, stick.capability),
        (Some(480.0), Some(Capability::Exact { mbit_per_s: 5000.0 }))
    );
    assert_eq!((stick.is_held_back(), &stick.link_limit), (Some(true), &Some(LinkLimit::Port)));
    assert_eq!((stick.path.bus, stick.path.ports.as_slice(), stick.path.hubs.len()), (Some(1), &[2][..], 0));
}

#[test]
fn transfer_limit_is_no_optimal_size() {
    let desktop = machine("desktop");
    let optimal = disk(&desktop, "sdb").queue.optimal.unwrap();
    assert_eq!(optimal.size, Bytes::new(33_553_920));
    assert!(matches!(optimal.implausible, Some(ImplausibleReason::FieldFull { .. })), "{optimal:?}");
}

#[test]
fn ssd_with_uas_runs_at_its_full_speed() {
    let desktop = machine("desktop");
    let (ssd, usb) = (disk(&desktop, "sdc"), usb(&desktop, "sdc"));
    assert_eq!(
        (ssd.kind, usb.driver.as_deref(), usb.offers_uas),
        (DiskKind::UsbDisk, Some("uas"), Some(true))
    );
    assert_eq!(
        (usb.capability, usb.is_held_back()),
        (Some(Capability::Exact { mbit_per_s: 10_000.0 }), Some(false))
    );
    assert_eq!((ssd.queue.depth, ssd.queue.write_cache), (Some(30), Some(WriteCache::WriteBack)));
    assert_eq!(ssd.partitions[0].filesystem.as_ref().unwrap().kind, "ntfs");
}

#[test]
fn stick_behind_a_hub_names_the_hub_and_misaligned_partition_is_found() {
    let desktop = machine("desktop");
    let (stick, usb) = (disk(&desktop, "sdd"), usb(&desktop, "sdd"));
    assert_eq!((usb.is_held_back(), usb.path.hubs[0].name.as_str()), (Some(false), "1-4"));
    let partition = &stick.partitions[0];
    let filesystem = partition.filesystem.as_ref().unwrap();
    assert_eq!((partition.start, filesystem.cluster), (Bytes::new(63 * 512), Some(Bytes::kib(4))));
    assert_eq!(filesystem.data_alignment(partition.start), Some(Bytes::new(512)));
    assert!(partition.mounts[0].has("sync"));
}

#[test]
fn capability_hidden_by_the_kernel_stays_unknown() {
    let desktop = machine("desktop");
    let stick = usb(&desktop, "sde");
    let at_least = Capability::AtLeast { mbit_per_s: 480.0, unknown: UnknownReason::MaybeSuperSpeed };
    assert_eq!((stick.capability, stick.is_held_back()), (Some(at_least), None));
}

#[test]
fn card_readers_are_recognized_with_and_without_a_card() {
    let laptop = machine("card-readers");
    let slots: Vec<(&str, bool)> = laptop
        .disks
        .iter()
        .filter(|disk| disk.kind == DiskKind::Reader)
        .map(|disk| (disk.name.as_str(), disk.is_empty()))
        .collect();
    assert_eq!(slots, [("sdb", true), ("sdc", true), ("sdd", false), ("sde", true), ("sdf", true)]);
    let card = disk(&laptop, "sdd");
    assert_eq!((card.scsi.as_ref().unwrap().unit, &card.card), (Some(2), &None));
    assert!(card.mounts[0].has("ro"));
    let missing: Vec<(&str, MissingDiskReason)> =
        laptop.missing.iter().map(|missing| (missing.name.as_str(), missing.reason)).collect();
    assert_eq!(missing, [("mmc0", MissingDiskReason::NoCard), ("1-4", MissingDiskReason::NoDriver)]);
}

#[test]
fn raspberry_pi_card_shows_its_registers() {
    let pi = machine("raspberry-pi");
    let [disk] = &pi.disks[..] else { panic!("{:?}", pi.disks) };
    let card = disk.card.as_ref().unwrap();
    assert_eq!((disk.kind, disk.bus, disk.holds_the_system()), (DiskKind::Card, Bus::Mmc, true));
    assert_eq!((card.maker, card.date.as_deref()), (Some("SanDisk"), Some("10/2019")));
    let status = card.status.as_ref().unwrap();
    assert_eq!(status.classes().as_deref(), Some("class 10, U3, V10, A1"));
    assert_eq!(card.allocation_unit(), Some(Bytes::mib(4)));
    assert_eq!(card.specific_data.unwrap().capacity, Some(disk.capacity));
    assert_eq!(card.bus_mode.as_ref().unwrap().name, "sd uhs DDR50");
    let kinds: Vec<&str> =
        disk.partitions.iter().map(|part| part.filesystem.as_ref().unwrap().kind.as_str()).collect();
    assert_eq!(kinds, ["vfat", "ext4"]);
    assert_eq!(pi.missing, [], "a wireless chip in a card slot is not an empty slot");
}

#[test]
fn hostile_sysfs_is_handled() {
    let hostile = machine("hostile");
    let names: Vec<&str> = hostile.disks.iter().map(|disk| disk.name.as_str()).collect();
    assert_eq!(names, ["mmcblk0", "sdb", "sdc"]);
    assert_eq!(hostile.vanished, ["half"]);
    let text = format!("{:?}", hostile.disks);
    assert!(!text.contains("\\u{1b}") && !text.contains("\\u{7}"), "{text}");
    assert!(disk(&hostile, "sdb").serial.as_ref().unwrap().chars().count() <= 128);
    let usb = usb(&hostile, "sdb");
    assert_eq!((usb.link_mbit_per_s, usb.capability, usb.offers_uas), (None, None, None));
    let card = disk(&hostile, "mmcblk0").card.as_ref().unwrap();
    assert_eq!((&card.identification, &card.specific_data, &card.status), (&None, &None, &None));
    assert_eq!((&card.date, card.preferred_erase), (&None, None));
}
