//! The list of disks, from small copies of sysfs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use flashscope_device::Bytes;
use flashscope_linux::{Bus, Disk, DiskKind, Listing, Roots, list};
use tempfile::TempDir;

const STICK: &str = "devices/pci0000:00/0000:00:14.0/usb1/1-2";
const CARD: &str = "devices/platform/sdhci.0/mmc_host/mmc0/mmc0:aaaa";

/// A tree of directories, files and links.
struct SysfsTree(TempDir);

impl SysfsTree {
    fn new() -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(tree.path("sys/block")).unwrap();
        tree.file("mountinfo", "");
        tree
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, contents: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    fn files(&self, directory: &str, files: &[(&str, &str)]) {
        for (name, contents) in files {
            self.file(&format!("sys/{directory}/{name}"), format!("{contents}\n"));
        }
    }

    fn link(&self, name: &str, target: &str) {
        let path = self.path(&format!("sys/{name}"));
        fs::create_dir_all(self.path(&format!("sys/{target}"))).unwrap();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(self.path(&format!("sys/{target}")), path).unwrap();
    }

    /// A disk in `directory`, linked from `block/` as the kernel does it.
    fn disk(&self, directory: &str, files: &[(&str, &str)]) {
        self.files(directory, files);
        let name = Path::new(directory).file_name().unwrap().to_str().unwrap();
        self.link(&format!("block/{name}"), directory);
    }

    /// A USB stick of 3 862 528 sectors with one partition.
    fn stick(&self) {
        self.files(
            STICK,
            &[
                ("idVendor", "13fe"),
                ("idProduct", "3e00"),
                ("speed", "480"),
                ("version", " 2.10"),
                ("manufacturer", "Patriot Memory"),
                ("product", "Xporter"),
                ("serial", "07AC0D06FB80"),
                ("1-2:1.0/bInterfaceClass", "08"),
            ],
        );
        self.link(&format!("{STICK}/1-2:1.0/driver"), "bus/usb/drivers/usb-storage");
        let scsi = format!("{STICK}/1-2:1.0/host6/target6:0:0/6:0:0:0");
        self.files(&scsi, &[("vendor", "        "), ("model", "Xporter XT      ")]);
        let block = format!("{scsi}/block/sdb");
        self.disk(&block, &[("size", "3862528"), ("removable", "1"), ("ro", "0"), ("dev", "8:16")]);
        self.link(&format!("{block}/device"), &scsi);
        self.files(
            &format!("{block}/sdb1"),
            &[("partition", "1"), ("start", "8192"), ("size", "3854336"), ("dev", "8:17")],
        );
    }

    fn list(&self) -> Vec<Disk> {
        self.listing().disks
    }

    fn listing(&self) -> Listing {
        list(&Roots { mounts: self.path("mountinfo"), ..Roots::copy(self.0.path()) }).unwrap()
    }
}

#[test]
fn usb_stick_has_name_link_and_driver() {
    let tree = SysfsTree::new();
    tree.stick();
    let mounts = [
        "36 35 8:17 / /media/my\\040stick rw shared:1 - vfat /dev/sdb1 rw",
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw",
    ];
    tree.file("mountinfo", mounts.join("\n"));
    let disks = tree.list();
    let [disk] = &disks[..] else { panic!("{disks:?}") };
    assert_eq!((disk.name.as_str(), disk.path.to_str()), ("sdb", Some("/dev/sdb")));
    assert_eq!(
        (disk.capacity, disk.is_removable, disk.is_read_only),
        (Bytes::new(3_862_528 * 512), true, false)
    );
    assert_eq!((disk.vendor.as_deref(), disk.model.as_deref()), (Some("Patriot Memory"), Some("Xporter")));
    assert_eq!((disk.serial.as_deref(), disk.bus), (Some("07AC0D06FB80"), Bus::Usb));
    let usb = disk.usb.as_ref().unwrap();
    assert_eq!((usb.vendor_id, usb.product_id, usb.link_mbit_per_s), (0x13fe, 0x3e00, Some(480.0)));
    assert_eq!((usb.version.as_deref(), usb.driver.as_deref()), (Some("2.10"), Some("usb-storage")));
    let [partition] = &disk.partitions[..] else { panic!("{:?}", disk.partitions) };
    assert_eq!((partition.name.as_str(), partition.start), ("sdb1", Bytes::mib(4)));
    let mounted: Vec<&str> = disk.mounts.iter().map(|mount| mount.path.as_str()).collect();
    assert_eq!(mounted, ["/media/my stick"]);
}

