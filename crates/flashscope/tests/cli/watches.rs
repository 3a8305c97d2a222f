//! `flashscope watch`, on copies of sysfs.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use super::bad_input::assert_refused;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;

use super::{document, flashscope, stderr, stdout};

fn machine(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sysfs").join(name);
    folder.to_str().unwrap().to_owned()
}

const STAT: &str = "1 0 8 1 900 0 7200 900 1 900 900\n";

/// The desktop, with counters for one stick, and a process that writes to it.
fn busy_machine(folder: &tempfile::TempDir) -> PathBuf {
    let copied = Command::new("cp").args(["-a", &machine("desktop")]).arg(folder.path()).status();
    assert!(copied.unwrap().success());
    let tree = folder.path().join("desktop");
    let write = |name: &str, text: &str| {
        let path = tree.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("sys/block/sdb/stat", STAT);
    write("proc/meminfo", "Dirty: 2048 kB\nWriteback: 0 kB\n");
    write("proc/4711/comm", "cp\u{1b}[31m\n");
    write("proc/4711/io", "rchar: 9\nwrite_bytes: 4096\n");
    write("proc/4711/fdinfo/3", "pos:\t0\nflags:\t0100001\n");
    std::fs::create_dir_all(tree.join("proc/4711/fd")).unwrap();
    for (number, file) in [("3", "/dev/sdb1"), ("4", "/dev/sdbx"), ("5", "pipe:[7]")] {
        std::os::unix::fs::symlink(file, tree.join("proc/4711/fd").join(number)).unwrap();
    }
    tree
}

#[test]
fn watch_once_shows_waiting_data_and_writers() {
    let folder = tempfile::tempdir().unwrap();
    let tree = busy_machine(&folder);
    let arguments = ["watch", "/dev/sdb1", "--once", "--interval", "0.1", "--sysfs", tree.to_str().unwrap()];
    let disk = document(&arguments)["disks"][0].clone();
    assert_eq!((&disk["name"], &disk["in_flight"]), (&"sdb".into(), &1.into()));
    assert_eq!(
        (&disk["waiting"]["status"], &disk["waiting"]["bytes"]),
        (&"at most".into(), &(2 << 20).into())
    );
    assert_eq!(disk["write"]["bytes"], 0);
    let process = &disk["processes"][0];
    assert_eq!(
        (&process["pid"], &process["files"], &process["files_to_write"]),
        (&4711.into(), &1.into(), &1.into())
    );
    assert_eq!(process["name"], "cp\u{fffd}[31m");
    let text = stdout(&flashscope(&arguments));
    assert!(text.contains("all disks together") && text.contains("cp"), "{text}");
}

/// The waiting data of the first disk.
fn waiting(tree: &Path) -> Value {
    let arguments = ["watch", "sdb", "--once", "--interval", "0.1", "--sysfs", tree.to_str().unwrap()];
    document(&arguments)["disks"][0]["waiting"].clone()
}

#[test]
fn debugfs_counts_waiting_data_of_one_disk() {
    let folder = tempfile::tempdir().unwrap();
    let tree = busy_machine(&folder);
    let number = std::fs::read_to_string(tree.join("sys/block/sdb/dev")).unwrap();
    let statistics = tree.join("sys/kernel/debug/bdi").join(number.trim());
    std::fs::create_dir_all(&statistics).unwrap();
    let write = |name: &str, text: &str| std::fs::write(statistics.join(name), text).unwrap();
    write("stats", "BdiWriteback: 64 kB\nBdiReclaimable: 960 kB\nb_dirty: 1\nb_io: 0\nb_more_io: 0\n");
    let waiting_data = waiting(&tree);
    assert_eq!((&waiting_data["status"], &waiting_data["bytes"]), (&"this disk".into(), &(1 << 20).into()));
    assert!(waiting_data["error_bytes"].as_u64() > Some(0), "{waiting_data}");

    // With cgroup writeback, the count is complete only if it includes the cgroups.
    let groups = tree.join("sys/fs/cgroup");
    std::fs::create_dir_all(&groups).unwrap();
    std::fs::write(groups.join("cgroup.subtree_control"), "cpu memory pids\n").unwrap();
    let waiting_data = waiting(&tree);
    assert_eq!((&waiting_data["status"], &waiting_data["bytes"]), (&"at most".into(), &(2 << 20).into()));
    assert!(waiting_data["text"].as_str().unwrap().contains("needs Linux 6.10"), "{waiting_data}");
    write("wb_stats", "WbCgIno: 1\n\nWbCgIno: 77\n");
    assert_eq!(waiting(&tree)["status"], "this disk");

    write("stats", "BdiWriteback: 8 kB\nBdiReclaimable: 12 kB\nb_dirty: 0\nb_io: 0\nb_more_io: 0\n");
    let waiting_data = waiting(&tree);
    assert_eq!(
        (&waiting_data["bytes"], &waiting_data["error_bytes"]),
        (&0.into(), &0.into()),
        "no file is dirty"
    );
}

/// The exit code and messages of `watch` after a change of the tree.
fn watch_after(change: impl Fn(&Path)) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let tree = busy_machine(&folder);
    std::fs::write(tree.join("sys/block/sdb/diskseq"), "7\n").unwrap();
    let mut watch = Command::new(env!("CARGO_BIN_EXE_flashscope"))
        .args(["watch", "sdb", "--interval", "0.1", "--sysfs", tree.to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.contains("sdb write 0 MB/s") && first.contains("at most 2 MiB (all disks)"), "{first}");
    change(&tree.join("sys/block/sdb"));
    lines.for_each(drop);
    let mut talk = String::new();
    watch.stderr.take().unwrap().read_to_string(&mut talk).unwrap();
    (watch.wait().unwrap().code(), talk)
}

#[test]
fn watch_ends_when_its_disk_is_unplugged_or_replaced() {
    let (code, talk) = watch_after(|disk| std::fs::remove_file(disk.join("stat")).unwrap());
    assert!(code == Some(3) && talk.contains("/dev/sdb went away"), "{code:?} {talk}");
    let (code, talk) = watch_after(|disk| std::fs::write(disk.join("diskseq"), "8\n").unwrap());
    assert!(code == Some(3) && talk.contains("/dev/sdb was plugged in again"), "{code:?} {talk}");
    let (code, talk) =
        watch_after(|disk| std::fs::write(disk.join("stat"), STAT.replace("900 0", "3 0")).unwrap());
    assert!(
        code == Some(3) && talk.contains("plugged in again"),
        "an old kernel has no number: {code:?} {talk}"
    );
}

/// The arguments of `watch --until-safe` on this machine.
fn until_safe(tree: &Path) -> [&str; 7] {
    ["watch", "sdb", "--until-safe", "--interval", "0.1", "--sysfs", tree.to_str().unwrap()]
}

/// Such a watch while data waits, for this number of lines. Then nothing waits, and it ends.
fn watched_until_safe(tree: &Path, lines: usize) -> Output {
    std::fs::write(tree.join("sys/block/sdb/stat"), STAT.replace(" 1 900 900", " 0 900 900")).unwrap();
    let mut watch = Command::new(env!("CARGO_BIN_EXE_flashscope"))
        .args(until_safe(tree))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut printed = BufReader::new(watch.stdout.take().unwrap()).lines();
    for _ in 0..lines {
        let line = printed.next().unwrap().unwrap();
        assert!(line.contains("at most 2 MiB"), "{line}");
    }
    // All of it at once: the program may read it at any moment.
    let memory = tree.join("proc/meminfo.new");
    std::fs::write(&memory, "Dirty: 0 kB\nWriteback: 0 kB\n").unwrap();
    std::fs::rename(&memory, tree.join("proc/meminfo")).unwrap();
    printed.for_each(drop);
    watch.wait_with_output().unwrap()
}

#[test]
fn watch_until_safe_ends_when_nothing_waits() {
    let folder = tempfile::tempdir().unwrap();
    let tree = busy_machine(&folder);
    let output = watched_until_safe(&tree, 1);
    assert!(output.status.code() == Some(0) && stderr(&output).contains("safe to unplug"), "{output:?}");

    let output = flashscope(&until_safe(&tree));
    assert!(output.status.code() == Some(0) && stdout(&output).lines().count() == 1, "{output:?}");
    std::fs::remove_file(tree.join("sys/block/sdb/stat")).unwrap();
    assert_refused(&until_safe(&tree), 3, &["has no I/O counters"]);
}

/// Without the share of one disk, the data of other disks counts as well.
#[test]
fn until_safe_says_once_from_its_first_line_that_it_waits_for_all_disks() {
    let folder = tempfile::tempdir().unwrap();
    let tree = busy_machine(&folder);
    let several_lines = watched_until_safe(&tree, 3);
    let one_line = flashscope(&until_safe(&tree));
    assert_eq!(stdout(&one_line).lines().count(), 1, "{one_line:?}");
    for output in [several_lines, one_line] {
        let talk = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{talk}");
        assert_eq!(talk.matches("this ends only when nothing waits for any disk").count(), 1, "{talk}");
        let advises_sudo = talk.contains("with sudo before the command");
        assert_eq!(advises_sudo, !rustix::process::geteuid().is_root(), "{talk}");
    }
}

/// `watch` on a pseudo-terminal, and the other end of it. It is killed after 20 s and then ends with 137.
fn on_a_terminal(tree: &Path) -> (Child, File) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&person).and_then(|()| unlockpt(&person)).unwrap();
    let terminal = PathBuf::from(ptsname(&person, Vec::new()).unwrap().into_string().unwrap());
    let size = rustix::termios::Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    let terminal = || File::options().read(true).write(true).open(&terminal).unwrap();
    rustix::termios::tcsetwinsize(terminal(), size).unwrap();
    let mut watch = Command::new("timeout");
    watch.args(["--foreground", "--signal=KILL", "20", env!("CARGO_BIN_EXE_flashscope")]);
    watch.args(["watch", "sdb", "--interval", "0.1", "--sysfs", tree.to_str().unwrap()]);
    let watch = watch.stdin(terminal()).stdout(terminal()).stderr(terminal()).spawn().unwrap();
    let mut person = File::from(person);
    let mut seen = String::new();
    while !seen.contains("together") {
        let mut some = [0; 4096];
        let length = person.read(&mut some).unwrap();
        seen += &String::from_utf8_lossy(&some[..length]);
    }
    (watch, person)
}

