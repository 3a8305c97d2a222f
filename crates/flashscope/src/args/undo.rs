//! `flashscope undo`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::shared::{Answer, heading};

pub(super) const EXAMPLES: &str = "\
Examples:
  sudo flashscope undo before.undo                     asks, then writes
  sudo flashscope undo before.undo --target /dev/sdX   the disk has another name now";

/// `flashscope undo`
#[derive(Debug, Args)]
pub struct Undo {
    /// The undo file that `flashscope apply` named.
    pub file: PathBuf,
    /// Where the disk is now, if its name changed.
    #[arg(help_heading = heading::WRITTEN, long, value_name = "TARGET", value_parser = NonEmptyStringValueParser::new())]
    pub target: Option<String>,
    /// Restore even if the disk does not look like the saved one.
    #[arg(help_heading = heading::WRITTEN, long)]
    pub force: bool,
    /// The answer given beforehand.
    #[command(flatten)]
    pub answer: Answer,
}
