//! `flashscope fs compare`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use flashscope_device::Bytes;
use flashscope_record::TrialWorkload;

use super::factor::{FactorChoice, factor};
use crate::args::shared::{Yes, heading};
use crate::args::value;
use crate::duration;

pub(in crate::args) const EXAMPLES: &str = "\
Examples:
  flashscope fs compare sim:generic-2g
  sudo flashscope fs compare /dev/sdX                               all data is lost
  sudo flashscope fs compare /dev/sdX --filesystems vfat,ext4 --like ~/music
  flashscope fs compare sim:transcend-8g --filesystems ext4,ext4-stripe,vfat --workloads tree
  flashscope fs compare sim:transcend-8g --partition-start 63s      as sold: misaligned
  flashscope fs compare sim:transcend-8g --factors alignment,stripe,filesystem
  flashscope fs compare sim:a1-card-64g -o page.html";

/// `flashscope fs compare`
#[derive(Debug, Args)]
pub struct FsCompare {
    /// A disk, partition or loop device, or sim:NAME.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// Only these, such as ext4,vfat.
    ///
    /// Default: all that there are; a wrong name lists them. On a disk: all whose program and driver are
    /// installed.
    #[arg(help_heading = heading::MEASURED, long, value_name = "LIST", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub filesystems: Vec<String>,
    /// Only these files: tree, large, small.
    ///
    /// tree: 33,000 files of a source tree; large: one file of 64 MiB; small: 2,000 files of at most 2 KiB.
    #[arg(help_heading = heading::MEASURED, long, value_name = "LIST", value_delimiter = ',', value_parser = value::workload)]
    pub workloads: Vec<TrialWorkload>,
    /// On a disk: files like those below DIR.
    ///
    /// Of the same sizes; at most 2000, drawn at random. Their content is not copied.
    #[arg(help_heading = heading::MEASURED, long, value_name = "DIR")]
    pub like: Option<PathBuf>,
    /// The first byte or sector: 4MiB or 63s.
    ///
    /// Of the partition or filesystem. Default: on an erase block, at 1 MiB or above.
    #[arg(help_heading = heading::MEASURED, long, value_name = "START", value_parser = value::partition_start)]
    pub partition_start: Option<Bytes>,
    /// Which matters: alignment,stripe,filesystem.
    ///
    /// Alone and together. alignment: sector 63 or --partition-start; stripe: none or that of the erase
    /// block; filesystem: vfat or ext4, others with filesystem=ext2:f2fs. Without filesystem, --filesystems
    /// names the only one (ext4).
    #[arg(help_heading = heading::MEASURED, long, value_name = "LIST", value_delimiter = ',', value_parser = factor)]
    pub factors: Vec<FactorChoice>,
    /// The rounds of each.
    ///
    /// From 1 to 100. Default: all recordings, which are 1 to 5. On a disk: 3 to 9, until it is clear which
    /// is the fastest.
    #[arg(help_heading = heading::MEASURED, long, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: Option<u32>,
    /// Random seed; round after round counts up from it.
    ///
    /// Default: that of the virtual stick; 1 on a disk, where it shuffles the order.
    #[arg(help_heading = heading::MEASURED, long, hide_short_help = true, value_name = "N")]
    pub seed: Option<u64>,
    /// Start no round on a disk that would end later. Default: 10m.
    ///
    /// Seconds, or a time such as 90s, 5m or 1h30m. The first round always runs, with fewer files if need be.
    #[arg(help_heading = heading::LIMITS, long, hide_short_help = true, value_name = "TIME", value_parser = duration::budget)]
    pub time_budget: Option<Duration>,
    /// The erase block that filesystems on a disk are planned for; otherwise measured with reads.
    #[arg(help_heading = heading::MEASURED, long, hide_short_help = true, value_name = "SIZE", value_parser = value::erase_block)]
    pub erase_block: Option<Bytes>,
    /// Do not ask before erasing.
    ///
    /// A disk must be named by /dev/disk/by-id. A loop device needs the path of its image file: --yes=PATH.
    #[arg(help_heading = heading::WRITTEN, long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "",
          value_parser = value::yes())]
    pub yes: Option<Yes>,
    /// Replay the recordings in DIR.
    ///
    /// Instead of the built-in ones. The folder has an index, recordings.toml.
    #[arg(help_heading = heading::STICK, long, value_name = "DIR")]
    pub recordings: Option<PathBuf>,
    /// Print all times, charts and conditions.
    #[arg(help_heading = heading::OUTPUT, long, hide_short_help = true)]
    pub details: bool,
    /// Also write a page (.html) or the JSON document (.json).
    ///
    /// May be repeated.
    #[arg(help_heading = heading::OUTPUT, short = 'o', long = "output", value_name = "FILE", value_parser = value::page_or_document)]
    pub output: Vec<PathBuf>,
}
