//! `flashscope bench read` and `flashscope bench write`.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use flashscope_device::Bytes;
use flashscope_record::observation::Order;

use crate::args::shared::{Budgets, Erase, Output, heading};
use crate::args::value;

pub(in crate::args) const READ_EXAMPLES: &str = "\
Examples:
  sudo flashscope bench read /dev/sdX                   the data stays
  flashscope bench read sim:samsung-fit-plus
  flashscope bench read sim:samsung-fit-plus --order random --size 4KiB --queue-depth 8";

pub(in crate::args) const WRITE_EXAMPLES: &str = "\
Examples:
  flashscope bench write /media/me/STICK                in a file of its own; no root
  sudo flashscope bench write /dev/sdX --scratch        all data is put back
  flashscope bench write sim:generic-2g --order random --size 4KiB --queue-depth 1";

/// `flashscope bench read`
#[derive(Debug, Args)]
pub struct BenchRead {
    /// A disk, partition, image file, sim:NAME, or directory on a stick.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// The tests.
    #[command(flatten)]
    pub tests: SpeedTests,
}

/// `flashscope bench write`
#[derive(Debug, Args)]
pub struct BenchWrite {
    /// A disk, partition, image file, sim:NAME, or directory on a stick.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// Permission to write.
    #[command(flatten)]
    pub erase: Erase,
    /// The tests.
    #[command(flatten)]
    pub tests: SpeedTests,
    /// How long write tests take.
    #[command(flatten)]
    pub thorough: Thorough,
}

/// How long write tests take.
#[derive(Debug, Args)]
pub struct Thorough {
    /// Include rare stalls: half an hour for most sticks.
    ///
    /// Runs write tests until rare stalls and SLC cache folding are part of the speed. A test takes at most
    /// an hour and writes at most 48 GiB or twice the capacity. Not in a directory.
    #[arg(help_heading = heading::MEASURED, long)]
    pub thorough: bool,
}

/// The tests: one for each combination of order, size and queue depth.
#[derive(Debug, Args)]
pub struct SpeedTests {
    /// The order: sequential or random; default: both.
    ///
    /// May be repeated.
    #[arg(help_heading = heading::MEASURED, long = "order", value_enum, hide_possible_values = true, value_name = "ORDER")]
    pub orders: Vec<OrderName>,
    /// The size of each request.
    ///
    /// From 512 B to 64 MiB; default: 1 MiB, 64 KiB and 4 KiB. May be repeated.
    #[arg(help_heading = heading::MEASURED, long = "size", value_name = "SIZE", value_parser = value::request_size)]
    pub sizes: Vec<Bytes>,
    /// The queue depth, from 1 to 32.
    ///
    /// Default: 1, and without --size also 8 and 32 for random 4 KiB requests. May be repeated.
    #[arg(help_heading = heading::MEASURED, hide_short_help = true, long = "queue-depth", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32))]
    pub queue_depths: Vec<u32>,
    /// Random seed of offsets and data.
    #[arg(help_heading = heading::MEASURED, hide_short_help = true, long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Limits.
    #[command(flatten)]
    pub budgets: Budgets,
    /// Where results are written.
    #[command(flatten)]
    pub output: Output,
}

/// The order of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OrderName {
    /// From the start of the target to its end.
    Sequential,
    /// At random offsets over the whole target.
    Random,
}

impl OrderName {
    /// Both orders.
    pub const ALL: [Self; 2] = [Self::Sequential, Self::Random];
}

impl From<OrderName> for Order {
    fn from(name: OrderName) -> Self {
        match name {
            OrderName::Sequential => Self::Linear,
            OrderName::Random => Self::Random,
        }
    }
}
