//! Where disk information is read from: this machine, or a copy of another machine's trees.

use std::path::{Path, PathBuf};

/// Where to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// The sysfs tree.
    pub sysfs: PathBuf,
    /// The list of mounts, in the form of `/proc/self/mountinfo` or `/proc/mounts`.
    pub mounts: PathBuf,
    /// udev's database: the filesystems it found, readable for everybody.
    pub udev: PathBuf,
    /// The device files, whose first bytes identify filesystems. `None` if disks must not be read.
    pub devices: Option<PathBuf>,
    /// The tree with processes and memory.
    pub proc: PathBuf,
    /// The directories with modprobe's settings, the most important first.
    pub modprobe: Vec<PathBuf>,
    /// The kernel's log, a file with one record a line in the form of `/dev/kmsg`. `None` if it must not be
    /// read.
    pub kernel_log: Option<PathBuf>,
}

/// The directories with modprobe's settings (modprobe.d(5)).
const MODPROBE: [&str; 4] = ["etc/modprobe.d", "run/modprobe.d", "usr/lib/modprobe.d", "lib/modprobe.d"];

impl Default for Roots {
    /// This machine.
    fn default() -> Self {
        Self {
            sysfs: "/sys".into(),
            mounts: "/proc/self/mountinfo".into(),
            udev: "/run/udev/data".into(),
            devices: Some("/dev".into()),
            proc: "/proc".into(),
            modprobe: MODPROBE.map(|directory| Path::new("/").join(directory)).to_vec(),
            kernel_log: Some("/dev/kmsg".into()),
        }
    }
}

impl Roots {
    /// A copy: `directory` is a copy of `/sys`, or holds `sys`, and optionally `proc`, `run`, `etc` and
    /// `dev`.
    /// Nothing of this machine is read.
    #[must_use]
    pub fn copy(directory: &Path) -> Self {
        let holds_sysfs = directory.join("sys").is_dir() && !directory.join("block").is_dir();
        let (sysfs, beside) = if holds_sysfs {
            (directory.join("sys"), directory.to_owned())
        } else {
            (directory.to_owned(), directory.join(".."))
        };
        let lists = ["proc/self/mountinfo", "proc/mounts"].map(|list| beside.join(list));
        let [detailed, plain] = lists;
        Self {
            sysfs,
            mounts: if detailed.is_file() { detailed } else { plain },
            udev: beside.join("run/udev/data"),
            devices: Some(beside.join("dev")),
            proc: beside.join("proc"),
            modprobe: MODPROBE.map(|directory| beside.join(directory)).to_vec(),
            kernel_log: Some(beside.join("dev/kmsg")),
        }
    }

    /// Whether these are this machine's own trees.
    #[must_use]
    pub fn are_live(&self) -> bool {
        self.sysfs == Path::new("/sys")
    }
}
