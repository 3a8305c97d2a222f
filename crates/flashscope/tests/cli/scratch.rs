//! `--scratch` and `restore`: write tests on data that is put back.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use flashscope_device::{Lba, Pattern};
use serde_json::Value;

use super::{document, stderr, stdout};

/// Sticks with open blocks, a FAT area, an SLC cache, and pages.
const PROFILES: [&str; 6] =
    ["patriot-xt-16g", "transcend-8g", "olpc-toshiba-4g", "samsung-fit-plus", "generic-2g", "a1-card-64g"];

/// An image full of data, and a folder for journals.
pub struct Place {
    folder: tempfile::TempDir,
    image: PathBuf,
    before: Vec<u8>,
}

impl Place {
    pub fn new(mebibytes: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("stick.img");
        let mut before = vec![0; mebibytes << 20];
        Pattern::new(7).fill(Lba(0), &mut before);
        fs::write(&image, &before).unwrap();
        Self { folder, image, before }
    }

    pub fn image(&self) -> &str {
        self.image.to_str().unwrap()
    }

    fn journals(&self) -> PathBuf {
        self.folder.path().join("journals")
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flashscope"));
        command.args(arguments).stdin(Stdio::null()).current_dir(self.folder.path());
        command.env("FLASHSCOPE_JOURNALS", self.journals());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs it once the lock of a killed process is gone: io_uring holds the file for a moment longer.
    fn run_when_free(&self, arguments: &[&str]) -> Output {
        loop {
            let output = self.run(arguments);
            if !stderr(&output).contains("is in use") {
                return output;
            }
        }
    }

    fn is_unchanged(&self) -> bool {
        fs::read(&self.image).unwrap() == self.before
    }

    pub fn journal(&self) -> Option<PathBuf> {
        let mut found = fs::read_dir(self.journals()).ok()?.flatten().map(|entry| entry.path());
        found.find(|path| path.extension().is_some_and(|extension| extension == "journal"))
    }

    /// Measures until the image differs, then kills the process.
    pub fn killed_while_writing(&self) {
        self.killed_while_writing_with(&[]);
    }

    fn killed_while_writing_with(&self, more: &[&str]) {
        let arguments = [&["bench", "write", self.image(), "--scratch", "--yes", "--quiet"], more].concat();
        let mut child = self.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while self.is_unchanged() && is_running(&mut child) {}
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!self.is_unchanged(), "the process ended before it was killed");
    }
}

fn is_running(child: &mut Child) -> bool {
    child.try_wait().unwrap().is_none()
}

fn json(output: &Output) -> Value {
    let document = serde_json::from_str(&stdout(output));
    assert!(document.is_ok(), "{}", stderr(output));
    document.unwrap()
}

#[test]
fn check_with_scratch_measures_writes_and_leaves_an_image_bit_identical() {
    let place = Place::new(24);
    let output = place.run(&["check", place.image(), "--scratch", "--yes", "--json"]);
    let messages = stderr(&output);
    // A file answers in microseconds: its noise may look like an erase block that does not fit the image.
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{messages}");
    assert!(messages.contains("is saved first") && messages.contains("all data is back"), "{messages}");
    let document = json(&output);
    assert!(document["cost"]["bytes_written"].as_u64().unwrap() > 1 << 20, "{}", document["cost"]);
    assert!(!document["findings"].as_array().unwrap().is_empty());
    assert!(place.is_unchanged() && place.journal().is_none());
}

