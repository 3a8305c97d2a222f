//! Options that several commands share.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use flashscope_device::Bytes;

use super::value;
use crate::duration;

/// The headings of the help, in the order in which they are usually read.
pub mod heading {
    /// Permission to write.
    pub const WRITTEN: &str = "What may be written";
    /// Tests and their parameters.
    pub const MEASURED: &str = "What is measured";
    /// Parameters of a plan.
    pub const PLANNED: &str = "What is planned";
    /// Properties of a virtual stick, and how it is used.
    pub const STICK: &str = "The virtual stick";
    /// Bounds of a measurement.
    pub const LIMITS: &str = "Limits";
    /// What is printed and which files are written.
    pub const OUTPUT: &str = "Output";
    /// Where disks are looked for.
    pub const SOURCE: &str = "Where disks are looked for";
}

/// Where disks are looked for.
#[derive(Debug, Args)]
#[command(next_help_heading = heading::SOURCE)]
pub struct Source {
    /// Read DIR instead of this machine.
    ///
    /// A copy of /sys, or a directory with sys, proc, run and dev in it.
    #[arg(long, value_name = "DIR", env = "FLASHSCOPE_SYSFS", hide_short_help = true)]
    pub sysfs: Option<PathBuf>,
    /// Read mounts from FILE, a copy of /proc/self/mountinfo or /proc/mounts.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub mounts: Option<PathBuf>,
}

/// Where results are written besides standard output.
#[derive(Debug, Args)]
#[command(next_help_heading = heading::OUTPUT)]
pub struct Output {
    /// Also write a page (.html) or a run file (.json).
    ///
    /// The page shows all charts. The run file holds all observations, and `report` prints it again. May be
    /// repeated.
    #[arg(short = 'o', long = "output", value_name = "FILE", value_parser = value::output_file)]
    pub files: Vec<PathBuf>,
}

/// Permission to write.
#[derive(Debug, Args)]
#[command(next_help_heading = heading::WRITTEN)]
pub struct Erase {
    /// Run write tests; all data on the target is lost.
    ///
    /// Asks first. Refuses disks that are not a stick, a card or an image file, and mounted ones.
    #[arg(long, group = "permission")]
    pub erase: bool,
    /// Run write tests, then put all data back.
    ///
    /// What is overwritten is saved on this computer first. Asks first. Refuses what --erase refuses. After
    /// a crash, run `flashscope restore`.
    #[arg(long, group = "permission", conflicts_with = "erase")]
    pub scratch: bool,
    /// Do not ask before writing.
    ///
    /// A disk must be named by /dev/disk/by-id. A loop device needs the path of its image file: --yes=PATH.
    #[arg(long, requires = "permission", hide_short_help = true, value_name = "PATH", num_args = 0..=1, require_equals = true,
          default_missing_value = "", value_parser = value::yes())]
    pub yes: Option<Yes>,
    /// Overwrite the file even if it looks like no image of a stick.
    ///
    /// Such a file begins with text, or its size is not in whole sectors. A swap file is never overwritten.
    #[arg(long, requires = "permission", hide_short_help = true)]
    pub force_image: bool,
}

/// The answer of a command that puts data back.
#[derive(Debug, Args)]
#[command(next_help_heading = heading::WRITTEN)]
pub struct Answer {
    /// Do not ask before writing.
    ///
    /// A disk must be named by /dev/disk/by-id. A loop device needs the path of its image file: --yes=PATH.
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
#[command(next_help_heading = heading::LIMITS)]
pub struct Budgets {
    /// Write at most SIZE, such as 500MiB.
    ///
    /// Default: 2 GiB; no limit for bench and check --class (2 GiB with --scratch), long streams and
    /// --format flashbench, which print the amount first.
    #[arg(long, value_name = "SIZE")]
    pub write_budget: Option<Bytes>,
    /// Measure for at most TIME, such as 90s, 5m or 1h30m.
    ///
    /// The device's own clock counts; a number alone is seconds.
    #[arg(long, value_name = "TIME", value_parser = duration::budget)]
    pub time_budget: Option<Duration>,
}
