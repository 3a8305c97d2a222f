//! `fs compare` on a disk: filesystems made, mounted and measured on a served stick.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::layouts::{Loop, has_loops};
use super::served::{Mounted, Served, has, mounts_and_loops, run};
use super::{flashscope, image, stderr, stdout};

const STICK: &str = "patriot-xt-16g?capacity=512MiB";

/// Few files, and an erase block that is not measured.
const QUICK: [&str; 6] = ["--workloads", "small,large", "--erase-block", "4MiB", "--rounds", "1"];

/// Whether a stick can be served and filesystems be made on it.
fn has_tools() -> bool {
    ["sfdisk", "partx", "mkfs.ext4", "mkfs.btrfs"].into_iter().all(has)
}

fn compare(served: &Served, folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flashscope"));
    let arguments = ["fs", "compare", served.block_device(), &served.yes()];
    command.args(arguments).args(QUICK).args(more).env("TMPDIR", folder).stdin(Stdio::null());
    command
}

fn trials(output: &Output) -> Vec<Value> {
    let document: Value = serde_json::from_str(&stdout(output)).unwrap();
    document["trials"].as_array().unwrap().clone()
}

/// Nobody holds the disk or its partition, and no folder is left.
fn assert_clean(served: &Served, folder: &Path) {
    let partition = format!("{}p1", served.block_device());
    for path in [served.block_device(), &partition] {
        let flags = rustix::fs::OFlags::EXCL.bits().cast_signed();
        let opened = File::options().read(true).custom_flags(flags).open(path);
        assert!(opened.is_ok(), "{path}: {opened:?}");
    }
    assert!(!mounts_and_loops().contains(".flashscope-mount-"));
    let left: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn filesystems_are_compared_and_the_last_one_stays_unmounted() {
    let Some(served) = Served::start(&[STICK, "--instant", "--loop"]) else { return };
    if !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let names = ["--filesystems", "ext2,ext4,ext4-stripe,btrfs", "--json"];
    let output = compare(&served, folder.path(), &names).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let trials = trials(&output);
    for variant in ["ext2", "ext4", "ext4-stripe", "btrfs"] {
        for (workload, operation) in
            [("small", "write"), ("small", "read"), ("large", "write"), ("large", "read")]
        {
            let is_it = |trial: &&Value| {
                trial["variant"] == variant
                    && trial["workload"] == workload
                    && trial["operation"] == operation
            };
            let trial = trials.iter().find(is_it).unwrap();
            assert!(trial["seconds"].as_f64().unwrap() > 0.0 && trial["writeback"] == "host", "{trial}");
            assert!(trial["start"].as_u64().unwrap().is_multiple_of(4 << 20), "{trial}");
        }
    }
    assert_eq!(trials.len(), 16);
    assert_clean(&served, folder.path());
    // The last trial's files are still there.
    let partition = format!("{}p1", served.block_device());
    let mounted = Mounted::from(&partition);
    assert!(mounted.path().read_dir().unwrap().count() > 0);
    drop(mounted);
    let (_, messages) = served.stop();
    assert!(!messages.contains("still mounted"), "{messages}");
}

#[test]
fn forced_start_and_the_files_of_a_folder_are_taken() {
    let Some(served) = Served::start(&[STICK, "--instant", "--loop"]) else { return };
    if !has_tools() {
        return;
    }
    let (folder, model) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for number in 0..120 {
        std::fs::write(model.path().join(number.to_string()), vec![1; 3000]).unwrap();
    }
    let like = model.path().to_str().unwrap();
    let device = served.block_device();
    let arguments = ["fs", "compare", device, &served.yes(), "--like", like, "--partition-start", "63s"];
    let more = ["--filesystems", "ext4", "--erase-block", "4MiB", "--rounds", "1", "--json"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_flashscope"));
    command.args(arguments).args(more).env("TMPDIR", folder.path()).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let trials = trials(&output);
    assert_eq!(trials.len(), 2);
    assert!(trials.iter().all(|trial| trial["start"] == 63 * 512 && trial["workload"] == "like"));
    assert_clean(&served, folder.path());
}

#[test]
fn signals_leave_nothing_mounted_and_no_folder() {
    for signal in [Signal::INT, Signal::TERM] {
        let Some(served) = Served::start(&[STICK, "--instant", "--loop"]) else { return };
        if !has_tools() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let mut command = compare(&served, folder.path(), &["--filesystems", "ext2,btrfs", "-v"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("trial 2")), "it ended before");
        kill_process(Pid::from_child(&child), signal).unwrap();
        let messages: Vec<String> = lines.map(Result::unwrap).collect();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{messages:?}");
        let is_said = messages.iter().any(|line| line.contains("interrupted: only what was tried"));
        assert!(is_said, "{messages:?}");
        assert_clean(&served, folder.path());
    }
}

#[test]
fn stick_that_is_unplugged_keeps_the_trials_before() {
    let stick = [STICK, "--instant", "--loop", "--fault", "unplug:after=350MiB"];
    let Some(served) = Served::start(&stick) else { return };
    if !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_flashscope"));
    command.args(["fs", "compare", served.block_device(), &served.yes(), "--filesystems", "ext2,ext4"]);
    command.args(["--workloads", "small", "--erase-block", "4MiB", "--rounds", "20", "--json"]);
    let output = command.env("TMPDIR", folder.path()).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(!trials(&output).is_empty(), "{}", stderr(&output));
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(document["failures"].as_array().unwrap().len(), 1, "{document}");
    assert!(!mounts_and_loops().contains(".flashscope-mount-"));
}

#[test]
fn comparison_without_confirmation_or_in_use_writes_nothing() {
    if !has_loops() || !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let image = image(&folder, 64);
    let device = Loop::over(&image);
    let refused = |more: &[&str]| {
        let arguments = ["fs", "compare", &device.0, "--filesystems", "ext2", "--erase-block", "1MiB"];
        let output = flashscope(&[&arguments[..], more].concat());
        (output.status.code(), stderr(&output))
    };
    let is_untouched = || std::fs::read(&image).unwrap().iter().all(|byte| *byte == 0);
    let (code, message) = refused(&[]);
    assert!(code == Some(4) && message.contains("not a terminal"), "{message}");
    let (code, message) = refused(&["--yes"]);
    assert!(code == Some(4) && message.contains("--yes="), "{message}");
    assert!(is_untouched());
    run("mkfs.ext4", &["-q", &device.0]);
    let mounted = Mounted::from(&device.0);
    let (code, message) = refused(&[&format!("--yes={image}")]);
    assert!(code == Some(4) && message.contains("mounted"), "{message}");
    drop(mounted);
}

#[test]
fn targets_and_options_that_cannot_be_are_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let image = image(&folder, 8);
    let directory = folder.path().to_str().unwrap();
    let cases: [(&[&str], &str); 6] = [
        (&[&image], "losetup --find --show --partscan"),
        (&[directory], "bench files"),
        (&["/dev/nonexistent"], "/dev/nonexistent"),
        (&["sim:generic-2g", "--like", directory], "--like is for disks"),
        (&["sim:generic-2g", "--yes"], "--yes is for disks"),
        (&["/dev/nonexistent", "--recordings", directory], "--recordings is for virtual sticks"),
    ];
    for (arguments, words) in cases {
        let output = flashscope(&[&["fs", "compare"], arguments].concat());
        let message = stderr(&output);
        assert!(output.status.code() == Some(2) && message.contains(words), "{arguments:?}: {message}");
    }
}
