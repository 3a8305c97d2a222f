//! `flashscope import`.

use std::path::PathBuf;

use clap::Args;

use super::shared::Output;

/// `flashscope import`
#[derive(Debug, Args)]
pub struct Import {
    /// The log of flashbench, or the output of fio (JSON), f3, KDiskMark or GNOME Disks; - for standard
    /// input. Several logs need --brief or --one-device.
    #[arg(value_name = "LOG", required = true)]
    pub logs: Vec<PathBuf>,
    /// Print one line for each log: its findings, or why there are none.
    #[arg(long, conflicts_with_all = ["json", "files"])]
    pub brief: bool,
    /// Combine all logs: they are of the same device.
    #[arg(long)]
    pub one_device: bool,
    /// The device in this column of a table with one column for each device, counted from 1.
    #[arg(long, value_name = "NUMBER", conflicts_with = "brief")]
    pub column: Option<usize>,
    /// Where results are written.
    #[command(flatten)]
    pub output: Output,
}
