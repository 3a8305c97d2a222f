//! `flashscope apply`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::shared::Yes;
use super::value;

/// `flashscope apply`
#[derive(Debug, Args)]
pub struct Apply {
    /// A plan of `flashscope plan -o PLAN.json`.
    #[arg(value_name = "PLAN.json")]
    pub plan: PathBuf,
    /// Where the disk is now, if its name changed since the plan was made.
    #[arg(long, value_name = "TARGET", value_parser = NonEmptyStringValueParser::new())]
    pub target: Option<String>,
    /// Where to save what undo needs. Default: a new file in the current directory.
    #[arg(long, value_name = "FILE")]
    pub undo_file: Option<PathBuf>,
    /// Do not ask before erasing. A disk must be named by /dev/disk/by-id. A loop device needs the path of
    /// its image file: --yes=PATH.
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "",
          value_parser = value::yes())]
    pub yes: Option<Yes>,
    /// Overwrite the file even if it looks like no image of a stick: it begins with text, or its size is not
    /// in whole sectors. A swap file is never overwritten.
    #[arg(long)]
    pub force_image: bool,
}
