//! `flashscope undo`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::shared::Yes;
use super::value;

/// `flashscope undo`
#[derive(Debug, Args)]
pub struct Undo {
    /// The undo file that `flashscope apply` named.
    pub file: PathBuf,
    /// Where the disk is now, if its name changed since the plan was applied.
    #[arg(long, value_name = "TARGET", value_parser = NonEmptyStringValueParser::new())]
    pub target: Option<String>,
    /// Restore although the disk does not look like the one that was saved.
    #[arg(long)]
    pub force: bool,
    /// Do not ask. A disk must be named by /dev/disk/by-id. A loop device needs the path of its image
    /// file: --yes=PATH.
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "",
          value_parser = value::yes())]
    pub yes: Option<Yes>,
}
