//! `flashscope restore`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::shared::Yes;
use super::value;

/// `flashscope restore`
#[derive(Debug, Args)]
pub struct Restore {
    /// The journal. Default: the one of a stick that is plugged in.
    pub file: Option<PathBuf>,
    /// Where the stick is now, if its name changed since the measurement.
    #[arg(long, value_name = "TARGET", value_parser = NonEmptyStringValueParser::new())]
    pub target: Option<String>,
    /// Restore even if the stick was written since, or cannot be recognised. Its size must be the same.
    #[arg(long)]
    pub force: bool,
    /// Do not ask. A disk must be named by /dev/disk/by-id. A loop device needs the path of its image
    /// file: --yes=PATH.
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "",
          value_parser = value::yes())]
    pub yes: Option<Yes>,
}