#[test]
fn measure_and_bench_with_scratch_leave_an_image_bit_identical() {
    let place = Place::new(32);
    let image = place.image();
    let write_size = ["measure", "write-size", image, "--erase-block", "4MiB", "--scratch", "--yes"];
    let flashbench = [
        "measure",
        "open-units",
        image,
        "--erase-block",
        "1MiB",
        "--format",
        "flashbench",
        "--scratch",
        "--yes",
    ];
    let budget = ["bench", image, "--scratch", "--yes", "--write-budget", "8MiB", "--time-budget", "5s"];
    for arguments in [&write_size[..], &flashbench[..], &budget[..]] {
        let output = place.run(arguments);
        let messages = stderr(&output);
        assert!(matches!(output.status.code(), Some(0 | 3)), "{arguments:?}: {messages}");
        assert!(messages.contains("all data is back"), "{arguments:?}: {messages}");
        assert!(place.is_unchanged() && place.journal().is_none(), "{arguments:?}: {messages}");
    }
}

/// A virtual stick cannot be unplugged.
#[test]
fn only_a_real_stick_is_not_to_be_unplugged_while_its_data_is_put_back() {
    let place = Place::new(24);
    let row = ["--scratch", "--yes", "--size", "1MiB", "--order", "sequential", "--write-budget", "4MiB"];
    for (target, is_real) in [(place.image(), true), ("sim:generic-2g", false)] {
        let messages = stderr(&place.run(&[&["bench", "write", target], &row[..]].concat()));
        assert!(messages.contains("all data is back"), "{target}: {messages}");
        assert_eq!(messages.contains("do not unplug the stick"), is_real, "{target}: {messages}");
    }
}

