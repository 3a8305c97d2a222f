//! `flashscope undo`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::shared::Answer;

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
    /// The answer given beforehand.
    #[command(flatten)]
    pub answer: Answer,
}
