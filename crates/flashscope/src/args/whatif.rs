//! `flashscope whatif`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use flashscope_record::TrialWorkload;

use super::shared::heading;
use super::value;

pub(super) const EXAMPLES: &str = "\
Examples:
  flashscope whatif sim:transcend-8g
  sudo flashscope check /dev/sdX --scratch -o run.json
  flashscope whatif run.json                   the stick of that check
  flashscope whatif run.json --workloads tree -o page.html";

/// `flashscope whatif`
#[derive(Debug, Args)]
pub struct Whatif {
    /// A run file of `check` with writes, or sim:NAME, which is checked first.
    #[arg(value_name = "RUN|TARGET", value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// Predict only these, such as ext4,ext4-stripe,vfat.
    ///
    /// Default: all that were recorded. The present one is always among them.
    #[arg(help_heading = heading::MEASURED, long, value_name = "LIST", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub filesystems: Vec<String>,
    /// Predict only with these files: tree, large, small.
    ///
    /// tree: 33,000 files of a source tree; large: one file of 64 MiB; small: 2,000 files of at most 2 KiB.
    #[arg(help_heading = heading::MEASURED, long, value_name = "LIST", value_delimiter = ',', value_parser = value::workload)]
    pub workloads: Vec<TrialWorkload>,
    /// The most rounds of each.
    ///
    /// From 1 to 100. Default: all recordings, which are 1 to 5.
    #[arg(help_heading = heading::MEASURED, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: Option<u32>,
    /// Random seed of the check of a virtual stick, and of the twin.
    #[arg(help_heading = heading::MEASURED, long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Replay the recordings in DIR instead of the built-in ones.
    ///
    /// The folder has an index, recordings.toml.
    #[arg(help_heading = heading::STICK, long, value_name = "DIR")]
    pub recordings: Option<PathBuf>,
    /// Print every layout with its interval, and reads.
    #[arg(help_heading = heading::OUTPUT, long, hide_short_help = true)]
    pub details: bool,
    /// Also write a page (.html) or the JSON document (.json). May be repeated.
    #[arg(help_heading = heading::OUTPUT, short = 'o', long = "output", value_name = "FILE", value_parser = value::page_or_document)]
    pub output: Vec<PathBuf>,
}
