//! `flashscope list`, on copies of sysfs.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::bad_input::assert_refused;
use super::{document, flashscope, schema, stderr, stdout};

fn machine(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sysfs").join(name);
    folder.to_str().unwrap().to_owned()
}

fn listed(name: &str) -> Value {
    let mut document = document(&["list", "--all", "--sysfs", &machine(name)]);
    document.as_object_mut().unwrap().remove("flashscope").unwrap();
    document
}

#[test]
fn list_documents_of_four_machines() {
    for name in ["desktop", "card-readers", "raspberry-pi", "hostile"] {
        insta::assert_snapshot!(name, format!("{:#}", listed(name)));
    }
}

#[test]
fn system_disk_is_listed_only_with_all() {
    let disks = |arguments: &[&str]| {
        let document = document(&[&["list", "--sysfs", &machine("desktop")], arguments].concat());
        let path = |disk: &Value| disk["path"].as_str().unwrap().to_owned();
        document["disks"].as_array().unwrap().iter().map(path).collect::<Vec<_>>()
    };
    assert_eq!(disks(&[]), ["/dev/sdb", "/dev/sdc", "/dev/sdd", "/dev/sde"]);
    assert_eq!(disks(&["--all"])[..2], ["/dev/loop0", "/dev/nvme0n1"]);
}

#[test]
fn list_names_slow_links_and_unreadable_registers() {
    let text = stdout(&flashscope(&["list", "--sysfs", &machine("desktop")]));
    assert!(text.contains("480 of 5000 Mbit/s: plugged into a USB 2 port"), "{text}");
    assert!(text.contains("33553920 bytes, is ignored"), "{text}");
    let text = stdout(&flashscope(&["list", "--sysfs", &machine("card-readers")]));
    assert!(text.contains("not readable through this reader"), "{text}");
    let text = stdout(&flashscope(&["list", "--sysfs", &machine("raspberry-pi")]));
    assert!(text.contains("class 10, U3, V10, A1"), "{text}");
}

/// The text of `list` for a machine, in one line.
fn text_of(name: &str) -> String {
    let text = stdout(&flashscope(&["list", "--all", "--sysfs", &machine(name)]));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The only disk of a machine.
fn disk_of(name: &str) -> Value {
    listed(name)["disks"][0].clone()
}

#[test]
fn a_reader_with_an_unknown_name_is_a_reader() {
    assert!(text_of("card-reader-rdf5").contains("/dev/sdb 29.1 GiB, card reader: TS-RDF5 Transcend"));
}

#[test]
fn a_slow_link_in_a_superspeed_port_blames_cable_and_contacts() {
    let name = "usb3-stick-at-480-in-a-port-with-superspeed-half";
    let text = text_of(name);
    assert!(text.contains("SuperSpeed half of 5000 Mbit/s") && text.contains("another cable"), "{text}");
    assert!(!text.contains("a USB 3 port would show it"), "{text}");
    assert_eq!(disk_of(name)["usb"]["port_mbit_per_s"], 5000.0);
}

#[test]
fn full_speed_under_a_faster_hub_is_a_failed_handshake() {
    let text = text_of("stick-at-12-under-a-480-hub");
    assert!(text.contains("Its port offers 480 Mbit/s: the handshake for more failed"), "{text}");
    assert!(!text.contains("a USB 2 port would show it"), "{text}");
}

#[test]
fn a_uas_device_without_a_driver_needs_the_module_uas() {
    assert!(text_of("uas-device-without-a-driver").contains("try modprobe uas"));
    assert_eq!(listed("uas-device-without-a-driver")["idle"][0]["why"], "no uas driver");
}

#[test]
fn the_link_of_a_stick_over_usbip_is_the_network() {
    let text = text_of("stick-over-usbip");
    assert!(
        text.contains("link the network:") && text.contains("over the network (USB/IP, vhci_hcd)"),
        "{text}"
    );
    assert!(!text.contains("full speed of the device"), "{text}");
    let disk = disk_of("stick-over-usbip");
    assert_eq!(disk["usb"]["virtual_bus"], "network");
    assert_eq!(disk["usb"]["held_back"], Value::Null);
}

#[test]
fn the_reserve_of_an_emmc_chip_is_shown_beside_its_life() {
    let text = text_of("emmc-pre-eol");
    assert!(text.contains("more than 100 % of the cells of type A, 10 to 20 % of type B"), "{text}");
    assert!(text.contains("reserved blocks: 90 % used"), "{text}");
    let disk = disk_of("emmc-pre-eol");
    assert_eq!(
        (&disk["card"]["reserve"], &disk["card"]["life_used_tenths"]),
        (&"urgent".into(), &vec![11, 2].into())
    );
}

/// A machine like this copy, with further files.
fn machine_with(name: &str, files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let copied = Command::new("cp").arg("-a").arg(format!("{}/.", machine(name))).arg(folder.path()).status();
    assert!(copied.unwrap().success());
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

#[test]
fn a_quirk_is_shown_with_its_source_and_the_risk_of_undoing_it() {
    let quirks = "sys/module/usb_storage/parameters/quirks";
    let sources = [
        ("proc/cmdline", "quiet usb-storage.quirks=8564:4000:u splash\n", "command line"),
        ("etc/modprobe.d/uas.conf", "options usb-storage quirks=8564:4000:u\n", "modprobe.d/uas.conf"),
        ("etc/modprobe.d/other.conf", "options usb-storage quirks=0bc2:2312:u\n", "parameter"),
    ];
    for (path, text, source) in sources {
        let folder = machine_with("card-reader-rdf5", &[(quirks, "0bc2:2312:f,8564:4000:u\n"), (path, text)]);
        let arguments = ["list", "--sysfs", folder.path().to_str().unwrap()];
        let quirk = document(&arguments)["disks"][0]["usb"]["quirk"].clone();
        assert_eq!(quirk["flags"], "u");
        assert!(quirk["source"].as_str().unwrap().ends_with(source), "{quirk}");
        let shown = stdout(&flashscope(&arguments)).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains("the quirk u is set") && shown.contains("back up first"), "{shown}");
    }
    assert_eq!(disk_of("card-reader-rdf5")["usb"]["quirk"], Value::Null);
}

#[test]
fn resets_and_checksum_errors_in_the_kernel_log_are_counted() {
    let log = "6,1,2,-;usb 2-1: reset SuperSpeed USB device number 5 using xhci_hcd\n6,2,3,-;usb 2-2: reset high-speed USB device\n";
    let folder = machine_with("card-reader-rdf5", &[("dev/kmsg", log)]);
    let arguments = ["list", "--sysfs", folder.path().to_str().unwrap()];
    assert_eq!(document(&arguments)["disks"][0]["kernel_events"]["resets"], 1);
    assert!(stdout(&flashscope(&arguments)).contains("1 reset in the log since boot"));
    assert_eq!(disk_of("card-reader-rdf5")["kernel_events"], Value::Null, "no log, no statement");
}

#[test]
fn lanes_of_a_link_and_an_sd_command_queue_are_shown() {
    let usb = "sys/devices/pci0000:00/0000:00:14.0/usb2/2-1";
    let folder = machine_with(
        "card-reader-rdf5",
        &[(&format!("{usb}/rx_lanes"), "2\n"), (&format!("{usb}/speed"), "10000\n")],
    );
    let listed = document(&["list", "--sysfs", folder.path().to_str().unwrap()]);
    assert_eq!(listed["disks"][0]["usb"]["lanes"], 2);
    assert!(listed["disks"][0]["usb"]["link"].as_str().unwrap().contains("10000 Mbit/s on 2 lanes"));
    let card = "sys/devices/platform/emmc2bus/fe340000.mmc/mmc_host/mmc0/mmc0:0001/cmdq_en";
    let folder = machine_with("emmc-pre-eol", &[(card, "1\n")]);
    let shown = stdout(&flashscope(&["list", "--all", "--sysfs", folder.path().to_str().unwrap()]));
    assert!(shown.split_whitespace().collect::<Vec<_>>().join(" ").contains("command queue on"), "{shown}");
}

#[test]
fn list_without_a_stick_prints_advice() {
    let output = flashscope(&["list", "--sysfs", &machine("no-stick")]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), ""));
    let talk = stderr(&output);
    assert!(talk.contains("no stick") && talk.contains("--watch") && talk.contains("the other 1"), "{talk}");
}

