//! `flashscope watch`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::shared::{Source, heading};
use crate::duration;

pub(super) const EXAMPLES: &str = "\
Examples:
  flashscope watch                         every stick and card, until q or Ctrl-C
  sudo flashscope watch /dev/sdX           one disk, with its own waiting data
  flashscope watch /media/stick --once     one sample, over one second
  flashscope watch --once --json           the same for scripts
  sudo flashscope watch sdX --until-safe   wait until nothing waits for this disk
  flashscope watch sdX --limit --run r.json   a udev rule that bounds that wait";

/// `flashscope watch`
#[derive(Debug, Args)]
pub struct Watch {
    /// A disk, one of its partitions, or the directory where it is mounted.
    pub device: Option<PathBuf>,
    /// Print one interval and exit.
    #[arg(help_heading = heading::OUTPUT, long)]
    pub once: bool,
    /// Exit once nothing waits for the disks in memory.
    ///
    /// Prints one line an interval.
    #[arg(help_heading = heading::OUTPUT, long, conflicts_with = "once")]
    pub until_safe: bool,
    /// Print a udev rule that limits what waits in memory.
    ///
    /// How much written data should wait for DEVICE at most, as a rule to paste. Uses the write speed of one
    /// interval, or that of --run.
    #[arg(help_heading = heading::OUTPUT, long, requires = "device", conflicts_with_all = ["once", "until_safe"])]
    pub limit: bool,
    /// The run file of a check or benchmark of DEVICE, for --limit.
    #[arg(help_heading = heading::OUTPUT, long, value_name = "FILE", requires = "limit")]
    pub run: Option<PathBuf>,
    /// The length of an interval, such as 500ms.
    ///
    /// From 0.1 s to 1 minute; a number alone is seconds.
    #[arg(help_heading = heading::OUTPUT, long, value_name = "TIME", default_value = "1s", value_parser = duration::interval)]
    pub interval: Duration,
    /// Where disks are looked for.
    #[command(flatten)]
    pub source: Source,
}
