//! `verify --full` on virtual sticks, image files and mounted directories, and continued tests.

use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::bad_input::assert_refused;
use super::{document, flashscope, schema, skip, stderr, stdout};

const STICK: &str = "sim:patriot-xt-16g?capacity=256MiB";

fn json(output: &Output) -> Value {
    let document = serde_json::from_str(&stdout(output));
    assert!(document.is_ok(), "{}", stderr(output));
    document.unwrap()
}

#[test]
fn virtual_fakes_are_named_with_size_map_and_speed() {
    let cases = [
        ("wrap:real=96MiB", "wrap", Some(96 << 20)),
        ("limbo:real=96MiB", "dropped", Some(96 << 20)),
        ("chain:wrap=128MiB,real=96MiB", "chain", Some(96 << 20)),
        ("read-errors:share=1,range=96MiB+160MiB", "errors", Some(96 << 20)),
        ("read-errors:share=1,range=96MiB+1MiB", "scattered", None),
    ];
    for (fault, kind, size) in cases {
        let stick = format!("{STICK}&fault={fault}");
        let output = flashscope(&["verify", &stick, "--full", "--json"]);
        assert_eq!(output.status.code(), Some(1), "{fault}: {}", stderr(&output));
        let found = json(&output);
        schema::assert_valid("verify-full", &found);
        let verdict = &found["verdict"];
        assert_eq!((verdict["kind"].as_str(), verdict["true_size"].as_u64()), (Some(kind), size), "{fault}");
        assert_eq!(verdict["seed"], 1, "a virtual stick is new in every run");
        assert!(verdict["regions"].as_array().is_some_and(|regions| regions.len() == 256));
    }
    let output = flashscope(&["verify", &format!("{STICK}&fault=limbo:real=96MiB"), "--full"]);
    let text = stdout(&output);
    let first = "FAKE: says 268 MB, stores 101 MB (drops writes). Data beyond 101 MB is lost.\n";
    assert!(text.starts_with(first), "{text}");
    let map = text.lines().nth(2).unwrap();
    assert_eq!(map, format!("0 [{}{}] 268 MB", "#".repeat(24), "x".repeat(40)));
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("--true-size 100663296 --for share"), "{text}");
    assert!(text.contains("\nWrite ") && text.contains("Exact: 100,663,296 of 268,435,456 bytes."), "{text}");
}

#[test]
fn genuine_virtual_stick_stores_all_of_it() {
    let found = document(&["verify", STICK, "--full", "--seed", "7"]);
    assert_eq!((&found["verdict"]["kind"], &found["verdict"]["seed"]), (&"no_sign".into(), &7.into()));
    assert_eq!(found["free_space"], Value::Null);
    let errors = flashscope(&["verify", &format!("{STICK}&fault=read-errors:share=0.2"), "--full"]);
    assert_eq!(errors.status.code(), Some(1), "errors that come and go are a problem: {}", stderr(&errors));
    assert!(stdout(&errors).contains("another cable"), "{}", stdout(&errors));
}

/// An image file, and a folder for states.
struct Place {
    folder: tempfile::TempDir,
    image: PathBuf,
}

