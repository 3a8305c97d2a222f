//! The list of disks from trees of real machines' shape, in `testdata/sysfs`.

use std::path::Path;

use flashscope_device::Bytes;
use flashscope_linux::{
    Ability, Bogus, Brake, Bus, Disk, Idleness, Listing, Roots, Sort, Unknown, Usb, WriteCache, list,
};

fn machine(name: &str) -> Listing {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sysfs").join(name);
    list(&Roots::copy(&folder)).unwrap()
}

fn disk<'a>(listing: &'a Listing, name: &str) -> &'a Disk {
    listing.disks.iter().find(|disk| disk.name == name).unwrap()
}

fn usb<'a>(listing: &'a Listing, name: &str) -> &'a Usb {
    disk(listing, name).usb.as_ref().unwrap()
}

#[test]
fn a_usb_3_stick_in_a_usb_2_port_is_held_back_by_the_port() {
    let desktop = machine("desktop");
    let stick = usb(&desktop, "sdb");
    assert_eq!(
        (stick.link_mbit_per_s, stick.ability),
        (Some(480.0), Some(Ability::Known { mbit_per_s: 5000.0 }))
    );
    assert_eq!((stick.is_held_back(), &stick.brake), (Some(true), &Some(Brake::Port)));
    assert_eq!((stick.way.bus, stick.way.ports.as_slice(), stick.way.hubs.len()), (Some(1), &[2][..], 0));
}

#[test]
fn a_size_that_is_a_limit_is_no_liking() {
    let desktop = machine("desktop");
    let optimal = disk(&desktop, "sdb").queue.optimal.unwrap();
    assert_eq!(optimal.size, Bytes::new(33_553_920));
    assert!(matches!(optimal.bogus, Some(Bogus::FieldFull { .. })), "{optimal:?}");
}

#[test]
fn an_ssd_with_uas_runs_as_fast_as_it_can() {
    let desktop = machine("desktop");
    let (ssd, usb) = (disk(&desktop, "sdc"), usb(&desktop, "sdc"));
    assert_eq!((ssd.sort, usb.driver.as_deref(), usb.offers_uas), (Sort::UsbDisk, Some("uas"), Some(true)));
    assert_eq!(
        (usb.ability, usb.is_held_back()),
        (Some(Ability::Known { mbit_per_s: 10_000.0 }), Some(false))
    );
    assert_eq!((ssd.queue.depth, ssd.queue.write_cache), (Some(30), Some(WriteCache::WriteBack)));
    assert_eq!(ssd.partitions[0].filesystem.as_ref().unwrap().kind, "ntfs");
}

#[test]
fn a_stick_behind_a_hub_names_it_and_an_old_partition_is_misaligned() {
    let desktop = machine("desktop");
    let (stick, usb) = (disk(&desktop, "sdd"), usb(&desktop, "sdd"));
    assert_eq!((usb.is_held_back(), usb.way.hubs[0].name.as_str()), (Some(false), "1-4"));
    let partition = &stick.partitions[0];
    let filesystem = partition.filesystem.as_ref().unwrap();
    assert_eq!((partition.start, filesystem.cluster), (Bytes::new(63 * 512), Some(Bytes::kib(4))));
    assert_eq!(filesystem.data_alignment(partition.start), Some(Bytes::new(512)));
    assert!(partition.mounts[0].has("sync"));
}

#[test]
fn what_the_kernel_does_not_show_stays_unknown() {
    let desktop = machine("desktop");
    let stick = usb(&desktop, "sde");
    let at_least = Ability::AtLeast { mbit_per_s: 480.0, unknown: Unknown::MaybeSuperSpeed };
    assert_eq!((stick.ability, stick.is_held_back()), (Some(at_least), None));
}

#[test]
fn readers_are_told_from_sticks_with_and_without_a_card() {
    let laptop = machine("card-readers");
    let slots: Vec<(&str, bool)> = laptop
        .disks
        .iter()
        .filter(|disk| disk.sort == Sort::Reader)
        .map(|disk| (disk.name.as_str(), disk.is_empty()))
        .collect();
    assert_eq!(slots, [("sdb", true), ("sdc", true), ("sdd", false), ("sde", true), ("sdf", true)]);
    let card = disk(&laptop, "sdd");
    assert_eq!((card.scsi.as_ref().unwrap().unit, &card.card), (Some(2), &None));
    assert!(card.mounts[0].has("ro"));
    let idle: Vec<(&str, Idleness)> = laptop.idle.iter().map(|idle| (idle.name.as_str(), idle.why)).collect();
    assert_eq!(idle, [("mmc0", Idleness::NoCard), ("1-4", Idleness::NoDriver)]);
}

#[test]
fn the_card_of_a_raspberry_pi_shows_its_registers() {
    let pi = machine("raspberry-pi");
    let [disk] = &pi.disks[..] else { panic!("{:?}", pi.disks) };
    let card = disk.card.as_ref().unwrap();
    assert_eq!((disk.sort, disk.bus, disk.holds_the_system()), (Sort::Card, Bus::Mmc, true));
    assert_eq!((card.maker, card.date.as_deref()), (Some("SanDisk"), Some("10/2019")));
    let status = card.status.as_ref().unwrap();
    assert_eq!(status.classes().as_deref(), Some("class 10, U3, V10, A1"));
    assert_eq!(card.allocation_unit(), Some(Bytes::mib(4)));
    assert_eq!(card.specific_data.unwrap().capacity, Some(disk.capacity));
    assert_eq!(card.bus_mode.as_ref().unwrap().name, "sd uhs DDR50");
    let kinds: Vec<&str> =
        disk.partitions.iter().map(|part| part.filesystem.as_ref().unwrap().kind.as_str()).collect();
    assert_eq!(kinds, ["vfat", "ext4"]);
    assert_eq!(pi.idle, [], "a wireless chip in a slot for cards is no empty slot");
}

#[test]
fn a_hostile_machine_does_no_harm() {
    let hostile = machine("hostile");
    let names: Vec<&str> = hostile.disks.iter().map(|disk| disk.name.as_str()).collect();
    assert_eq!(names, ["mmcblk0", "sdb", "sdc"]);
    assert_eq!(hostile.vanished, ["half"]);
    let text = format!("{:?}", hostile.disks);
    assert!(!text.contains("\\u{1b}") && !text.contains("\\u{7}"), "{text}");
    assert!(disk(&hostile, "sdb").serial.as_ref().unwrap().chars().count() <= 128);
    let usb = usb(&hostile, "sdb");
    assert_eq!((usb.link_mbit_per_s, usb.ability, usb.offers_uas), (None, None, None));
    let card = disk(&hostile, "mmcblk0").card.as_ref().unwrap();
    assert_eq!((&card.identification, &card.specific_data, &card.status), (&None, &None, &None));
    assert_eq!((&card.date, card.preferred_erase), (&None, None));
}
