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