#[test]
fn interrupted_measurement_puts_its_data_back() {
    let place = Place::new(24);
    let mut command = place.command(&["bench", "write", place.image(), "--scratch", "--yes", "--thorough"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    while place.is_unchanged() && is_running(&mut child) {}
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let mut messages = String::new();
    child.stderr.take().unwrap().read_to_string(&mut messages).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{messages}");
    assert!(place.is_unchanged() && place.journal().is_none(), "{messages}");
}

#[test]
fn restore_after_kill_makes_the_image_bit_identical() {
    let place = Place::new(24);
    place.killed_while_writing();
    let image = place.image();
    for writing in [
        &["check", image, "--erase", "--yes"][..],
        &["bench", "write", image, "--scratch", "--yes"],
        &["bench", "methods", image, "--size", "1MiB", "--erase", "--yes"],
        &["verify", image, "--erase", "--yes"],
    ] {
        let refused = place.run_when_free(writing);
        assert_eq!(refused.status.code(), Some(4), "{writing:?}: {}", stderr(&refused));
        assert!(stderr(&refused).contains("flashscope restore"), "{writing:?}: {}", stderr(&refused));
    }
    let read = place.run(&["measure", "align", place.image()]);
    assert_eq!(read.status.code(), Some(0), "reading stays possible: {}", stderr(&read));
    assert!(stderr(&read).contains("flashscope restore"), "and says so: {}", stderr(&read));
    let restored = place.run_when_free(&["restore", "--yes", "--json"]);
    assert_eq!(restored.status.code(), Some(0), "{}", stderr(&restored));
    let document = json(&restored);
    super::support::schema::assert_valid("restore", &document);
    assert!(document["bytes_restored"].as_u64().unwrap() > 0, "{document}");
    assert!(place.is_unchanged() && place.journal().is_none());
    let again = place.run(&["restore", "--yes"]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    assert!(stdout(&again).contains("Nothing to restore"), "{}", stdout(&again));
}

/// What was measured with --force-image may look like no image of a stick.
#[test]
fn restore_needs_no_permission_for_a_file_of_an_odd_size() {
    let mut place = Place::new(24);
    place.before.extend([7; 777]);
    fs::write(&place.image, &place.before).unwrap();
    place.killed_while_writing_with(&["--force-image"]);
    let restored = place.run_when_free(&["restore", "--yes"]);
    assert_eq!(restored.status.code(), Some(0), "{}", stderr(&restored));
    assert!(place.is_unchanged() && place.journal().is_none());
}

#[test]
fn restore_refuses_another_or_changed_image_and_a_damaged_journal() {
    let place = Place::new(24);
    place.killed_while_writing();
    let journal = place.journal().unwrap();
    let journal = journal.to_str().unwrap();
    let other = place.folder.path().join("other.img");
    let to_other = ["restore", journal, "--target", other.to_str().unwrap(), "--yes", "--force"];
    File::create(&other).unwrap().set_len(8 << 20).unwrap();
    let refused = place.run(&to_other);
    assert_eq!(refused.status.code(), Some(4), "another size, even with --force: {}", stderr(&refused));
    File::create(&other).unwrap().set_len(24 << 20).unwrap();
    let refused = place.run(&to_other[..5]);
    assert_eq!(refused.status.code(), Some(4), "other data: {}", stderr(&refused));
    let why = stderr(&refused);
    assert!(why.contains("is another stick, or was written since") && why.contains("--force"), "{why}");
    assert!(fs::read(&other).unwrap().iter().all(|byte| *byte == 0), "nothing was written");

    let sound = fs::read(journal).unwrap();
    let mut damaged = sound.clone();
    // In the header: damage in the last record looks like one that was cut.
    damaged[40] ^= 1;
    fs::write(journal, damaged).unwrap();
    let refused = place.run(&["restore", journal, "--yes"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("damaged"), "{}", stderr(&refused));
    fs::write(journal, sound).unwrap();
    assert_eq!(place.run_when_free(&["restore", "--yes"]).status.code(), Some(0));
    assert!(place.is_unchanged());
}

#[test]
fn folder_that_accepts_no_journal_is_refused_before_anything_is_written() {
    let place = Place::new(4);
    let arguments = ["check", place.image(), "--scratch", "--yes"];
    fs::write(place.journals(), "a file").unwrap();
    let refused = place.run(&arguments);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("FLASHSCOPE_JOURNALS"), "{}", stderr(&refused));
    fs::remove_file(place.journals()).unwrap();
    // Root may write to every directory.
    if !rustix::process::geteuid().is_root() {
        fs::create_dir(place.journals()).unwrap();
        set_mode(&place.journals(), 0o500);
        assert_eq!(place.run(&arguments).status.code(), Some(2));
        set_mode(&place.journals(), 0o700);
    }
    assert!(place.is_unchanged());
}

fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn scratch_needs_a_confirmation_and_excludes_erase() {
    let place = Place::new(4);
    let unconfirmed = place.run(&["check", place.image(), "--scratch"]);
    assert_eq!(unconfirmed.status.code(), Some(4), "{}", stderr(&unconfirmed));
    let both = place.run(&["check", place.image(), "--scratch", "--erase", "--yes"]);
    assert_eq!(both.status.code(), Some(2), "{}", stderr(&both));
    let methods = place.run(&["bench", "methods", place.image(), "--scratch", "--yes"]);
    assert_eq!(methods.status.code(), Some(2), "{}", stderr(&methods));
    assert!(place.is_unchanged() && place.journal().is_none());
}

#[test]
fn check_with_scratch_finds_what_check_finds_on_six_virtual_sticks() {
    for profile in PROFILES {
        let target = format!("sim:{profile}");
        let plain = findings(&document(&["check", &target]));
        let scratch = findings(&document(&["check", &target, "--scratch"]));
        assert_eq!(plain.len(), scratch.len(), "{target}");
        for (plain, scratch) in plain.iter().zip(&scratch) {
            assert_eq!(plain["id"], scratch["id"], "{target}");
            assert!(agree(plain, scratch), "{target}: {plain}, with --scratch {scratch}");
        }
    }
}

/// Whether both values are equal, or differ by 5 % as times and speeds may, or each lies in the interval of
/// the other. Counts are exact: their intervals hold one value.
fn agree(plain: &Value, scratch: &Value) -> bool {
    let (Some(one), Some(other)) = (plain["value"].as_f64(), scratch["value"].as_f64()) else {
        return plain["value"] == scratch["value"];
    };
    let holds = |finding: &Value, value: f64| {
        let end = |name: &str| finding[name].as_f64();
        end("low").zip(end("high")).is_some_and(|(low, high)| (low..=high).contains(&value))
    };
    (one - other).abs() <= 0.05 * one.abs() || (holds(plain, other) && holds(scratch, one))
}

/// The findings of a check, without their evidence.
fn findings(document: &Value) -> Vec<Value> {
    let findings = document["findings"].as_array().unwrap().iter();
    let short = |finding: &Value| {
        let mut finding = finding.clone();
        finding.as_object_mut().unwrap().remove("evidence");
        finding
    };
    findings.map(short).collect()
}

#[test]
fn verify_with_scratch_leaves_an_image_bit_identical() {
    let place = Place::new(64);
    let arguments =
        ["verify", place.image(), "--scratch", "--yes", "--cache-bound", "8MiB", "--seed", "3", "--json"];
    let output = place.run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("all data is back"), "{}", stderr(&output));
    assert_eq!(json(&output)["verdict"]["kind"], "no_sign");
    assert!(place.is_unchanged() && place.journal().is_none());
}

/// Nobody knows what a journal of another format, a damaged one or an unreadable folder holds.
#[test]
fn journal_that_cannot_be_read_refuses_writes_to_every_stick() {
    let place = Place::new(8);
    fs::create_dir(place.journals()).unwrap();
    let journal = place.journals().join("sdb.journal");
    let refused_because = |words: &str| {
        for permission in ["--erase", "--scratch"] {
            let refused = place.run(&["check", place.image(), permission, "--yes"]);
            assert_eq!(refused.status.code(), Some(4), "{words}: {}", stderr(&refused));
            let message = stderr(&refused);
            assert!(message.contains(words) && message.contains("sdb.journal"), "{message}");
        }
        assert!(place.is_unchanged(), "{words}");
    };
    fs::write(&journal, "a file of some other program").unwrap();
    refused_because("not a journal");
    fs::write(&journal, b"x").unwrap();
    refused_because("not a journal");
    fs::remove_file(&journal).unwrap();
    fs::create_dir(&journal).unwrap();
    refused_because("cannot read");
    fs::remove_dir(&journal).unwrap();
    // Before its header is written, a journal has saved nothing.
    fs::write(&journal, "").unwrap();
    let erased = place.run(&["check", place.image(), "--erase", "--yes", "--write-budget", "1MiB"]);
    assert!(matches!(erased.status.code(), Some(0 | 1 | 3)), "{}", stderr(&erased));
}

/// The user `nobody` and root, each with a folder of journals of its own, in a mount namespace.
struct Users {
    place: Place,
    program: PathBuf,
    home: PathBuf,
}

/// As root, in the namespace: `$1` becomes root's folder of journals, `$2` the list of users. The rest is
/// run.
const NAMESPACE: &str = r#"set -e
mount --make-rprivate /
mount -t tmpfs none /var/lib
mkdir /var/lib/flashscope
mount --bind "$1" /var/lib/flashscope
mount --bind "$2" /etc/passwd
shift 2
exec "$@"
"#;

impl Users {
    /// `None`, with a message, where that is not possible.
    fn new() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            super::skip("journals of root and of a user need root");
            return None;
        }
        if !super::served::has("unshare") || !super::served::has("setpriv") {
            return None;
        }
        let place = Place::new(24);
        let [home, roots] = ["home", "root"].map(|name| place.folder.path().join(name));
        fs::create_dir(&home).unwrap();
        fs::create_dir(roots).unwrap();
        let list =
            format!("root:x:0:0::/root:/bin/sh\nnobody:x:{NOBODY}:{NOBODY}::{}:/bin/sh\n", home.display());
        fs::write(place.folder.path().join("passwd"), list).unwrap();
        for path in [place.folder.path(), &place.image, &home] {
            std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        set_mode(place.folder.path(), 0o755);
        // The build may be in a folder of root.
        let program = place.folder.path().join("flashscope");
        fs::copy(env!("CARGO_BIN_EXE_flashscope"), &program).unwrap();
        Some(Self { place, program, home })
    }

    /// A command of root or of the user, as sudo and a login set the environment.
    fn command(&self, is_root: bool, arguments: &[&str]) -> Command {
        let user = NOBODY.to_string();
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", NAMESPACE, "sh"]);
        command.args(["root", "passwd"].map(|name| self.place.folder.path().join(name)));
        if is_root {
            command.env("SUDO_UID", &user);
        } else {
            command.args(["setpriv", "--reuid", &user, "--regid", &user, "--clear-groups"]);
            command.env("HOME", &self.home);
        }
        command.arg(&self.program).args(arguments).stdin(Stdio::null());
        command.current_dir(self.place.folder.path());
        command.env_remove("FLASHSCOPE_JOURNALS").env_remove("XDG_STATE_HOME");
        command
    }

    fn run(&self, is_root: bool, arguments: &[&str]) -> Output {
        let output = self.command(is_root, arguments).output().unwrap();
        if !stderr(&output).contains("is in use") { output } else { self.run(is_root, arguments) }
    }

    /// Leaves a journal of root or of the user.
    fn killed_while_writing(&self, is_root: bool) {
        let arguments = ["bench", "write", self.place.image(), "--scratch", "--yes", "--quiet"];
        let mut command = self.command(is_root, &arguments);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while self.place.is_unchanged() && is_running(&mut child) {}
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!self.place.is_unchanged(), "the process ended before it was killed");
    }
}

