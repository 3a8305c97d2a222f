//! `flashscope bench files`: what is told, what is refused, and that nothing is left behind.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::served::run;
use crate::{document, flashscope, skip, stderr, stdout};

/// A folder in memory: fast, and nobody else's data waits there for a flush.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().count() == 0
}

#[test]
fn files_in_memory_are_measured_and_said_to_be_there() {
    let folder = folder();
    let told =
        document(&["bench", "files", folder.path().to_str().unwrap(), "--count", "200", "--rounds", "2"]);
    if told["filesystem"] != "tmpfs" {
        return skip("/dev/shm is no tmpfs here");
    }
    assert_eq!(told["instead"][0], "memory");
    // How long it takes is the machine's business; that a device makes it slow is never said.
    assert!(["unknown", "none"].contains(&told["cause"].as_str().unwrap()), "{told}");
    assert_eq!((&told["rounds"], &told["small"]["files"]), (&2.into(), &200.into()));
    assert_eq!(told["small"]["bytes"], told["large"]["bytes"]);
    assert!(told["small"]["cached"].as_str().unwrap().contains("still in memory"), "{told}");
    assert!(told["small"]["allocated_bytes"].as_u64() >= told["small"]["bytes"].as_u64());
    assert_eq!(told["small"]["wrong_files"], 0);
    let spread = |key: &str| told["small"]["files_per_s"][key].as_f64().unwrap();
    assert!(spread("low") <= spread("median") && spread("median") <= spread("high"));
    assert!(is_empty(folder.path()));
}

/// Where nobody says how many rounds, there are as many as it takes; and these files are none larger than two kilobytes.
#[test]
fn rounds_go_on_until_they_agree() {
    let folder = folder();
    let bench =
        ["bench", "files", folder.path().to_str().unwrap(), "--count", "100", "--profile", "snippets"];
    let output = flashscope(&[&bench[..], &["--json"]].concat());
    let told: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!((3..=9).contains(&told["rounds"].as_u64().unwrap()), "{told}");
    assert!(told["small"]["bytes"].as_u64().unwrap() < 100 * 2048, "{told}");
    assert!(stderr(&output).contains("3 to 9 rounds"), "{}", stderr(&output));
}

#[test]
fn a_stored_run_of_files_tells_the_same_again() {
    let (folder, kept) = (folder(), tempfile::tempdir().unwrap());
    let path = |name: &str| kept.path().join(name).to_str().unwrap().to_owned();
    let (run, page) = (path("run.flashscope.json"), path("page.html"));
    let bench = ["bench", "files", folder.path().to_str().unwrap(), "--count", "30", "--rounds", "1"];
    let told = document(&[&bench[..], &["-o", &run, "-o", &page]].concat());
    let stored = document(&["report", &run]);
    for key in ["verdict", "profile", "seed", "measured_at", "cause", "how"] {
        assert_eq!(stored[key], told[key], "{key}");
    }
    assert_eq!(stored["small"]["each_read_s"].is_object(), told["small"]["each_read_s"].is_object());
    let again = flashscope(&["report", &run]);
    assert!(stdout(&again).contains("writes to the device") && !stdout(&again).contains("erase block"));
    assert!(std::fs::read_to_string(&page).unwrap().contains("small files"));
    let many = flashscope(&["report", "compare", &run, &run]);
    assert_eq!(many.status.code(), Some(2));
    assert!(stderr(&many).contains("no long stream"), "{}", stderr(&many));
    let damaged = std::fs::read_to_string(&run).unwrap().replacen("\"made_s\": ", "\"made_s\": -", 1);
    std::fs::write(&run, damaged).unwrap();
    let refused = flashscope(&["report", &run]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("rounds[0].small.made_s"), "{}", stderr(&refused));
    let same = flashscope(&[&bench[..], &["-o", "/no/such/place/run.json"]].concat());
    assert_eq!(same.status.code(), Some(2), "it is said before anything is written");
}

#[test]
fn files_are_like_those_of_a_folder() {
    let (folder, model) = (folder(), folder());
    for (name, length) in [("a", 10), ("b", 3000), ("c", 70_000)] {
        std::fs::write(model.path().join(name), vec![7; length]).unwrap();
    }
    let (folder, model) = (folder.path().to_str().unwrap(), model.path().to_str().unwrap());
    let told = document(&["bench", "files", folder, "--like", model, "--rounds", "1"]);
    assert_eq!((&told["small"]["files"], &told["small"]["bytes"]), (&3.into(), &73_010.into()));
    let more = document(&["bench", "files", folder, "--like", model, "--count", "40", "--rounds", "1"]);
    assert_eq!(more["small"]["files"], 40);
}

