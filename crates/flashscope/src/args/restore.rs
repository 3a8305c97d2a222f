//! `flashscope restore`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::shared::{Answer, heading};

pub(super) const EXAMPLES: &str = "\
Examples:
  sudo flashscope restore                       the stick that is plugged in
  sudo flashscope restore FILE                  this journal
  sudo flashscope restore --target /dev/sdX     the stick has another name now";

/// `flashscope restore`
#[derive(Debug, Args)]
pub struct Restore {
    /// The journal. Default: the one of a stick that is plugged in.
    pub file: Option<PathBuf>,
    /// Where the stick is now, if its name changed.
    #[arg(help_heading = heading::WRITTEN, long, value_name = "TARGET", value_parser = NonEmptyStringValueParser::new())]
    pub target: Option<String>,
    /// Restore even if the stick changed or is not recognised.
    ///
    /// Its size must be the same.
    #[arg(help_heading = heading::WRITTEN, long)]
    pub force: bool,
    /// The answer given beforehand.
    #[command(flatten)]
    pub answer: Answer,
}
