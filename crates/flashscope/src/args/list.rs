//! `flashscope list`.

use clap::Args;

use super::shared::{Source, heading};

pub(super) const EXAMPLES: &str = "\
Examples:
  flashscope list                          what is plugged in
  flashscope list --watch                  what is plugged in and unplugged, until Ctrl-C
  flashscope list --all --json             every disk, for scripts
  flashscope list --sysfs copy-of-a-machine";

/// `flashscope list`
#[derive(Debug, Args)]
pub struct List {
    /// List every disk, also internal disks and loop devices.
    #[arg(help_heading = heading::OUTPUT, long)]
    pub all: bool,
    /// Keep running and print what changes, until Ctrl-C.
    ///
    /// What is plugged in, unplugged or mounted. With --json, one document a line.
    #[arg(help_heading = heading::OUTPUT, long)]
    pub watch: bool,
    /// Where disks are looked for.
    #[command(flatten)]
    pub source: Source,
}
