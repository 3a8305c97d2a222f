//! `flashscope fs compare`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use flashscope_device::Bytes;
use flashscope_record::TrialWorkload;

use crate::args::shared::heading;
use crate::args::value;

pub(in crate::args) const EXAMPLES: &str = "\
Examples:
  flashscope fs compare sim:generic-2g
  flashscope fs compare sim:transcend-8g --filesystems ext4,ext4-stripe,vfat --workloads tree
  flashscope fs compare sim:transcend-8g --partition-start 63s      as sold: misaligned
  flashscope fs compare sim:my-stick.toml -o page.html";

/// `flashscope fs compare`
#[derive(Debug, Args)]
pub struct FsCompare {
    /// A virtual stick.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// Only these, such as ext4,vfat.
    ///
    /// Default: all that there are; a wrong name lists them.
    #[arg(help_heading = heading::MEASURED, long, value_name = "LIST", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub filesystems: Vec<String>,
    /// Only these files: tree, large, small.
    ///
    /// tree: 33,000 files of a source tree; large: one file of 64 MiB; small: 2,000 files of at most 2 KiB.
    #[arg(help_heading = heading::MEASURED, long, value_name = "LIST", value_delimiter = ',', value_parser = value::workload)]
    pub workloads: Vec<TrialWorkload>,
    /// The first byte or sector: 4MiB or 63s.
    ///
    /// Of the partition or filesystem. Default: on an erase block, at 1 MiB or above.
    #[arg(help_heading = heading::MEASURED, long, value_name = "START", value_parser = value::partition_start)]
    pub partition_start: Option<Bytes>,
    /// The most rounds of each.
    ///
    /// From 1 to 100. Default: all recordings, which are 1 to 5.
    #[arg(help_heading = heading::MEASURED, long, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: Option<u32>,
    /// Random seed; round after round counts up from it.
    ///
    /// Default: that of the virtual stick.
    #[arg(help_heading = heading::MEASURED, long, hide_short_help = true, value_name = "N")]
    pub seed: Option<u64>,
    /// Replay the recordings in DIR.
    ///
    /// Instead of the built-in ones. The folder has an index, recordings.toml.
    #[arg(help_heading = heading::STICK, long, value_name = "DIR")]
    pub recordings: Option<PathBuf>,
    /// Print all times, charts and conditions.
    #[arg(help_heading = heading::OUTPUT, long)]
    pub details: bool,
    /// Also write a page (.html) or the JSON document (.json).
    ///
    /// May be repeated.
    #[arg(help_heading = heading::OUTPUT, short = 'o', long = "output", value_name = "FILE", value_parser = value::page_or_document)]
    pub output: Vec<PathBuf>,
}