#[test]
fn card_in_a_native_reader_has_an_allocation_unit() {
    let tree = SysfsTree::new();
    let registers = [
        ("name", "SU08G"),
        ("manfid", "0x000003"),
        ("type", "SD"),
        ("date", "10/2012"),
        ("preferred_erase_size", "4194304"),
        ("serial", "0x1d2f3a4b"),
    ];
    tree.files(CARD, &registers);
    let block = format!("{CARD}/block/mmcblk0");
    tree.disk(&block, &[("size", "15523840"), ("removable", "0"), ("ro", "1")]);
    tree.link(&format!("{block}/device"), CARD);
    let disks = tree.list();
    let [disk] = &disks[..] else { panic!("{disks:?}") };
    assert_eq!((disk.bus, disk.is_read_only, disk.model.as_deref()), (Bus::Mmc, true, Some("SU08G")));
    let card = disk.card.as_ref().unwrap();
    assert_eq!((card.kind.as_deref(), card.manufacturer_id), (Some("SD"), Some(3)));
    assert_eq!((card.date.as_deref(), card.preferred_erase), (Some("10/2012"), Some(Bytes::mib(4))));
}

#[test]
fn buses_are_recognized_and_empty_virtual_disks_left_out() {
    let tree = SysfsTree::new();
    let disk =
        |directory: &str, sectors: &str| tree.disk(directory, &[("size", sectors), ("removable", "0")]);
    disk("devices/pci0000:00/0000:00:1d.0/nvme/nvme0/nvme0n1", "2048");
    disk("devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda", "2048");
    disk("devices/pci0000:00/0000:00:02.0/virtio1/block/vda", "2048");
    disk("devices/pci0000:00/0000:00:03.0/host9/target9:0:0/9:0:0:0/block/sdc", "2048");
    disk("devices/virtual/block/loop0", "2048");
    disk("devices/virtual/block/loop1", "0");
    disk("devices/virtual/block/zram0", "0");
    disk("devices/virtual/block/dm-0", "2048");
    disk("devices/platform/strange/block/xda", "2048");
    tree.disk("devices/usb2/2-1/host3/block/sdd", &[("size", "0"), ("removable", "1")]);
    let buses: Vec<(String, Bus)> = tree.list().into_iter().map(|disk| (disk.name, disk.bus)).collect();
    let expected = [
        ("dm-0", Bus::Virtual),
        ("loop0", Bus::Loop),
        ("nvme0n1", Bus::Nvme),
        ("sda", Bus::Ata),
        ("sdc", Bus::Scsi),
        ("sdd", Bus::Usb),
        ("vda", Bus::Virtio),
        ("xda", Bus::Other),
    ];
    assert_eq!(buses, expected.map(|(name, bus)| (name.to_owned(), bus)));
}

/// A stick, but for what these files below its USB device say.
#[test]
fn each_sign_of_a_card_reader_is_enough_and_a_stick_has_none() {
    const MODEL: &str = "1-2:1.0/host6/target6:0:0/6:0:0:0/model";
    const SIZE: &str = "1-2:1.0/host6/target6:0:0/6:0:0:0/block/sdb/size";
    const REMOVABLE: &str = "1-2:1.0/host6/target6:0:0/6:0:0:0/block/sdb/removable";
    const SECOND_UNIT: &str = "1-2:1.0/host6/target6:0:0/6:0:0:1/type";
    let cases: [(&[(&str, &str)], DiskKind); 10] = [
        (&[("serial", "1")], DiskKind::Stick),
        (&[("product", "USB3.0 CRW")], DiskKind::Reader),
        (&[("manufacturer", "SDDR-B531")], DiskKind::Reader),
        (&[(MODEL, "Micro SD")], DiskKind::Reader),
        (&[(MODEL, "TF")], DiskKind::Reader),
        (&[("idVendor", "8564"), ("idProduct", "4000")], DiskKind::Reader),
        (&[(SIZE, "0")], DiskKind::Reader),
        (&[(SECOND_UNIT, "0")], DiskKind::Reader),
        // The emulated optical drive of a stick.
        (&[(SECOND_UNIT, "5")], DiskKind::Stick),
        (&[("product", "USB3.0 CRW"), (REMOVABLE, "0")], DiskKind::UsbDisk),
    ];
    for (files, kind) in cases {
        let tree = SysfsTree::new();
        tree.stick();
        tree.files(STICK, files);
        let disks = tree.list();
        assert_eq!((disks.len(), disks[0].kind), (1, kind), "{files:?}");
    }
}