/// Regression: reading keys ignored end of file and errors, so `watch` looped forever and never saw the
/// signal.
#[test]
fn watch_ends_when_its_terminal_hangs_up() {
    let folder = tempfile::tempdir().unwrap();
    let tree = busy_machine(&folder);
    let (mut watch, person) = on_a_terminal(&tree);
    drop(person);
    assert_eq!(watch.wait().unwrap().code(), Some(0));
    let (mut watch, mut person) = on_a_terminal(&tree);
    person.write_all(b"\x1b[A\t\x1b[Bq").unwrap();
    std::io::copy(&mut person, &mut std::io::sink()).unwrap_err();
    assert_eq!(watch.wait().unwrap().code(), Some(0));
}

#[test]
fn disk_without_iostats_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let tree = busy_machine(&folder);
    std::fs::create_dir_all(tree.join("sys/block/sdb/queue")).unwrap();
    std::fs::write(tree.join("sys/block/sdb/queue/iostats"), "0\n").unwrap();
    assert_refused(&["watch", "sdb", "--once", "--sysfs", tree.to_str().unwrap()], 3, &["queue/iostats"]);
}

#[test]
fn escape_sequences_in_device_names_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let tree = busy_machine(&folder);
    let of_usb = tree.join("sys/block/sdb/device/../../../../product");
    assert!(of_usb.is_file(), "the copy has moved: {}", of_usb.display());
    std::fs::write(of_usb, format!("\u{1b}]0;owned\u{7}\u{202e}{}", "x".repeat(64 << 10))).unwrap();
    let arguments = ["watch", "sdb", "--once", "--interval", "0.1", "--sysfs", tree.to_str().unwrap()];
    let text = stdout(&flashscope(&arguments));
    assert!(text.contains("owned") && !text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text}");
    assert!(text.len() < 4096, "{text}");
}

