//! `flashscope bench methods`.

use std::time::Duration;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use flashscope_device::Bytes;

use crate::args::shared::{Erase, Output, heading};
use crate::args::value;
use crate::duration;

pub(in crate::args) const EXAMPLES: &str = "\
Examples:
  flashscope bench methods /media/me/STICK
  flashscope bench methods /media/me/STICK --size 256MiB --rounds 5
  sudo flashscope bench methods /dev/sdX --erase        all data is lost";

/// `flashscope bench methods`
///
/// Nothing written through the page cache can be put back, so `--scratch` is refused and not shown.
#[derive(Debug, Args)]
#[command(mut_arg("scratch", |scratch| scratch.hide(true)))]
pub struct BenchMethods {
    /// A directory on a stick, a disk, partition, or image file.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// How much each method writes in a round.
    ///
    /// From 1 MiB to 64 GiB. Default: 64 MiB, less if the time budget is too short for three rounds.
    #[arg(help_heading = heading::MEASURED, long, value_name = "SIZE", value_parser = value::whole_mebibytes)]
    pub size: Option<Bytes>,
    /// The largest number of rounds.
    ///
    /// From 1 to 100. Default: 3 to 9, at most 2 GiB in all; ends after 5 if they agree.
    #[arg(help_heading = heading::MEASURED, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: Option<u32>,
    /// Start no round that would end later.
    ///
    /// Seconds, or a time such as 90s, 5m or 1h30m. The first round always runs.
    #[arg(help_heading = heading::LIMITS, long, value_name = "TIME", default_value = "5m", value_parser = duration::budget)]
    pub time_budget: Duration,
    /// Permission to write.
    #[command(flatten)]
    pub erase: Erase,
    /// Where results are written.
    #[command(flatten)]
    pub output: Output,
}
