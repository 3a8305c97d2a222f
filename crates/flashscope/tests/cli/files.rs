//! `flashscope bench files`: results, refusals, and cleaning up.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::served::run;
use crate::{document, flashscope, skip, stderr, stdout};

/// A directory in memory: fast, and no other program's data waits there for a flush.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().count() == 0
}

#[test]
fn bench_files_marks_results_in_memory_as_cached() {
    let directory = directory();
    let result =
        document(&["bench", "files", directory.path().to_str().unwrap(), "--count", "200", "--rounds", "2"]);
    if result["filesystem"] != "tmpfs" {
        return skip("/dev/shm is no tmpfs here");
    }
    assert_eq!(result["instead"][0], "memory");
    // The time depends on this machine, but no device is ever blamed.
    assert!(["unknown", "none"].contains(&result["cause"].as_str().unwrap()), "{result}");
    assert_eq!((&result["rounds"], &result["small"]["files"]), (&2.into(), &200.into()));
    assert_eq!(result["small"]["bytes"], result["large"]["bytes"]);
    assert!(result["small"]["cached"].as_str().unwrap().contains("in memory"), "{result}");
    assert!(result["small"]["allocated_bytes"].as_u64() >= result["small"]["bytes"].as_u64());
    assert_eq!(result["small"]["wrong_files"], 0);
    let spread = |key: &str| result["small"]["files_per_s"][key].as_f64().unwrap();
    assert!(spread("low") <= spread("median") && spread("median") <= spread("high"));
    assert!(is_empty(directory.path()));
}