#[test]
fn watch_without_a_disk_is_refused_with_advice() {
    assert_refused(&["watch", "--once", "--sysfs", &machine("no-stick")], 2, &["no stick", "list --all"]);
    assert_refused(
        &["watch", "/dev/nothing", "--sysfs", &machine("desktop")],
        2,
        &["/dev/nothing", "list --all"],
    );
    for seconds in ["0", "-1", "61", "NaN", "soon"] {
        assert_refused(&["watch", &format!("--interval={seconds}")], 2, &["0.1s to 1m"]);
    }
}

#[test]
fn disk_without_counters_is_not_reported_as_unplugged() {
    let folder = tempfile::tempdir().unwrap();
    let tree = busy_machine(&folder);
    std::fs::remove_file(tree.join("sys/block/sdb/stat")).unwrap();
    let output = flashscope(&["watch", "sdb", "--once", "--sysfs", tree.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3));
    let talk = stderr(&output);
    assert!(talk.contains("/dev/sdb has no I/O counters") && !talk.contains("went away"), "{talk}");
}

#[test]
fn watch_once_lists_disks_that_cannot_be_watched() {
    let folder = tempfile::tempdir().unwrap();
    let tree = busy_machine(&folder);
    let once = |tree: &str| flashscope(&["watch", "--once", "--interval", "0.1", "--sysfs", tree]);
    let output = once(tree.to_str().unwrap());
    let (text, talk) = (stdout(&output), stderr(&output));
    assert!(
        text.contains("sdb") && talk.contains("/dev/sdc has no I/O counters") && !talk.contains("/dev/sdb"),
        "{text}{talk}"
    );
    for name in ["hostile", "desktop", "card-readers"] {
        let output = once(&machine(name));
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
        assert!(stderr(&output).contains("has no I/O counters"), "{name}: {}", stderr(&output));
        let document = document(&["watch", "--once", "--interval", "0.1", "--sysfs", &machine(name)]);
        assert!(document["disks"].as_array().unwrap().is_empty(), "{document}");
    }
    assert_refused(
        &["watch", "--interval", "0.1", "--sysfs", &machine("hostile")],
        3,
        &["has no I/O counters"],
    );
}
