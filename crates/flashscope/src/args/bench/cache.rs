//! `flashscope bench cache`.

use std::time::Duration;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::duration;

/// `flashscope bench cache`
#[derive(Debug, Args)]
pub struct BenchCache {
    /// A disk, a partition or an image file.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// How long each layer is read in a round, from 1 to 60 seconds.
    #[arg(long, value_name = "SECONDS", default_value = "3", value_parser = duration::reading)]
    pub seconds: Duration,
    /// The number of rounds, from 1 to 100.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: u32,
    /// Also read with the drive's write cache on and off, then restore it. Needs root and a SCSI disk.
    #[arg(long)]
    pub switch_cache: bool,
}