#[test]
fn filesystem_of_the_directory_is_announced_by_its_name() {
    let directory = directory();
    let name = directory.path().to_str().unwrap();
    let output = flashscope(&["bench", "files", name, "--count", "4", "--rounds", "1", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let result: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let filesystem = result["filesystem"].as_str().unwrap();
    let called = if filesystem.is_empty() { "an unknown filesystem" } else { filesystem };
    assert!(stderr(&output).contains(&format!("{name}: {called} with ")), "{}", stderr(&output));
}

/// Without `--rounds`, at least 3 and at most 9. No file of this profile is larger than 2 KiB.
#[test]
fn default_rounds_end_when_they_agree() {
    let directory = directory();
    let bench =
        ["bench", "files", directory.path().to_str().unwrap(), "--count", "100", "--profile", "snippets"];
    let output = flashscope(&[&bench[..], &["--json"]].concat());
    let result: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!((3..=9).contains(&result["rounds"].as_u64().unwrap()), "{result}");
    assert!(result["small"]["bytes"].as_u64().unwrap() < 100 * 2048, "{result}");
    assert!(stderr(&output).contains("3 to 9 rounds"), "{}", stderr(&output));
}

#[test]
fn report_of_a_stored_files_run_matches_the_original() {
    let (directory, stored) = (directory(), tempfile::tempdir().unwrap());
    let path = |name: &str| stored.path().join(name).to_str().unwrap().to_owned();
    let (run, page) = (path("run.flashscope.json"), path("page.html"));
    let bench = ["bench", "files", directory.path().to_str().unwrap(), "--count", "30", "--rounds", "1"];
    let result = document(&[&bench[..], &["-o", &run, "-o", &page]].concat());
    let stored = document(&["report", &run]);
    for key in ["verdict", "profile", "seed", "measured_at", "cause", "how"] {
        assert_eq!(stored[key], result[key], "{key}");
    }
    assert_eq!(stored["small"]["each_read_s"].is_object(), result["small"]["each_read_s"].is_object());
    let again = flashscope(&["report", &run]);
    assert!(stdout(&again).contains("writes to the device") && !stdout(&again).contains("erase block"));
    assert!(std::fs::read_to_string(&page).unwrap().contains("small files"));
    let many = flashscope(&["report", "compare", &run, &run]);
    assert_eq!(many.status.code(), Some(2));
    assert!(stderr(&many).contains("no long stream"), "{}", stderr(&many));
    let sound = std::fs::read_to_string(&run).unwrap();
    assert!(!sound.contains("is_erased"), "files of its own erase nothing: {sound}");
    std::fs::write(&run, sound.replacen("\"made_s\": ", "\"made_s\": -", 1)).unwrap();
    let refused = flashscope(&["report", &run]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("rounds[0].small.made_s"), "{}", stderr(&refused));
    let same = flashscope(&[&bench[..], &["-o", "/no/such/place/run.json"]].concat());
    assert_eq!(same.status.code(), Some(2), "refused before anything is written");
}

#[test]
fn like_uses_the_file_sizes_of_a_directory() {
    let (directory, model) = (directory(), directory());
    for (name, length) in [("a", 10), ("b", 3000), ("c", 70_000)] {
        std::fs::write(model.path().join(name), vec![7; length]).unwrap();
    }
    let (directory, model) = (directory.path().to_str().unwrap(), model.path().to_str().unwrap());
    let result = document(&["bench", "files", directory, "--like", model, "--rounds", "1"]);
    assert_eq!((&result["small"]["files"], &result["small"]["bytes"]), (&3.into(), &73_010.into()));
    let more = document(&["bench", "files", directory, "--like", model, "--count", "40", "--rounds", "1"]);
    assert_eq!(more["small"]["files"], 40);
}

#[test]
fn bench_files_refuses_invalid_targets_with_advice() {
    let directory = directory();
    let file = directory.path().join("file");
    let empty = directory.path().join("empty");
    std::fs::write(&file, [1]).unwrap();
    std::fs::create_dir(&empty).unwrap();
    let [directory, file, empty] = [directory.path(), &file, &empty].map(|path| path.to_str().unwrap());
    for (arguments, words) in [
        (&["/no/such/folder"][..], "no such directory"),
        (&[file], "is not a directory"),
        (&["/proc"], "stores no files"),
        (&["sim:generic-2g"], "sim serve generic-2g --loop"),
        (&[directory, "--like", empty], "no files"),
        (&[directory, "--like", "/no/such/folder"], "no such directory"),
        (&[directory, "--profile", "photos", "--count", "1000000"], "do not fit"),
        (&[directory, "--count", "0"], "--count"),
        (&[directory, "--like", empty, "--profile", "photos"], "--profile"),
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
fn interrupted_bench_files_removes_its_files() {
    for signal in [Signal::INT, Signal::HUP] {
        nothing_is_left_after(signal);
    }
}

fn nothing_is_left_after(signal: Signal) {
    let directory = directory();
    let output = interrupted("files", directory.path(), &["--count", "20000"], "round 1", signal);
    assert!(is_empty(directory.path()));
    let result: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((&result["rounds"], &result["small"]), (&0.into(), &Value::Null), "{result}");
    let reason = "interrupted in the first round: no result is complete";
    assert_eq!(result["ended"][0]["early"]["reason"], reason, "{result}");
    assert!(stderr(&output).contains(reason) && !stderr(&output).contains("wrote"), "{}", stderr(&output));
}

/// Interrupts a benchmark of many rounds when it prints a line that starts with `at`. Returns its output,
/// and what it printed on standard error after that line.
fn interrupted(part: &str, folder: &Path, arguments: &[&str], at: &str, signal: Signal) -> Output {
    // SIGHUP may be ignored where tests run. Interrupted runs are stored in the current directory.
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

/// The stored run, which must be the only file.
fn stored_run(folder: &Path) -> String {
    let mut files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let file = files.next().unwrap();
    assert!(file.to_str().unwrap().ends_with("-interrupted.flashscope.json"), "{file:?}");
    assert!(files.next().is_none());
    file.to_str().unwrap().to_owned()
}

#[test]
fn interrupted_rounds_are_stored_and_marked_as_early_end() {
    let parts = [("files", ["--count", "50"], "files"), ("methods", ["--size", "2MiB"], "methods")];
    for (part, arguments, name) in parts {
        let directory = directory();
        let output = interrupted(part, directory.path(), &arguments, "round 3", Signal::INT);
        let result: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let early = &result["ended"][0]["early"];
        let reason = early["reason"].as_str().unwrap();
        assert!(reason.starts_with("interrupted after ") && reason.ends_with(" rounds"), "{result}");
        assert_eq!(early["cause"], "interrupt", "{result}");
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
        let run = stored_run(directory.path());
        let shown = stdout(&flashscope(&["report", &run])).replace("\n   ", "");
        assert!(shown.contains(&format!("The {name} measurement ended early: {reason}.")), "{shown}");
        let page = directory.path().join("page.html");
        let page = page.to_str().unwrap();
        assert_eq!(flashscope(&["report", &run, "-o", page]).status.code(), Some(0));
        assert!(std::fs::read_to_string(page).unwrap().contains("measurement ended early: interrupted"));
    }
}

#[test]
fn full_and_read_only_filesystems_are_refused_before_writing() {
    if !rustix::process::geteuid().is_root() {
        return skip("mounting a filesystem in tests needs root");
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
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
