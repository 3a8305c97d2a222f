//! Disks that a user may not open: udisks2 opens them. Needs root, which becomes the user, and dbus-daemon.

mod mock;
mod real;

use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use mock::{Answer, Bus, RESCAN, Refusal, Udisks};
use real::Daemons;
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};

use crate::served::{has, run};
use crate::{skip, stderr, stdout};

/// The user `nobody` of every distribution.
const NOBODY: u32 = 65534;

/// Lets every user into a temporary folder.
fn open_to_all(folder: &Path) {
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A user without rights, who has a folder, the program, and a bus.
struct User {
    folder: tempfile::TempDir,
    program: PathBuf,
    bus: Bus,
}

impl User {
    /// `None`, with a message, where that is not possible.
    fn new() -> Option<Self> {
        if !rustix::process::geteuid().is_root() || !Path::new("/dev/loop-control").exists() {
            skip("a user at a loop device needs root, and /dev/loop-control");
            return None;
        }
        if !has("dbus-daemon") || !has("setpriv") {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        open_to_all(folder.path());
        chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        // The build may be in a folder of root.
        let program = folder.path().join("flashscope");
        std::fs::copy(env!("CARGO_BIN_EXE_flashscope"), &program).unwrap();
        Some(Self { folder, program, bus: Bus::start() })
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// A loop device over a new image full of text, which only root may open.
    fn disk(&self, name: &str) -> Disk {
        let file = self.path(name);
        std::fs::write(&file, b"what the stick held before ".repeat(5 << 20)).unwrap();
        std::fs::File::options().write(true).open(&file).unwrap().set_len(128 << 20).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        Disk::over(file)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let user = NOBODY.to_string();
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid", &user, "--regid", &user, "--clear-groups"])
            .arg(&self.program)
            .args(arguments)
            .env("DBUS_SYSTEM_BUS_ADDRESS", &self.bus.address)
            .env("TMPDIR", self.folder.path())
            .env("HOME", self.folder.path())
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn flashscope(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Exit code and messages of a command while udisks2 answers so.
    fn refusal(&self, disk: &Disk, answer: Answer, arguments: &[&str]) -> (Option<i32>, String) {
        let _udisks = Udisks::on(&self.bus, &disk.path, answer);
        let output = self.flashscope(arguments);
        (output.status.code(), stderr(&output))
    }
}

/// A loop device, detached when dropped.
struct Disk {
    file: String,
    path: String,
    /// The argument that confirms erasing it: of a loop device, the path of its file.
    consent: String,
}

impl Disk {
    fn over(file: String) -> Self {
        let output =
            Command::new("losetup").args(["--find", "--show", "--partscan", &file]).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let path = stdout(&output).trim().to_owned();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        Self { consent: format!("--yes={file}"), file, path }
    }

    fn has_partition(&self) -> bool {
        let name = self.path.strip_prefix("/dev/").unwrap();
        Path::new(&format!("/sys/class/block/{name}/{name}p1")).exists()
    }

    /// Whether the kernel finds a partition in what it holds now. Not every kernel reads partition tables.
    fn shows_partition_elsewhere(&self) -> bool {
        let copy = format!("{}.copy", self.file);
        std::fs::write(&copy, self.contents()).unwrap();
        Self::over(copy).has_partition()
    }

    fn contents(&self) -> Vec<u8> {
        run("sync", &[]);
        std::fs::read(&self.file).unwrap()
    }

    /// Claims it, as a mount does.
    fn hold(&self) -> OwnedFd {
        // Without CLOEXEC a program that another test starts holds the disk as long as it runs.
        let flags = OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC;
        rustix::fs::open(self.path.as_str(), flags, Mode::empty()).unwrap()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.path]).status();
    }
}

/// The arguments of a small write test.
fn write_test(disk: &Disk) -> [&str; 7] {
    ["measure", "write-size", &disk.path, "--erase", &disk.consent, "--seed", "1"]
}

/// Plans, applies and undoes as the user. `between` runs after each command.
fn plan_apply_and_undo(user: &User, disk: &Disk, between: impl Fn(&str)) {
    let before = disk.contents();
    let (plan, undo) = (user.path("plan.json"), user.path("stick.undo"));
    let wish = ["--for", "linux-data", "--erase-block", "4MiB", "-o", &plan];
    let planned = user.flashscope(&[&["plan", &disk.path][..], &wish].concat());
    assert_eq!(planned.status.code(), Some(0), "{}", stderr(&planned));
    between("plan");
    let applied = user.flashscope(&["apply", &plan, &disk.consent, "-o", &undo]);
    assert_eq!(applied.status.code(), Some(0), "{}", stderr(&applied));
    between("apply");
    assert!(stdout(&applied).contains("Undo: flashscope undo "), "{}", stdout(&applied));
    assert!(!stderr(&applied).contains("old partition table"), "{}", stderr(&applied));
    assert_eq!(disk.has_partition(), disk.shows_partition_elsewhere(), "the kernel knows the new partition");
    assert_ne!(disk.contents(), before);
    let undone = user.flashscope(&["undo", &undo, &disk.consent]);
    assert_eq!(undone.status.code(), Some(0), "{}", stderr(&undone));
    assert!(disk.contents() == before);
    assert!(!disk.has_partition(), "the kernel knows that it is gone");
    between("undo");
}

#[test]
fn user_plans_applies_and_undoes_through_udisks() {
    let Some(user) = User::new() else { return };
    if !has("sfdisk") || !has("mkfs.ext4") {
        return;
    }
    let disk = user.disk("stick.img");
    let udisks = Udisks::on(&user.bus, &disk.path, Answer::Opens(disk.path.clone()));
    plan_apply_and_undo(&user, &disk, |command| {
        let asked: Vec<String> = udisks.asked.try_iter().collect();
        let writes = asked.iter().any(|request| request == "rw");
        assert_eq!(writes, command != "plan", "{command}: {asked:?}");
        let last = if writes { RESCAN } else { "r" };
        assert_eq!(asked.last().map(String::as_str), Some(last), "{command}: {asked:?}");
    });
}

/// The real udisks2 and polkit, where a rule of polkit stands for the password.
#[test]
fn user_plans_applies_and_undoes_through_the_real_udisks() {
    let Some(user) = User::new() else { return };
    if !has("sfdisk") || !has("mkfs.ext4") {
        return;
    }
    let disk = user.disk("stick.img");
    let Some(_daemons) = Daemons::start(&user.bus, &disk.path, true) else { return };
    plan_apply_and_undo(&user, &disk, |_| ());
}

#[test]
fn real_udisks_refuses_a_user_without_a_desktop_session() {
    let Some(user) = User::new() else { return };
    let disk = user.disk("stick.img");
    let Some(_daemons) = Daemons::start(&user.bus, &disk.path, false) else { return };
    let before = disk.contents();
    let output = user.flashscope(&write_test(&disk));
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let text = stderr(&output);
    assert!(text.contains("no desktop session") && text.contains("put sudo before the command"), "{text}");
    assert!(disk.contents() == before);
}

#[test]
fn real_udisks_finds_a_held_disk_in_use() {
    let Some(user) = User::new() else { return };
    let disk = user.disk("stick.img");
    let Some(_daemons) = Daemons::start(&user.bus, &disk.path, true) else { return };
    let held = disk.hold();
    let output = user.flashscope(&write_test(&disk));
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(stderr(&output).contains("is in use"), "{}", stderr(&output));
    drop(held);
}

#[test]
fn refusals_of_udisks_are_explained_and_name_sudo() {
    let Some(user) = User::new() else { return };
    let disk = user.disk("stick.img");
    let before = disk.contents();
    let said = || "Not authorized to perform operation".to_owned();
    for (refusal, words) in [
        (Refusal::NotAuthorized(said()), "polkit's rules do not allow it"),
        (Refusal::NotAuthorizedCanObtain(said()), "no desktop session"),
        (Refusal::NotAuthorizedDismissed(said()), "the password dialog was closed"),
        (Refusal::Failed("the disk caught fire".to_owned()), "udisks2 failed: the disk caught fire"),
    ] {
        for arguments in [&write_test(&disk)[..], &["check", &disk.path]] {
            let (code, text) = user.refusal(&disk, Answer::Refuses(refusal.clone()), arguments);
            assert_eq!(code, Some(2), "{text}");
            assert!(text.contains(words) && text.contains("put sudo before the command"), "{text}");
        }
    }
    assert!(disk.contents() == before);
}

#[test]
fn descriptor_of_another_disk_or_without_writing_is_refused() {
    let Some(user) = User::new() else { return };
    let (disk, other) = (user.disk("stick.img"), user.disk("other.img"));
    let before = other.contents();
    for answer in [
        Answer::Opens(other.path.clone()),
        Answer::Opens(other.file.clone()),
        Answer::OpensForReading(disk.path.clone()),
    ] {
        let (code, text) = user.refusal(&disk, answer, &write_test(&disk));
        assert_eq!(code, Some(4), "{text}");
        assert!(text.contains("opened something else"), "{text}");
    }
    assert!(other.contents() == before);
}

#[test]
fn disk_that_udisks_finds_in_use_is_refused() {
    let Some(user) = User::new() else { return };
    let disk = user.disk("stick.img");
    let held = disk.hold();
    let (code, text) = user.refusal(&disk, Answer::Opens(disk.path.clone()), &write_test(&disk));
    assert_eq!(code, Some(4), "{text}");
    assert!(text.contains("is in use"), "{text}");
    drop(held);
    let (code, text) = user.refusal(&disk, Answer::Opens(disk.path.clone()), &write_test(&disk));
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn without_udisks_the_error_names_sudo() {
    let Some(user) = User::new() else { return };
    let disk = user.disk("stick.img");
    let output = user.flashscope(&write_test(&disk));
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let text = stderr(&output);
    assert!(text.contains("udisks2 does not run here") && text.contains("put sudo before"), "{text}");
    // It runs, but does not know this disk.
    let other = user.disk("other.img");
    let (code, text) = user.refusal(&other, Answer::Opens(other.path.clone()), &write_test(&disk));
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("udisks2 does not know this disk"), "{text}");
}

/// Runs a command, and presses Ctrl-C when udisks2 has got these requests.
fn interrupted_after(user: &User, udisks: &Udisks, requests: &[&str], arguments: &[&str]) -> Output {
    let child = user.command(arguments).spawn().unwrap();
    for request in requests {
        // The limit ends the test if the program never asks.
        assert_eq!(udisks.asked.recv_timeout(Duration::from_secs(60)).as_deref(), Ok(*request));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn interrupt_ends_the_wait_for_a_password() {
    let Some(user) = User::new() else { return };
    let disk = user.disk("stick.img");
    let cache = ["bench", "cache", &disk.path, "--seconds", "1", "--rounds", "1"];
    let opens_once = Answer::OpensOnce(disk.path.clone(), Box::new(Answer::Never));
    for (answer, requests, arguments) in [
        (Answer::Never, &["rw"][..], &write_test(&disk)[..]),
        // It opens the disk again for each of its layers.
        (opens_once, &["r", "r"], &cache),
    ] {
        let udisks = Udisks::on(&user.bus, &disk.path, answer);
        let output = interrupted_after(&user, &udisks, requests, arguments);
        assert_eq!(output.status.code(), Some(130), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("interrupted before it was opened"), "{}", stderr(&output));
    }
}

#[test]
fn refusal_to_open_the_disk_again_keeps_its_reason() {
    let Some(user) = User::new() else { return };
    let disk = user.disk("stick.img");
    let refusal = Answer::Refuses(Refusal::NotAuthorizedDismissed(String::new()));
    let answer = Answer::OpensOnce(disk.path.clone(), Box::new(refusal));
    let (code, text) = user.refusal(&disk, answer, &["bench", "cache", &disk.path, "--rounds", "1"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("the password dialog was closed"), "{text}");
}

#[test]
fn interrupt_ends_the_wait_for_the_partition_table() {
    let Some(user) = User::new() else { return };
    if !has("sfdisk") || !has("mkfs.ext4") {
        return;
    }
    let disk = user.disk("stick.img");
    let udisks = Udisks::on(&user.bus, &disk.path, Answer::NeverRescans(disk.path.clone()));
    let plan = user.path("plan.json");
    let wish = ["--for", "linux-data", "--erase-block", "4MiB", "-o", &plan];
    let planned = user.flashscope(&[&["plan", &disk.path][..], &wish].concat());
    assert_eq!(planned.status.code(), Some(0), "{}", stderr(&planned));
    // The plan has been read; only what apply asks counts.
    let _of_plan = udisks.asked.try_iter().count();
    let apply = ["apply", &plan, &disk.consent, "--undo-file", &user.path("stick.undo")];
    let output = interrupted_after(&user, &udisks, &["rw", RESCAN], &apply);
    assert_eq!(output.status.code(), Some(0), "the plan is applied: {}", stderr(&output));
    let text = stderr(&output);
    assert!(
        text.contains("old partition table") && text.contains("the wait for udisks2 was interrupted"),
        "{text}"
    );
}

/// It opens the disk again for each of its layers.
#[test]
fn user_benches_the_caches_of_a_disk_through_udisks() {
    let Some(user) = User::new() else { return };
    let disk = user.disk("stick.img");
    let _udisks = Udisks::on(&user.bus, &disk.path, Answer::Opens(disk.path.clone()));
    let output =
        user.flashscope(&["bench", "cache", &disk.path, "--seconds", "1", "--rounds", "1", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// It opens the disk again for each method.
#[test]
fn user_benches_the_write_methods_of_a_disk_through_udisks() {
    let Some(user) = User::new() else { return };
    let disk = user.disk("stick.img");
    let _udisks = Udisks::on(&user.bus, &disk.path, Answer::Opens(disk.path.clone()));
    let size = ["--size", "1MiB", "--rounds", "1"];
    let output =
        user.flashscope(&[&["bench", "methods", &disk.path, "--erase", &disk.consent], &size[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}
