//! `check` of a mounted directory.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{document, finding, flashscope, stderr, stdout};
use crate::served::{Mounted, Served, has, run};

/// A mounted ext4 on a stick that is served at this multiple of its speed, with a file on it.
fn mounted(stick: &str, speed: &str) -> Option<(Served, Mounted)> {
    if !has("mkfs.ext4") {
        return None;
    }
    let served = Served::start(&[stick, "--loop", "--speed", speed])?;
    let device = served.block_device().to_owned();
    run("mkfs.ext4", &["-q", "-E", "lazy_itable_init=0,nodiscard", &device]);
    let mounted = Mounted::from(&device);
    fs::write(mounted.path().join("holiday"), pictures()).unwrap();
    rustix::fs::sync();
    Some((served, mounted))
}

fn pictures() -> Vec<u8> {
    (0..3_000_000_u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()).collect()
}

/// The names in a directory, and its free space.
fn state(directory: &Path) -> (Vec<String>, u64) {
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    rustix::fs::sync();
    (names, rustix::fs::statvfs(directory).unwrap().f_bfree)
}

fn value<'a>(document: &'a Value, id: &str) -> &'a Value {
    &finding(document, id)["value"]
}

#[test]
fn check_in_a_directory_finds_what_a_check_of_the_stick_finds_and_leaves_nothing() {
    let stick = "transcend-8g";
    // Faster, the delays of a busy machine would be longer than the times of the stick.
    let Some((_served, mounted)) = mounted(stick, "2") else { return };
    let before = state(mounted.path());
    let path = mounted.path().to_str().unwrap();
    let found = document(&["check", path]);
    let whole = document(&["check", &format!("sim:{stick}")]);
    // On a busy machine, unknown is acceptable; a wrong value is not.
    let ids = ["erase_block_bytes", "page_bytes", "open_units_linear"];
    let known = ids.map(|id| (id, value(&found, id))).into_iter().filter(|(_, value)| !value.is_null());
    let known: Vec<_> = known.collect();
    assert!(!known.is_empty(), "{found}");
    for (id, found) in known {
        assert_eq!(found, value(&whole, id), "{id}");
    }
    assert_eq!(found["identity"]["kind"], "folder");
    // The link is not known, but what is slow is.
    let headline = found["verdict"]["headline"].as_str().unwrap();
    assert!(headline.contains("IOPS in random writes; not tested: link speed"), "{headline}");
    for id in ["fat_area_bytes", "slc_cache_bytes", "sustained_write_bytes_per_s"] {
        assert!(value(&found, id).is_null(), "{id}: the file does not show it");
    }
    assert_eq!(state(mounted.path()), before);
    assert_eq!(fs::read(mounted.path().join("holiday")).unwrap(), pictures());
}

/// The amounts that are announced, and the command that repeats a check which a budget cut short.
#[test]
fn check_in_a_directory_announces_true_amounts_and_repeats_its_own_target() {
    let Some((_served, mounted)) = mounted("transcend-8g", "20") else { return };
    let folder = mounted.path().join("my folder");
    fs::create_dir(&folder).unwrap();
    let path = folder.to_str().unwrap();
    let output = flashscope(&["check", path, "--write-budget", "64MiB"]);
    let (messages, text) = (stderr(&output), stdout(&output));
    // ext4 reserves space without writing it.
    assert!(messages.contains("a file of at most 512 MiB"), "{messages}");
    assert!(messages.contains("at most 32 MiB of it are written once"), "{messages}");
    assert!(messages.contains("at most 64 MiB in total (limit it with --write-budget)"), "{messages}");
    let found = words(&text);
    assert!(found.contains("the run ended before small writes were measured"), "{text}");
    assert!(
        found.contains(&format!("larger budget, to measure small writes as well flashscope check '{path}'")),
        "{text}"
    );
    assert!(!found.contains("no write was measured"), "{text}");
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn check_in_a_directory_that_is_interrupted_or_killed_leaves_nothing() {
    let Some((_served, mounted)) = mounted("transcend-8g", "20") else { return };
    let before = state(mounted.path());
    let elsewhere = tempfile::tempdir().unwrap();
    for signal in [Signal::INT, Signal::KILL] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_flashscope"))
            .args(["check", mounted.path().to_str().unwrap()])
            .current_dir(elsewhere.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let messages = BufReader::new(child.stderr.take().unwrap());
        let mut lines = messages.lines().map(Result::unwrap);
        // The file is written and the experiments begin.
        assert!(lines.any(|line| line.contains("where the file lies on the device")));
        kill_process(Pid::from_child(&child), signal).unwrap();
        lines.for_each(drop);
        let status = child.wait().unwrap();
        assert_eq!(status.code(), (signal == Signal::INT).then_some(130));
        assert_eq!(state(mounted.path()), before, "after {signal:?}");
    }
    assert_eq!(fs::read(mounted.path().join("holiday")).unwrap(), pictures());
}

#[test]
fn check_of_a_directory_refuses_what_is_no_stick_and_options_that_do_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    for (arguments, text) in [
        (&["check", path, "--erase"][..], "leave it out"),
        (&["check", path, "--scratch"], "leave it out"),
        (&["check", path, "--sustained"], "bench sustained"),
        (&["check", path, "--write-budget", "1MiB"], "--write-budget"),
        (&["check", "/dev/shm"], "no stick can be checked there"),
        (&["check", "/proc"], "/proc"),
    ] {
        let output = flashscope(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(text), "{arguments:?}: {}", stderr(&output));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
