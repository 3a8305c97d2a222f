//! Output files, pipes, terminals and image files.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};

use super::confirmations::pseudo_terminal;
use super::{document, finding, flashscope, image, stderr, stdout};

#[test]
fn report_of_a_run_file_has_the_same_findings() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.flashscope.json");
    let page = folder.path().join("page.html");
    let (run, page) = (run.to_str().unwrap(), page.to_str().unwrap());
    let checked = document(&["check", "sim:generic-2g", "-o", run, "-o", page]);
    assert_eq!(document(&["report", run])["findings"], checked["findings"]);
    let first = fs::read_to_string(page).unwrap();
    assert!(first.starts_with("<!DOCTYPE html>") && first.contains("<svg"));
    assert_eq!(flashscope(&["report", run, "-o", page]).status.code(), Some(0));
    assert_eq!(fs::read_to_string(page).unwrap(), first);
    // --json still prints the document.
    assert_eq!(document(&["report", run, "-o", page])["findings"], checked["findings"]);
}

#[test]
fn closed_stdout_is_not_an_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_flashscope"))
        .args(["check", "sim:generic-2g", "-q"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(stderr(&output), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn full_stdout_exits_with_3() {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_flashscope"))
        .args(["sim", "list"])
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("standard output: No space left"), "{}", stderr(&output));
}

/// What a command shows where its standard error is a terminal.
fn shown_on_a_terminal(arguments: &[&str]) -> String {
    let (mut person, terminal) = pseudo_terminal();
    let mut child = Command::new(env!("CARGO_BIN_EXE_flashscope"))
        .args(arguments)
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(terminal)
        .spawn()
        .unwrap();
    let mut shown = Vec::new();
    // It ends with an error once the program has closed its end.
    let _closed = person.read_to_end(&mut shown);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    String::from_utf8_lossy(&shown).into_owned()
}

#[test]
fn quiet_shows_no_progress_on_a_terminal() {
    let align = ["measure", "align", "sim:generic-2g"];
    let shown = shown_on_a_terminal(&align);
    assert!(shown.contains("a virtual stick in virtual time") && shown.contains("0 %"), "{shown}");
    assert_eq!(shown_on_a_terminal(&[&align[..], &["--quiet"]].concat()), "");
}

#[test]
fn image_is_written_only_with_erase_and_yes() {
    let folder = tempfile::tempdir().unwrap();
    let path = image(&folder, 64);
    let read = flashscope(&["check", &path]);
    assert_eq!(read.status.code(), Some(0), "{}", stderr(&read));
    assert!(stderr(&read).contains("read only"));
    assert!(fs::read(&path).unwrap().iter().all(|byte| *byte == 0));

    let unconfirmed = flashscope(&["check", &path, "--erase"]);
    assert_eq!(unconfirmed.status.code(), Some(4));
    assert!(stderr(&unconfirmed).contains("--yes"));
    assert!(fs::read(&path).unwrap().iter().all(|byte| *byte == 0));

    let erased = document(&["check", &path, "--erase", "--yes"]);
    assert!(erased["cost"]["writes"].as_u64() > Some(0));
    assert_eq!(finding(&erased, "fat_area_bytes")["status"], "unknown");
    assert!(fs::read(&path).unwrap().iter().any(|byte| *byte != 0));
}

#[test]
fn write_experiments_need_erase() {
    let folder = tempfile::tempdir().unwrap();
    let path = image(&folder, 64);
    let refused = flashscope(&["measure", "write-size", &path]);
    assert_eq!(refused.status.code(), Some(4));
    assert!(stderr(&refused).contains("--erase"));
    let refused = flashscope(&["check", &path, "--sustained"]);
    assert_eq!(refused.status.code(), Some(4));
    assert!(stderr(&refused).contains("--sustained writes"));
}

#[test]
fn sustained_stream_stays_within_its_write_budget() {
    let long = document(&["measure", "sustained", "sim:generic-2g"]);
    assert_eq!(finding(&long, "slc_cache_bytes")["value"], 0);
    assert!(finding(&long, "sustained_write_bytes_per_s")["value"].as_f64() > Some(1e6));
    let short = document(&["measure", "sustained", "sim:generic-2g", "--write-budget", "100MiB"]);
    assert!(short["cost"]["bytes_written"].as_u64() <= Some(100 << 20));
    let reason = finding(&short, "slc_cache_bytes")["reason"].as_str().unwrap_or("");
    assert!(reason.contains("had only 100 MiB") && reason.contains("budget"), "{reason}");
}

#[test]
fn report_prints_and_writes_a_stored_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (run, page, copy) = (path("run.json"), path("page.html"), path("copy.json"));
    assert_eq!(flashscope(&["bench", "read", "sim:generic-2g", "-o", &run]).status.code(), Some(0));
    let shown = flashscope(&["report", &run, "-o", &page, "--output", &copy]);
    assert_eq!(shown.status.code(), Some(0), "{}", stderr(&shown));
    assert!(stdout(&shown).contains("MB/s"), "it is printed as well: {}", stdout(&shown));
    assert!(fs::read_to_string(&page).unwrap().contains("<svg"));
    assert_eq!(document(&["report", &copy])["speeds"], document(&["report", &run])["speeds"]);
    assert_eq!(flashscope(&["report", &run, "-o", &run]).status.code(), Some(2), "it would replace itself");
}