#[test]
fn hostile_and_malformed_attributes_are_handled() {
    let tree = SysfsTree::new();
    tree.stick();
    tree.file(&format!("sys/{STICK}/product"), "\u{1b}]0;owned\u{7}".repeat(8000));
    tree.file(&format!("sys/{STICK}/manufacturer"), [0xff, 0xfe, b'x', 0x00]);
    tree.file(&format!("sys/{STICK}/speed"), "fast");
    tree.file(&format!("sys/{STICK}/idVendor"), "not hexadecimal");
    tree.disk("devices/virtual/block/loop7", &[("size", "18446744073709551615")]);
    tree.disk("devices/virtual/block/loop8", &[("size", "-5")]);
    fs::remove_file(tree.path("mountinfo")).unwrap();
    symlink("/nowhere", tree.path("sys/block/dangling")).unwrap();
    let disks = tree.list();
    let names: Vec<&str> = disks.iter().map(|disk| disk.name.as_str()).collect();
    assert_eq!(names, ["loop7", "sdb"]);
    let model = disks[1].model.as_deref().unwrap();
    assert!(model.chars().count() <= 128 && !model.contains(char::is_control), "{model:?}");
    assert!(!disks[1].vendor.as_deref().unwrap().contains(char::is_control));
    assert_eq!(disks[1].usb, None);
}

/// The kernel writes `unknown` for a speed that it does not know. A copy of sysfs may hold anything.
#[test]
fn speed_that_no_link_can_have_is_unknown() {
    let tree = SysfsTree::new();
    tree.stick();
    let hub = STICK.strip_suffix("/1-2").unwrap();
    for (text, speed) in [
        ("480", Some(480.0)),
        ("1.5", Some(1.5)),
        ("unknown", None),
        ("0", None),
        ("-480", None),
        ("1e999", None),
        ("nan", None),
    ] {
        tree.files(STICK, &[("speed", text)]);
        tree.files(hub, &[("speed", text)]);
        let disks = tree.list();
        let usb = disks[0].usb.as_ref().unwrap();
        assert_eq!((usb.link_mbit_per_s, usb.port_mbit_per_s), (speed, speed), "{text}");
    }
}

#[test]
fn disk_without_a_size_counts_as_vanished() {
    let tree = SysfsTree::new();
    tree.disk("devices/virtual/block/half", &[("removable", "1")]);
    tree.disk("devices/virtual/block/empty", &[("removable", "1"), ("size", "0")]);
    let listing = tree.listing();
    assert_eq!((listing.vanished, listing.disks), (vec!["half".to_owned()], vec![]));
}

#[test]
fn links_out_of_the_tree_are_not_followed() {
    let (tree, other) = (SysfsTree::new(), SysfsTree::new());
    other.stick();
    symlink(other.path("sys/block/sdb"), tree.path("sys/block/sdb")).unwrap();
    assert_eq!(tree.list(), []);
    assert_eq!(other.list().len(), 1);
}

#[test]
fn pipe_in_place_of_an_attribute_does_not_block() {
    let tree = SysfsTree::new();
    tree.stick();
    let product = tree.path(&format!("sys/{STICK}/product"));
    fs::remove_file(&product).unwrap();
    let pipe = rustix::fs::mknodat(rustix::fs::CWD, &product, rustix::fs::FileType::Fifo, 0o600.into(), 0);
    pipe.unwrap();
    let disks = tree.list();
    assert_eq!(disks[0].model.as_deref(), Some("Xporter XT"));
}

/// Device mapper lies between a partition and its filesystem: encryption, volumes.
#[test]
fn mount_through_device_mapper_is_found() {
    let tree = SysfsTree::new();
    tree.stick();
    tree.files("devices/virtual/block/dm-0", &[("dev", "253:0")]);
    let partition = format!("{STICK}/1-2:1.0/host6/target6:0:0/6:0:0:0/block/sdb/sdb1");
    tree.link(&format!("{partition}/holders/dm-0"), "devices/virtual/block/dm-0");
    tree.file("mountinfo", "36 35 253:0 / /media/secret rw - ext4 /dev/mapper/secret rw");
    let disks = tree.list();
    assert_eq!(disks[0].partitions[0].mounts[0].path, "/media/secret");
    assert_eq!(
        disks[0].partitions[0].filesystem, None,
        "the filesystem is in the encrypted volume, not on the partition"
    );
}

#[test]
fn missing_sysfs_error_names_the_directory() {
    let directory = tempfile::tempdir().unwrap();
    let text = list(&Roots::copy(directory.path())).unwrap_err().to_string();
    assert!(text.contains("/block") && text.contains("is sysfs mounted?"), "{text}");
}
