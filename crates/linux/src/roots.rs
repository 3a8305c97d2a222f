//! Where to read what is known of disks: this machine, or a copy of another one's trees.

use std::path::{Path, PathBuf};

/// Where to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// The sysfs tree.
    pub sysfs: PathBuf,
    /// The list of mounts, in the form of `/proc/self/mountinfo` or `/proc/mounts`.
    pub mounts: PathBuf,
    /// udev's database: what it found in partitions, readable for everybody.
    pub udev: PathBuf,
    /// The device files, whose first bytes tell of filesystems, if one may read them; `None` if disks are to be left alone.
    pub devices: Option<PathBuf>,
    /// What is known of processes and memory.
    pub proc: PathBuf,
}

impl Default for Roots {
    /// Those of this machine.
    fn default() -> Self {
        Self {
            sysfs: "/sys".into(),
            mounts: "/proc/self/mountinfo".into(),
            udev: "/run/udev/data".into(),
            devices: Some("/dev".into()),
            proc: "/proc".into(),
        }
    }
}

impl Roots {
    /// A copy: `directory` is one of `/sys`, or holds `sys`, and maybe `proc`, `run` and `dev` beside it. Nothing of this
    /// machine is read.
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
        }
    }

    /// Whether these are this machine's own.
    #[must_use]
    pub fn are_live(&self) -> bool {
        self.sysfs == Path::new("/sys")
    }
}