/// The user `nobody` of every distribution.
const NOBODY: u32 = 65534;

#[test]
fn user_sees_the_journal_of_root_and_writes_nothing() {
    let Some(users) = Users::new() else { return };
    users.killed_while_writing(true);
    let during = fs::read(&users.place.image).unwrap();
    let erase = ["check", users.place.image(), "--erase", "--yes"];
    let refused = users.run(false, &erase);
    assert_eq!(refused.status.code(), Some(4), "{}", stderr(&refused));
    let message = stderr(&refused);
    assert!(
        message.contains("/var/lib/flashscope") && message.contains("sudo flashscope restore"),
        "{message}"
    );
    let restored = users.run(false, &["restore", "--yes"]);
    assert_eq!(restored.status.code(), Some(2), "{}", stderr(&restored));
    assert!(stderr(&restored).contains("sudo flashscope restore"), "{}", stderr(&restored));
    assert!(fs::read(&users.place.image).unwrap() == during);
    let restored = users.run(true, &["restore", "--yes"]);
    assert_eq!(restored.status.code(), Some(0), "{}", stderr(&restored));
    assert!(users.place.is_unchanged());
    // A folder that nobody may list hides journals.
    set_mode(&users.place.folder.path().join("root"), 0o700);
    let refused = users.run(false, &erase);
    assert_eq!(refused.status.code(), Some(4), "{}", stderr(&refused));
    assert!(users.place.is_unchanged());
}

#[test]
fn root_sees_and_restores_the_journal_of_the_user_who_called_sudo() {
    let Some(users) = Users::new() else { return };
    users.killed_while_writing(false);
    let refused = users.run(true, &["check", users.place.image(), "--erase", "--yes"]);
    assert_eq!(refused.status.code(), Some(4), "{}", stderr(&refused));
    let message = stderr(&refused);
    let folder = users.home.join(".local/state/flashscope");
    assert!(
        message.contains("sudo flashscope restore") && message.contains(folder.to_str().unwrap()),
        "{message}"
    );
    let restored = users.run(true, &["restore", "--yes"]);
    assert_eq!(restored.status.code(), Some(0), "{}", stderr(&restored));
    assert!(users.place.is_unchanged());
    let again = users.run(true, &["restore", "--yes"]);
    assert!(stdout(&again).contains(folder.to_str().unwrap()), "both folders are named: {}", stdout(&again));
}