#[test]
fn what_cannot_be_is_refused_with_what_to_do() {
    let folder = folder();
    let file = folder.path().join("file");
    let empty = folder.path().join("empty");
    std::fs::write(&file, [1]).unwrap();
    std::fs::create_dir(&empty).unwrap();
    let [folder, file, empty] = [folder.path(), &file, &empty].map(|path| path.to_str().unwrap());
    for (arguments, words) in [
        (&["/no/such/folder"][..], "no such directory"),
        (&[file], "is not a directory"),
        (&["/proc"], "stores no files"),
        (&["sim:generic-2g"], "sim serve generic-2g --loop"),
        (&[folder, "--like", empty], "no files"),
        (&[folder, "--like", "/no/such/folder"], "no such directory"),
        (&[folder, "--profile", "photos", "--count", "1000000"], "do not fit"),
        (&[folder, "--count", "0"], "--count"),
        (&[folder, "--like", empty, "--profile", "photos"], "--profile"),
    ] {
        let output = flashscope(&[&["bench", "files"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(
            stderr(&output).contains(words) && stdout(&output).is_empty(),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
    assert!(is_empty(Path::new(empty)));
}

#[test]
fn whoever_presses_ctrl_c_or_closes_the_terminal_finds_nothing_left() {
    for signal in [Signal::INT, Signal::HUP] {
        nothing_is_left_after(signal);
    }
}

fn nothing_is_left_after(signal: Signal) {
    let folder = folder();
    let output = interrupted("files", folder.path(), &["--count", "20000"], "round 1", signal);
    assert!(is_empty(folder.path()));
    let told: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((&told["rounds"], &told["small"]), (&0.into(), &Value::Null), "{told}");
    let reason = "interrupted in the first round: nothing was measured to its end";
    assert_eq!(told["ended"][0]["early"]["reason"], reason, "{told}");
    assert!(stderr(&output).contains(reason) && !stderr(&output).contains("wrote"), "{}", stderr(&output));
}

/// A bench of many rounds that gets a signal when it says this, with what it said on standard output and behind that on standard error.
fn interrupted(part: &str, folder: &Path, arguments: &[&str], at: &str, signal: Signal) -> Output {
    // Tests may run where nobody wants to hear of a terminal. What is kept goes into the current directory.
    let mut child = Command::new("env")
        .args(["--default-signal=HUP", env!("CARGO_BIN_EXE_flashscope"), "bench", part])
        .args([folder.to_str().unwrap(), "-v", "--json", "--rounds", "100"])
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.starts_with(at)));
    kill_process(Pid::from_child(&child), signal).unwrap();
    let rest: Vec<String> = lines.collect();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{rest:?}");
    Output { stderr: rest.join("\n").into_bytes(), ..output }
}

/// The file that was kept, and no other is there.
fn kept(folder: &Path) -> String {
    let mut files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let file = files.next().unwrap();
    assert!(file.to_str().unwrap().ends_with("-interrupted.flashscope.json"), "{file:?}");
    assert!(files.next().is_none());
    file.to_str().unwrap().to_owned()
}

#[test]
fn rounds_before_ctrl_c_are_kept_and_said_to_be_no_complete_result() {
    let parts = [("files", ["--count", "50"], "files"), ("methods", ["--size", "2MiB"], "methods")];
    for (part, arguments, name) in parts {
        let folder = folder();
        let output = interrupted(part, folder.path(), &arguments, "round 3", Signal::INT);
        let told: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let early = &told["ended"][0]["early"];
        let reason = early["reason"].as_str().unwrap();
        assert!(reason.starts_with("interrupted after ") && reason.ends_with(" rounds"), "{told}");
        assert_eq!(early["cause"], "interrupt", "{told}");
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
        let run = kept(folder.path());
        let shown = stdout(&flashscope(&["report", &run])).replace("\n   ", "");
        assert!(shown.contains(&format!("The {name} measurement ended early: {reason}.")), "{shown}");
        let page = folder.path().join("page.html");
        let page = page.to_str().unwrap();
        assert_eq!(flashscope(&["report", &run, "--html", page]).status.code(), Some(0));
        assert!(std::fs::read_to_string(page).unwrap().contains("measurement ended early: interrupted"));
    }
}

#[test]
fn a_full_filesystem_is_said_before_and_a_read_only_one_too() {
    if !rustix::process::geteuid().is_root() {
        return skip("mounting a filesystem in tests needs root");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    run("mount", &["-t", "tmpfs", "-o", "size=1m,nr_inodes=50", "tmpfs", path]);
    let many = flashscope(&["bench", "files", path, "--count", "60"]);
    let large = flashscope(&["bench", "files", path, "--profile", "photos", "--count", "1"]);
    run("mount", &["-o", "remount,ro", path]);
    let read_only = flashscope(&["bench", "files", path, "--count", "5"]);
    let read_only_and_full = flashscope(&["bench", "files", path, "--profile", "photos", "--count", "1"]);
    let too_small = flashscope(&["bench", "write", path]);
    run("umount", &[path]);
    for (output, words) in [
        (many, "more files"),
        (large, "do not fit"),
        (read_only, "read-only"),
        (read_only_and_full, "read-only"),
        (too_small, "read-only"),
    ] {
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(words), "{words}: {}", stderr(&output));
    }
}
