//! `flashscope bench cache`.

use std::time::Duration;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::args::shared::heading;
use crate::duration;

pub(in crate::args) const EXAMPLES: &str = "\
Examples:
  sudo flashscope bench cache /dev/sdX
  sudo flashscope bench cache /dev/sdX --switch-cache
  flashscope bench cache stick.img --seconds 1 --rounds 1";

/// `flashscope bench cache`
#[derive(Debug, Args)]
pub struct BenchCache {
    /// A disk, a partition or an image file.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// How long each layer is read in a round.
    ///
    /// From 1 to 60 seconds.
    #[arg(help_heading = heading::MEASURED, long, value_name = "SECONDS", default_value = "3", value_parser = duration::reading)]
    pub seconds: Duration,
    /// The number of rounds.
    ///
    /// From 1 to 100.
    #[arg(help_heading = heading::MEASURED, long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: u32,
    /// Also read with the drive's write cache on and off.
    ///
    /// Then restores it. Needs root and a SCSI disk.
    #[arg(help_heading = heading::MEASURED, long)]
    pub switch_cache: bool,
}
