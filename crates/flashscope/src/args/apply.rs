//! `flashscope apply`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::shared::{Yes, heading};
use super::value;

pub(super) const EXAMPLES: &str = "\
Examples:
  flashscope plan sim:transcend-8g --for share -o plan.json     a plan to look at
  sudo flashscope apply plan.json                               asks, then writes
  sudo flashscope apply plan.json -o before.undo                names the undo file
  sudo flashscope apply plan.json --target /dev/sdX             the disk has another name now";

/// `flashscope apply`
#[derive(Debug, Args)]
pub struct Apply {
    /// A plan of `flashscope plan -o PLAN.json`.
    #[arg(value_name = "PLAN.json")]
    pub plan: PathBuf,
    /// Where the disk is now, if its name changed.
    #[arg(help_heading = heading::WRITTEN, long, value_name = "TARGET", value_parser = NonEmptyStringValueParser::new())]
    pub target: Option<String>,
    /// Write the undo file to FILE.
    ///
    /// It holds everything that is overwritten. Default: a new file in the current directory.
    #[arg(help_heading = heading::OUTPUT, short = 'o', long = "output", alias = "undo-file", value_name = "FILE")]
    pub undo_file: Option<PathBuf>,
    /// Do not ask before erasing.
    ///
    /// A disk must be named by /dev/disk/by-id. A loop device needs the path of its image file: --yes=PATH.
    #[arg(help_heading = heading::WRITTEN, long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "",
          value_parser = value::yes())]
    pub yes: Option<Yes>,
    /// Overwrite the file even if it looks like no image of a stick.
    ///
    /// Such a file begins with text, or its size is not in whole sectors. A swap file is never overwritten.
    #[arg(help_heading = heading::WRITTEN, long, hide_short_help = true)]
    pub force_image: bool,
}
