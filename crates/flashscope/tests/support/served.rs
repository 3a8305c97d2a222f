//! Served sticks for tests.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{schema, skip};

/// `flashscope sim serve … --json`, stopped when dropped.
pub struct Served {
    child: Child,
    stdout: BufReader<ChildStdout>,
    pub file: PathBuf,
    pub block_device: Option<PathBuf>,
}

impl Served {
    /// Serves a stick; `None`, with a message, if that is not possible here.
    pub fn start(arguments: &[&str]) -> Option<Self> {
        Self::start_with(arguments, &[])
    }

    /// The same, with these environment variables.
    pub fn start_with(arguments: &[&str], variables: &[(&str, &str)]) -> Option<Self> {
        if !rustix::process::geteuid().is_root() || !Path::new("/dev/fuse").exists() {
            skip("serving a stick in tests needs root and /dev/fuse");
            return None;
        }
        if arguments.contains(&"--loop") && !Path::new("/dev/loop-control").exists() {
            skip("no loop devices here");
            return None;
        }
        let mut child = Command::new(env!("CARGO_BIN_EXE_flashscope"))
            .args(["sim", "serve", "--json"])
            .args(arguments)
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap_or_default();
        assert!(!ready.is_null(), "{arguments:?}: {}", messages(&mut child));
        schema::assert_valid("sim-serving", &ready);
        let path = |key: &str| ready["serving"][key].as_str().map(PathBuf::from);
        Some(Self { child, stdout, file: path("file").unwrap(), block_device: path("block_device") })
    }

    pub fn block_device(&self) -> &str {
        self.block_device.as_ref().unwrap().to_str().unwrap()
    }

    /// `--yes` with the path of the file under the block device.
    pub fn yes(&self) -> String {
        format!("--yes={}", self.file.display())
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Stops it with SIGTERM; its last document, and its messages.
    pub fn stop(mut self) -> (Value, String) {
        self.signal(Signal::TERM);
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let messages = messages(&mut self.child);
        let status = self.child.wait().unwrap();
        assert_eq!(status.code(), Some(0), "{messages}");
        let account = serde_json::from_str(&line).unwrap();
        schema::assert_valid("sim-served", &account);
        (account, messages)
    }

    /// Kills it, so that it cannot clean up.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if self.child.try_wait().unwrap().is_none() {
            self.signal(Signal::TERM);
            self.child.wait().unwrap();
        }
    }
}

/// Its messages on standard error.
fn messages(child: &mut Child) -> String {
    let mut messages = String::new();
    child.stderr.take().unwrap().read_to_string(&mut messages).unwrap();
    messages
}

/// A mounted filesystem, unmounted when dropped.
pub struct Mounted(tempfile::TempDir);

impl Mounted {
    pub fn from(device: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        run("mount", &[device, folder.path().to_str().unwrap()]);
        Self(folder)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let status = Command::new("umount").arg(self.path()).status();
        assert!(status.is_ok_and(|status| status.success()) || std::thread::panicking());
    }
}

/// Runs a program that must succeed.
pub fn run(program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().unwrap();
    let messages = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&messages));
}

/// Whether a program is installed; prints a message if not.
pub fn has(program: &str) -> bool {
    let found = Command::new("which").arg(program).stdout(Stdio::null()).status();
    let is_there = found.is_ok_and(|status| status.success());
    if !is_there {
        skip(&format!("{program} is not installed"));
    }
    is_there
}

/// All mounts and loop devices.
pub fn mounts_and_loops() -> String {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let loops = Command::new("losetup").arg("--list").output().unwrap();
    mounts + &String::from_utf8(loops.stdout).unwrap()
}
