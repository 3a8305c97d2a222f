//! `flashscope import`.

use std::path::PathBuf;

use clap::Args;

use super::shared::{Output, heading};

pub(super) const EXAMPLES: &str = "\
Examples:
  flashscope import flashbench.log              findings from a published log
  flashscope import --brief *.log               one line for each log
  flashscope import --one-device align.log open-au.log
  flashscope import fio.json -o run.json        speeds that fio measured, as a run file";

/// `flashscope import`
#[derive(Debug, Args)]
pub struct Import {
    /// A log of flashbench, fio (JSON), f3, KDiskMark or GNOME Disks.
    ///
    /// `-` is standard input. Several logs need --brief or --one-device.
    #[arg(value_name = "LOG", required = true)]
    pub logs: Vec<PathBuf>,
    /// Print one line for each log: its findings, or why not.
    #[arg(help_heading = heading::OUTPUT, long, conflicts_with_all = ["json", "files"])]
    pub brief: bool,
    /// Combine all logs: they are of the same device.
    #[arg(help_heading = heading::MEASURED, long)]
    pub one_device: bool,
    /// The column of a table with one column for each device.
    ///
    /// Counted from 1.
    #[arg(help_heading = heading::MEASURED, long, value_name = "NUMBER", conflicts_with = "brief")]
    pub column: Option<usize>,
    /// Where results are written.
    #[command(flatten)]
    pub output: Output,
}
