//! `flashscope restore`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::shared::Answer;

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
    /// The answer given beforehand.
    #[command(flatten)]
    pub answer: Answer,
}
