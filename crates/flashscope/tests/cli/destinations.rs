//! Output files never overwrite disks, the target or the input.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use super::{flashscope, image, published, skip, stderr, stdout};

/// A loop device over an image file, detached when dropped.
struct Loop(PathBuf);

impl Loop {
    /// `None`, with a message, if there are no loop devices.
    fn over(image: &str) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            skip("loop devices need root");
            return None;
        }
        let attached = Command::new("losetup").args(["--find", "--show", image]).output();
        let Some(attached) = attached.ok().filter(|output| output.status.success()) else {
            skip("losetup cannot attach a loop device here");
            return None;
        };
        Some(Self(stdout(&attached).trim().into()))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let detached = Command::new("losetup").arg("--detach").arg(&self.0).status();
        assert!(detached.is_ok_and(|status| status.success()) || std::thread::panicking());
    }
}

/// A directory with `run.json`, and paths in it.
fn directory_with_run() -> (TempDir, impl Fn(&str) -> String) {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().to_owned();
    let path = move |name: &str| base.join(name).to_str().unwrap().to_owned();
    let stored = flashscope(&[
        "import",
        published("readme-example-arnd.txt").to_str().unwrap(),
        "-o",
        &path("run.json"),
    ]);
    assert_eq!(stored.status.code(), Some(0), "{}", stderr(&stored));
    (folder, path)
}

fn assert_ends(output: &Output, code: i32, says: &str) {
    let error = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{error}");
    assert!(error.contains(says), "does not say '{says}': {error}");
}

#[test]
fn output_to_a_disk_is_refused() {
    let (folder, path) = directory_with_run();
    let image = image(&folder, 4);
    let Some(disk) = Loop::over(&image) else { return };
    symlink(&disk.0, path("page.html")).unwrap();
    assert_ends(&flashscope(&["report", &path("run.json"), "-o", &path("page.html")]), 4, "disk");
    let checked = flashscope(&["check", "sim:generic-2g", "-o", &path("page.html")]);
    assert_ends(&checked, 4, "disk");
    assert_eq!(stdout(&checked), "", "refused before anything was measured");
    let direct = flashscope(&["report", &path("run.json"), "-o", disk.0.to_str().unwrap()]);
    assert_ends(&direct, 2, ".html");
    assert!(fs::read(&disk.0).unwrap().iter().all(|byte| *byte == 0));
}

#[test]
fn output_to_storage_devices_is_refused_and_to_dev_null_accepted() {
    let (_folder, path) = directory_with_run();
    symlink("/dev/null", path("null.html")).unwrap();
    assert_ends(&flashscope(&["report", &path("run.json"), "-o", &path("null.html")]), 0, "wrote");
    symlink("/dev/loop-control", path("control.html")).unwrap();
    if Path::new("/dev/loop-control").exists() {
        assert_ends(&flashscope(&["report", &path("run.json"), "-o", &path("control.html")]), 4, "storage");
    } else {
        skip("there is no /dev/loop-control");
    }
}

#[test]
fn output_through_a_link_to_a_pipe_is_written() {
    let (_folder, path) = directory_with_run();
    assert!(Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
    symlink("pipe", path("page.html")).unwrap();
    let reader = std::thread::spawn({
        let pipe = path("pipe");
        move || fs::read_to_string(pipe).unwrap()
    });
    assert_ends(&flashscope(&["report", &path("run.json"), "-o", &path("page.html")]), 0, "wrote");
    assert!(reader.join().unwrap().starts_with("<!DOCTYPE html>"));
}

#[test]
fn output_through_a_link_keeps_the_link() {
    let (_folder, path) = directory_with_run();
    fs::create_dir(path("pages")).unwrap();
    fs::write(path("pages/old.html"), "old").unwrap();
    symlink("pages/old.html", path("page.html")).unwrap();
    assert_ends(&flashscope(&["report", &path("run.json"), "-o", &path("page.html")]), 0, "wrote");
    assert!(fs::symlink_metadata(path("page.html")).unwrap().is_symlink());
    assert!(fs::read_to_string(path("pages/old.html")).unwrap().starts_with("<!DOCTYPE html>"));
}

#[test]
fn output_that_is_the_input_is_refused() {
    let (folder, path) = directory_with_run();
    let target = image(&folder, 32);
    fs::hard_link(&target, path("target.json")).unwrap();
    assert_ends(&flashscope(&["check", &target, "-o", &path("target.json")]), 2, "same file");
    let measured = ["measure", "align", &target, "-o", &path("target.json")];
    assert_ends(&flashscope(&measured), 2, "same file");
    assert!(fs::read(&target).unwrap().iter().all(|byte| *byte == 0));

    let run = fs::read(path("run.json")).unwrap();
    symlink("run.json", path("page.html")).unwrap();
    assert_ends(&flashscope(&["report", &path("run.json"), "-o", &path("page.html")]), 2, "same file");
    assert_eq!(fs::read(path("run.json")).unwrap(), run);

    fs::copy(published("readme-example-arnd.txt"), path("log.json")).unwrap();
    let log = fs::read(path("log.json")).unwrap();
    assert_ends(&flashscope(&["import", &path("log.json"), "-o", &path("log.json")]), 2, "same file");
    let read_from = fs::File::open(path("log.json")).unwrap();
    let from_stdin = Command::new(env!("CARGO_BIN_EXE_flashscope"))
        .args(["import", "-", "-o", &path("log.json")])
        .stdin(read_from)
        .output()
        .unwrap();
    assert_ends(&from_stdin, 2, "same file");
    assert_eq!(fs::read(path("log.json")).unwrap(), log);

    let profile = stdout(&flashscope(&["sim", "show", "generic-2g"]));
    fs::write(path("stick.toml"), &profile).unwrap();
    symlink("stick.toml", path("stick.json")).unwrap();
    let stick = format!("sim:{}?seed=2", path("stick.toml"));
    assert_ends(&flashscope(&["check", &stick, "-o", &path("stick.json")]), 2, "same file");
    assert_eq!(fs::read_to_string(path("stick.toml")).unwrap(), profile);
}

#[test]
fn unwritable_output_is_refused_before_measuring() {
    let (_folder, path) = directory_with_run();
    fs::create_dir(path("folder.html")).unwrap();
    let cases = [
        ("/nowhere/at/all/page.html".to_owned(), "directory exist"),
        ("/proc/page.html".to_owned(), "/proc/page.html"),
        (path("folder.html"), "directory"),
    ];
    for (place, says) in cases {
        let output = flashscope(&["check", "sim:generic-2g", "-o", &place]);
        assert_ends(&output, 2, says);
        assert_eq!(stdout(&output), "");
    }
    let twice = ["check", "sim:generic-2g", "-o", &path("new.html"), "-o", &path("./new.html")];
    assert_ends(&flashscope(&twice), 2, "twice");
}

#[test]
fn results_are_printed_when_an_output_cannot_be_written() {
    let (_folder, path) = directory_with_run();
    symlink("/dev/full", path("page.html")).unwrap();
    let output =
        flashscope(&["check", "sim:generic-2g", "-q", "-o", &path("page.html"), "-o", &path("kept.json")]);
    assert_ends(&output, 3, "page.html");
    assert!(stdout(&output).contains("sequential write"));
    assert!(Path::new(&path("kept.json")).exists());
}
