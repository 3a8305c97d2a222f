//! `flashscope verify`.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use flashscope_device::Bytes;
use flashscope_measure::capacity::CACHE_BOUND_DEFAULT;

use super::shared::{Erase, heading};
use super::value;

pub const EXAMPLES: &str = "\
Examples:
  sudo flashscope verify /dev/sdX --scratch     is the capacity true? All data is put back
  sudo flashscope verify /dev/sdX --erase       the same on an empty stick; all data is lost
  sudo flashscope verify /dev/sdX --full --erase   write and read back all of it: hours, but nothing hides
  flashscope verify /media/stick --full         fill only the free space with files, without root
  flashscope verify sim:counterfeit-64g-wrap    a virtual counterfeit: exit code 1";

/// `flashscope verify`
#[derive(Debug, Args)]
pub struct Verify {
    /// A disk, partition, image file, or sim:NAME.
    ///
    /// With --full also a directory on a mounted stick.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// Permission to write.
    #[command(flatten)]
    pub erase: Erase,
    /// Write the whole device and read all of it back.
    ///
    /// In a directory, the free space. The same command continues after an interruption.
    #[arg(help_heading = heading::MEASURED, long)]
    pub full: bool,
    /// With --full, begin again instead of continuing.
    #[arg(help_heading = heading::MEASURED, long, requires = "full")]
    pub restart: bool,
    /// Exclude caches up to SIZE.
    ///
    /// Writes a little more than SIZE, several times that on a fake.
    #[arg(help_heading = heading::MEASURED, long, value_name = "SIZE", default_value_t = CACHE_BOUND_DEFAULT,
          value_parser = value::cache_bound, conflicts_with = "full")]
    pub cache_bound: Bytes,
    /// Random seed; the same seed repeats the same requests.
    ///
    /// Default: random, 1 for virtual sticks.
    #[arg(help_heading = heading::MEASURED, hide_short_help = true, long, value_name = "N")]
    pub seed: Option<u64>,
}
