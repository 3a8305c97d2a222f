//! Starts QEMU, and reads the exit code of the command in the machine.

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
    /// The initramfs.
    pub initramfs: &'a Path,
    /// Its disks.
    pub disks: Disks<'a>,
    /// Its memory, MiB.
    pub memory_mib: u64,
    /// The longest run time, seconds.
    pub time_limit_s: u32,
    /// The folder for the console's text and the exit code.
    pub folder: &'a Path,
}

/// The disks of a machine.
#[derive(Debug)]
pub struct Disks<'a> {
    /// Arguments for controllers, images and sticks.
    pub sticks: Vec<String>,
    /// An image that the machine reads as /dev/vda.
    pub source: Option<&'a Path>,
}

/// The exit code of `timeout` after the time limit (timeout(1)).
const TIMEOUT_EXIT_CODE: i32 = 124;

/// The kernel's command line. `no_timer_check`: on a busy host the emulated timer is too late for the
/// kernel's check.
const KERNEL_LINE: &str = "console=ttyS0 quiet panic=-1 no_timer_check";

/// QEMU's option that shares the host's files read-only.
const ROOT: &str = "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap";

/// The lines of the console in the error message when the machine stopped without an exit code. Guess: a
/// kernel panic fits.
const LINES_MAX: usize = 12;

impl Machine<'_> {
    /// Runs the machine until it turns itself off, and returns the command's exit code. Standard output
    /// appears at once, standard error at the end, because QEMU would truncate the file behind it.
    pub fn run(&self) -> anyhow::Result<i32> {
        let (console, code) = (self.folder.join("console"), self.folder.join("code"));
        let status = self
            .qemu(&console, &code)
            .status()
            .context("cannot start timeout (coreutils) with qemu-system-x86_64")?;
        std::io::stderr().write_all(&fs::read(self.stderr_file()).unwrap_or_default())?;
        if status.code() == Some(TIMEOUT_EXIT_CODE) {
            bail!("the time limit of {} s was reached; see --time-limit", self.time_limit_s);
        }
        let code_text = fs::read_to_string(&code).unwrap_or_default();
        code_text.trim().parse().map_err(|_| {
            let console = fs::read(&console).unwrap_or_default();
            let console = String::from_utf8_lossy(&console);
            let lines: Vec<&str> = console.lines().collect();
            let last = lines[lines.len().saturating_sub(LINES_MAX)..].join("\n  ");
            anyhow::anyhow!(
                "the machine stopped ({status}) before the command ended; its last console lines:\n  {last}"
            )
        })
    }

    /// The file for the command's standard error.
    fn stderr_file(&self) -> PathBuf {
        self.folder.join("stderr")
    }

    /// QEMU's command. `timeout` stops a machine that hangs; only with `--foreground` does Ctrl-C reach QEMU.
    fn qemu(&self, console: &Path, code: &Path) -> Command {
        let mut qemu = Command::new("timeout");
        qemu.args(["--foreground", &self.time_limit_s.to_string(), "qemu-system-x86_64"])
            .args(["-accel", "tcg", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"])
            .arg("-kernel")
            .arg(self.kernel)
            .arg("-initrd")
            .arg(self.initramfs)
            .args(["-append", KERNEL_LINE, "-fsdev", ROOT])
            .args(["-device", "virtio-9p-pci,fsdev=root,mount_tag=root"])
            .args(["-m", &self.memory_mib.to_string()])
            .args(&self.disks.sticks)
            .args(self.disks.source.iter().flat_map(|image| {
                let drive = format!("if=virtio,format=raw,readonly=on,file={}", image.display());
                ["-drive".to_owned(), drive]
            }))
            .args(["-serial", &format!("file:{}", console.display()), "-serial", "stdio"])
            .args(["-serial", &format!("file:{}", self.stderr_file().display())])
            .args(["-serial", &format!("file:{}", code.display())])
            .stdin(Stdio::null());
        qemu
    }
}