#[test]
fn mounts_are_read_from_the_named_file() {
    let folder = tempfile::tempdir().unwrap();
    let mounts = folder.path().join("mounts");
    std::fs::write(&mounts, "/dev/sdb1 /elsewhere vfat ro 0 0\n").unwrap();
    let arguments = ["list", "--sysfs", &machine("desktop"), "--mounts", mounts.to_str().unwrap()];
    assert_eq!(document(&arguments)["disks"][0]["mounts"][0], "/elsewhere");
}

#[test]
fn invalid_copies_of_sysfs_are_refused() {
    assert_refused(&["list", "--sysfs", "/nowhere"], 2, &["/nowhere", "copy of /sys"]);
    let folder = tempfile::tempdir().unwrap();
    assert_refused(&["list", "--sysfs", folder.path().to_str().unwrap()], 2, &["list of disks", "block"]);
    assert_refused(&["list", "--mounts", "/nowhere"], 2, &["/nowhere", "mountinfo"]);
    assert_refused(&["list", "everything"], 2, &["everything"]);
}

/// A stick is unplugged and plugged in again. Ctrl-C ends with exit code 0.
#[test]
fn list_watch_prints_removed_and_added_disks() {
    let folder = tempfile::tempdir().unwrap();
    let copied = Command::new("cp").args(["-a", &machine("desktop")]).arg(folder.path()).status().unwrap();
    assert!(copied.success());
    let tree = folder.path().join("desktop");
    let link = tree.join("sys/block/sdb");
    let mut child = Command::new(env!("CARGO_BIN_EXE_flashscope"))
        .args(["list", "--watch", "--json", "--quiet", "--sysfs", tree.to_str().unwrap()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || {
        let document: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        schema::assert_valid("list-event", &document);
        (
            document["event"].as_str().unwrap().to_owned(),
            document["disk"]["path"].as_str().unwrap().to_owned(),
        )
    };
    let event = |event: &str, path: &str| (event.to_owned(), path.to_owned());
    for path in ["/dev/sdb", "/dev/sdc", "/dev/sdd", "/dev/sde"] {
        assert_eq!(next(), event("present", path));
    }
    let target = std::fs::read_link(&link).unwrap();
    std::fs::remove_file(&link).unwrap();
    assert_eq!(next(), event("removed", "/dev/sdb"));
    std::os::unix::fs::symlink(target, &link).unwrap();
    assert_eq!(next(), event("added", "/dev/sdb"));
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
