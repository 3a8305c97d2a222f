//! QEMU's machine: how it is started, and how the command in it ended.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

/// A machine that runs one command.
#[derive(Debug)]
pub struct Machine<'a> {
    /// The kernel.
    pub kernel: &'a Path,
    /// Its first filesystem.
    pub initramfs: &'a Path,
    /// Arguments for controllers, images and sticks.
    pub sticks: Vec<String>,
    /// How long it may run.
    pub time_limit_s: u32,
    /// Where the console's text and the exit code are kept.
    pub folder: &'a Path,
}

/// `timeout`'s exit code where time was up (timeout(1)).
const TIME_WAS_UP: i32 = 124;

/// `no_timer_check`: on a busy host the emulated timer comes too late for the kernel's check.
const KERNEL_LINE: &str = "console=ttyS0 quiet panic=-1 no_timer_check";

/// The host's files, as they are, for reading.
const ROOT: &str = "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap";

/// So much of the console is shown when the machine ended without a word.
const LINES_MAX: usize = 12;

impl Machine<'_> {
    /// Runs it until it turns itself off. Results come as they are made; talk at the end, because QEMU would open standard error
    /// anew and write over what is there. Returns the command's exit code.
    pub fn run(&self) -> anyhow::Result<i32> {
        let (console, code) = (self.folder.join("console"), self.folder.join("code"));
        let status = self
            .qemu(&console, &code)
            .status()
            .context("cannot start timeout (coreutils) with qemu-system-x86_64")?;
        std::io::stderr().write_all(&fs::read(self.talk()).unwrap_or_default())?;
        if status.code() == Some(TIME_WAS_UP) {
            bail!("time was up after {} s; --time-limit gives more", self.time_limit_s);
        }
        let said = fs::read_to_string(&code).unwrap_or_default();
        said.trim().parse().map_err(|_| {
            let console = fs::read(&console).unwrap_or_default();
            let console = String::from_utf8_lossy(&console);
            let lines: Vec<&str> = console.lines().collect();
            let last = lines[lines.len().saturating_sub(LINES_MAX)..].join("\n  ");
            anyhow::anyhow!(
                "the machine ended ({status}) before the command did; the last of its console:\n  {last}"
            )
        })
    }

    /// Where the command's standard error goes.
    fn talk(&self) -> PathBuf {
        self.folder.join("talk")
    }

    /// `timeout` ends a machine that hangs; without a terminal of its own (`--foreground`) Ctrl-C would not reach QEMU.
    fn qemu(&self, console: &Path, code: &Path) -> Command {
        let mut qemu = Command::new("timeout");
        qemu.args(["--foreground", &self.time_limit_s.to_string(), "qemu-system-x86_64"])
            .args([
                "-accel",
                "tcg",
                "-m",
                "512",
                "-nodefaults",
                "-no-user-config",
                "-display",
                "none",
                "-no-reboot",
            ])
            .arg("-kernel")
            .arg(self.kernel)
            .arg("-initrd")
            .arg(self.initramfs)
            .args(["-append", KERNEL_LINE, "-fsdev", ROOT])
            .args(["-device", "virtio-9p-pci,fsdev=root,mount_tag=root"])
            .args(&self.sticks)
            .args(["-serial", &format!("file:{}", console.display()), "-serial", "stdio"])
            .args(["-serial", &format!("file:{}", self.talk().display())])
            .args(["-serial", &format!("file:{}", code.display())])
            .stdin(Stdio::null());
        qemu
    }
}
