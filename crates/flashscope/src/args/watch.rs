//! `flashscope watch`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::shared::Source;
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
    #[arg(long)]
    pub once: bool,
    /// Print one line an interval, and exit once nothing waits for the disks in memory.
    #[arg(long, conflicts_with = "once")]
    pub until_safe: bool,
    /// Print how much written data should wait in memory for DEVICE at most, as a udev rule to paste, and
    /// exit. Uses the write speed of one interval, or that of --run.
    #[arg(long, requires = "device", conflicts_with_all = ["once", "until_safe"])]
    pub limit: bool,
    /// The run file of a check or benchmark of DEVICE, for its write speed.
    #[arg(long, value_name = "FILE", requires = "limit")]
    pub run: Option<PathBuf>,
    /// The length of an interval, from 0.1 s to 1 minute: seconds, or a time such as 500ms.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration::interval)]
    pub interval: Duration,
    /// Where disks are looked for.
    #[command(flatten)]
    pub source: Source,
}