const MEBIBYTES: u64 = 384;

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("stick.img");
        fs::File::create(&image).unwrap().set_len(MEBIBYTES << 20).unwrap();
        Self { folder, image }
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = self.verify();
        command.args(["--full", "--json"]).args(more);
        command
    }

    fn verify(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flashscope"));
        command.args(["verify", self.image.to_str().unwrap()]);
        command.env("FLASHSCOPE_JOURNALS", self.folder.path().join("states")).stdin(Stdio::null());
        command
    }

    /// Runs it once the lock of a killed process is gone: `io_uring` holds the file for a moment longer.
    fn run(&self, more: &[&str]) -> Output {
        loop {
            let output = self.command(more).output().unwrap();
            if !stderr(&output).contains("is in use") {
                return output;
            }
        }
    }

    fn written(&self) -> u64 {
        fs::metadata(&self.image).unwrap().blocks() * 512
    }

    fn states(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder.path().join("states")).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    }

    /// Begins a test, and waits until this much is written. The image has no blocks before.
    fn started(&self, written: u64) -> Child {
        let mut command = self.command(&["--erase", "--yes"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        while self.written() < written && child.try_wait().unwrap().is_none() {}
        child
    }

    fn interrupted(&self) {
        let child = self.started(32 << 20);
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        assert!(stderr(&output).contains("so far "), "{}", stderr(&output));
        assert_eq!(self.states().len(), 1);
    }
}

#[test]
fn interrupted_and_killed_test_continues_with_the_same_command() {
    let place = Place::new();
    place.interrupted();
    let mut child = place.started(place.written() + (16 << 20));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(place.states().len(), 1, "the state of the first interruption");
    with_time(&place.states()[0], SPENT_S);
    let output = place.run(&["--erase", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("continuing the test of"), "{}", stderr(&output));
    assert_time_left(&stderr(&output));
    let found = json(&output);
    schema::assert_valid("verify-full", &found);
    let verdict = &found["verdict"];
    assert_eq!((&verdict["kind"], &verdict["continued"]), (&"no_sign".into(), &1.into()), "{verdict}");
    assert_eq!(verdict["true_size"], MEBIBYTES << 20);
    assert_ne!(verdict["seed"], 1, "each test has its own");
    assert!(place.states().is_empty());
}

/// A test that was interrupted after nearly twenty hours.
const SPENT_S: u32 = 71_000;

/// Stores that the test took this many seconds until now.
fn with_time(state: &Path, seconds: u32) {
    let mut stored: Value = serde_json::from_str(&fs::read_to_string(state).unwrap()).unwrap();
    stored["progress"]["cost"]["device_time"] = (u64::from(seconds) * 1_000_000_000).into();
    fs::write(state, stored.to_string()).unwrap();
}

/// The time left is to the time spent as what is left to what is done. The share is rounded to whole percent,
/// the time up to whole hours, and this run took a few seconds more.
fn assert_time_left(messages: &str) {
    let line = messages.lines().find(|line| line.contains("left at this speed")).unwrap_or(messages);
    let (percent, rest) = line.split_once(" % done; about ").unwrap_or_default();
    let (hours, _) = rest.split_once(" hours left at this speed").unwrap_or_default();
    let (percent, hours): (f64, f64) = (percent.parse().unwrap_or(0.0), hours.parse().unwrap_or(0.0));
    let at = |percent: f64| f64::from(SPENT_S) / 3600.0 * (100.0 - percent) / percent;
    assert!((1.0..=50.0).contains(&percent), "{messages}");
    let (least, most) = (at(percent + 0.5), at(percent - 0.5) * 1.02 + 1.0);
    assert!((least..=most).contains(&hours), "{least} to {most} hours: {messages}");
}

#[test]
fn changed_medium_is_not_continued_without_restart() {
    let place = Place::new();
    place.interrupted();
    let image = fs::File::options().write(true).open(&place.image).unwrap();
    image.write_all_at(&[7; 512], 0).unwrap();
    let refused = place.run(&["--erase", "--yes"]);
    assert_eq!(refused.status.code(), Some(4), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("--restart"), "{}", stderr(&refused));
    let restarted = place.run(&["--erase", "--yes", "--restart"]);
    assert_eq!(json(&restarted)["verdict"]["continued"], 0);
    assert!(place.states().is_empty());
}

/// Else every place that it overwrote would look like one that the device lost.
#[test]
fn test_that_was_interrupted_begins_anew_after_another_command_with_erase() {
    let place = Place::new();
    place.interrupted();
    let quick = place.verify().args(["--erase", "--yes"]).output().unwrap();
    assert_eq!(quick.status.code(), Some(0), "{}", stderr(&quick));
    assert!(place.states().is_empty());
    let output = place.run(&["--erase", "--yes"]);
    let verdict = &json(&output)["verdict"];
    assert_eq!((&verdict["kind"], &verdict["continued"]), (&"no_sign".into(), &0.into()), "{verdict}");
}

/// A pipe in the place of a state: the program waits for a writer, after it has opened the image.
#[test]
fn test_that_was_interrupted_before_it_wrote_anything_begins_anew() {
    let place = Place::new();
    let pipe = place.folder.path().join("states/another.verify");
    fs::create_dir(pipe.parent().unwrap()).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, FileType::Fifo, 0o600.into(), 0).unwrap();
    let mut command = place.command(&["--erase", "--yes"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // This fails until the program reads.
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let open = || rustix::fs::open(&pipe, flags, Mode::empty());
    let mut writer = open();
    while writer.is_err() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
        writer = open();
    }
    if writer.is_ok() {
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    }
    drop(writer);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert_eq!(place.written(), 0, "{}", stderr(&output));
    fs::remove_file(&pipe).unwrap();
    let output = place.run(&["--erase", "--yes", "--seed", "9"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let verdict = &json(&output)["verdict"];
    assert_eq!((&verdict["seed"], &verdict["continued"]), (&9.into(), &0.into()), "{verdict}");
}

/// Gives a state file this format, and the text of the file.
fn with_format(state: &Path, format: u32) -> String {
    let mut stored: Value = serde_json::from_str(&fs::read_to_string(state).unwrap()).unwrap();
    stored["format"] = format.into();
    stored["flashscope"] = "0.0.1".into();
    fs::write(state, stored.to_string()).unwrap();
    stored.to_string()
}

/// A test of a large stick takes days, in which flashscope may be updated. All versions wrote format 1.
#[test]
fn state_of_another_version_is_continued_and_that_of_another_format_is_left_alone() {
    let place = Place::new();
    place.interrupted();
    let state = place.states().remove(0);
    with_format(&state, 1);
    let refused = place.run(&["--erase", "--yes", "--seed", "1"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("a test that is continued keeps its seed"), "{}", stderr(&refused));
    let other = with_format(&state, 2);
    let output = place.run(&["--erase", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(json(&output)["verdict"]["continued"], 0);
    assert_eq!((place.states(), fs::read_to_string(&state).unwrap()), (vec![state], other));
}

/// A directory in the place of the state stands for a disk that has become read-only.
#[test]
fn verdict_is_printed_even_if_the_state_can_neither_be_stored_nor_removed() {
    let place = Place::new();
    fs::create_dir_all(place.folder.path().join("states/stick-img-0000000000000005.verify")).unwrap();
    let output = place.run(&["--erase", "--yes", "--seed", "5"]);
    let messages = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{messages}");
    assert_eq!(messages.matches("the state of the test cannot be stored").count(), 1, "{messages}");
    assert!(messages.contains("cannot remove the state of the test"), "{messages}");
    assert_eq!(json(&output)["verdict"]["kind"], "no_sign", "{messages}");
}

/// A full disk takes no byte of the verdict.
#[test]
fn state_is_kept_until_its_verdict_is_printed() {
    let place = Place::new();
    place.interrupted();
    let full = fs::File::create("/dev/full").unwrap();
    let unprinted =
        place.command(&["--erase", "--yes"]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(unprinted.status.code(), Some(3), "{}", stderr(&unprinted));
    assert_eq!(place.states().len(), 1);
    let output = place.run(&["--erase", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(json(&output)["verdict"]["kind"], "no_sign");
    assert!(place.states().is_empty());
}

#[test]
fn full_test_is_refused_without_erase_and_with_scratch() {
    let place = Place::new();
    let image = place.image.to_str().unwrap();
    let announced = "it writes the whole 384 MiB once and reads it back, about 40 s at 20 MB/s";
    assert_refused(&["verify", image, "--full"], 4, &["--erase", announced]);
    assert_refused(&["verify", image, "--full", "--scratch"], 2, &["--scratch", "--erase"]);
    assert_refused(&["verify", image, "--full", "--cache-bound", "1MiB"], 2, &["--cache-bound"]);
    assert_eq!(place.written(), 0);
}

/// So small that it stays harmless if the guard is missing: the reserve alone does not fit.
#[test]
fn directory_in_memory_is_not_filled() {
    if !rustix::process::geteuid().is_root() {
        return skip("mounting a filesystem in tests needs root");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    assert!(run("mount", &["-t", "tmpfs", "-o", "size=1m", "tmpfs", path]));
    let output = flashscope(&["verify", path, "--full"]);
    run("umount", &[path]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(stderr(&output).contains("memory"), "{}", stderr(&output));
}

fn run(command: &str, arguments: &[&str]) -> bool {
    let ran = Command::new(command).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    ran.is_ok_and(|status| status.success())
}

/// An ext4 filesystem in an image, mounted until it is dropped.
struct Mounted(PathBuf);

impl Mounted {
    fn new(folder: &Path, mebibytes: u64) -> Option<Self> {
        let (image, point) = (folder.join("fs.img"), folder.join("mount"));
        fs::File::create(&image).unwrap().set_len(mebibytes << 20).unwrap();
        fs::create_dir(&point).unwrap();
        let (image, text) = (image.to_str().unwrap(), point.to_str().unwrap());
        let is_mounted = run("mkfs.ext4", &["-q", "-F", image]) && run("mount", &["-o", "loop", image, text]);
        is_mounted.then_some(Self(point))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        run("umount", &[self.0.to_str().unwrap()]);
    }
}

#[test]
fn directory_is_filled_verified_and_left_as_it_was() {
    if !rustix::process::geteuid().is_root() {
        return skip("mounting a filesystem in tests needs root");
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(mounted) = Mounted::new(folder.path(), 160) else {
        return skip("an image with ext4 cannot be made and mounted here");
    };
    let (path, photo) = (mounted.0.to_str().unwrap(), mounted.0.join("photo.jpg"));
    fs::write(&photo, "mine").unwrap();
    let left_over = mounted.0.join(".flashscope-verify-0003");
    fs::write(&left_over, "of a killed test").unwrap();
    let output = flashscope(&["verify", path, "--full", "--json"]);
    let (found, messages) = (json(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(0), "{messages}");
    schema::assert_valid("verify-full", &found);
    let is_said = messages.contains("note: this filesystem refuses direct I/O");
    assert_eq!(found["free_space"]["is_buffered"], is_said, "{messages}");
    let (tested, stick) = (&found["free_space"]["tested_bytes"], &found["free_space"]["stick_bytes"]);
    assert_eq!((&found["verdict"]["kind"], &found["verdict"]["announced"]), (&"no_sign".into(), tested));
    assert!(tested.as_u64().unwrap() > 90 << 20 && stick.as_u64() == Some(160 << 20), "{tested} {stick}");
    assert!(fs::read_to_string(&photo).unwrap() == "mine" && !left_over.exists());
    let mut command = Command::new(env!("CARGO_BIN_EXE_flashscope"));
    command.args(["verify", path, "--full"]).stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let first = mounted.0.join(".flashscope-verify-0000");
    while !first.exists() && child.try_wait().unwrap().is_none() {}
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!first.exists() && photo.exists());
}
