//! Options that several commands share.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use flashscope_device::Bytes;

use super::value;
use crate::duration;

/// Where disks are looked for.
#[derive(Debug, Args)]
pub struct Source {
    /// Read DIR instead of this machine: a copy of /sys, or a directory with sys, proc, run and dev in it.
    #[arg(long, value_name = "DIR", env = "FLASHSCOPE_SYSFS")]
    pub sysfs: Option<PathBuf>,
    /// Read mounts from FILE, a copy of /proc/self/mountinfo or /proc/mounts.
    #[arg(long, value_name = "FILE")]
    pub mounts: Option<PathBuf>,
}

/// Where results are written besides standard output.
#[derive(Debug, Args)]
pub struct Output {
    /// Also write FILE: an HTML page (.html) or a run file with all observations (.json). May be repeated.
    #[arg(short = 'o', long = "output", value_name = "FILE", value_parser = value::output_file)]
    pub files: Vec<PathBuf>,
}

/// Permission to write.
#[derive(Debug, Args)]
pub struct Erase {
    /// Run write tests too. All data on the stick, card or image file is lost; asks first. Refuses other
    /// disks and mounted ones.
    #[arg(long, group = "permission")]
    pub erase: bool,
    /// Run write tests too, and put all data back at the end: what is overwritten is saved on this computer
    /// first. Asks first. Refuses what --erase refuses. After a crash, run `flashscope restore`.
    #[arg(long, group = "permission", conflicts_with = "erase")]
    pub scratch: bool,
    /// Do not ask before writing. A disk must be named by /dev/disk/by-id. A loop device needs the path of
    /// its image file: --yes=PATH.
    #[arg(long, requires = "permission", value_name = "PATH", num_args = 0..=1, require_equals = true,
          default_missing_value = "", value_parser = value::yes())]
    pub yes: Option<Yes>,
    /// Overwrite the file even if it looks like no image of a stick: it begins with text, or its size is not
    /// in whole sectors. A swap file is never overwritten.
    #[arg(long, requires = "permission")]
    pub force_image: bool,
}

/// The answer of a command that puts data back.
#[derive(Debug, Args)]
pub struct Answer {
    /// Do not ask. A disk must be named by /dev/disk/by-id. A loop device needs the path of its image
    /// file: --yes=PATH.
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "",
          value_parser = value::yes())]
    pub yes: Option<Yes>,
}

/// The answer given beforehand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Yes {
    /// `--yes`: to a target whose name stays.
    Plain,
    /// `--yes=PATH`: to a loop device over this file.
    Backing(PathBuf),
}

impl Erase {
    /// The option that permits writing, if one is given.
    pub const fn given(&self) -> Option<&'static str> {
        match (self.erase, self.scratch) {
            (true, _) => Some("--erase"),
            (false, true) => Some("--scratch"),
            (false, false) => None,
        }
    }
}

/// Limits of a measurement.
#[derive(Debug, Args)]
pub struct Budgets {
    /// Write at most SIZE. Default: 2 GiB; no limit for bench (2 GiB with --scratch), long streams and
    /// --format flashbench, which print the amount first.
    #[arg(long, value_name = "SIZE")]
    pub write_budget: Option<Bytes>,
    /// Measure for at most TIME on the device's clock: seconds, or a time such as 90s, 5m or 1h30m.
    #[arg(long, value_name = "TIME", value_parser = duration::budget)]
    pub time_budget: Option<Duration>,
}
