//! `flashscope verify`.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use flashscope_device::Bytes;
use flashscope_measure::capacity::CACHE_BOUND_DEFAULT;

use super::shared::Erase;
use super::value;

pub const EXAMPLES: &str = "\
Examples:
  sudo flashscope verify /dev/sdX --scratch     is the capacity true? All data is put back
  sudo flashscope verify /dev/sdX --erase       the same on an empty stick; all data is lost
  flashscope verify sim:counterfeit-64g-wrap    on a virtual stick";

/// `flashscope verify`
#[derive(Debug, Args)]
pub struct Verify {
    /// A disk, a partition, an image file, or sim:NAME.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// Permission to write.
    #[command(flatten)]
    pub erase: Erase,
    /// Exclude caches up to SIZE. Writes a little more than SIZE, several times that on a fake.
    #[arg(long, value_name = "SIZE", default_value_t = CACHE_BOUND_DEFAULT, value_parser = value::cache_bound)]
    pub cache_bound: Bytes,
    /// Random seed; the same seed repeats the same requests. Default: random, 1 for virtual sticks.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}
