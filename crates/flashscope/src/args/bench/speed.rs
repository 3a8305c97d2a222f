//! `flashscope bench read` and `flashscope bench write`.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use flashscope_device::Bytes;
use flashscope_record::observation::Order;

use crate::args::shared::{Budgets, Erase, Output};
use crate::args::value;

/// `flashscope bench read`
#[derive(Debug, Args)]
pub struct BenchRead {
    /// A disk, a partition, an image file, a directory on the mounted stick, or sim:NAME.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// The tests.
    #[command(flatten)]
    pub tests: SpeedTests,
}

/// `flashscope bench write`
#[derive(Debug, Args)]
pub struct BenchWrite {
    /// A disk, a partition, an image file, a directory on the mounted stick, or sim:NAME.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// The tests.
    #[command(flatten)]
    pub tests: SpeedTests,
    /// How long write tests take.
    #[command(flatten)]
    pub thorough: Thorough,
    /// Permission to write.
    #[command(flatten)]
    pub erase: Erase,
}

/// How long write tests take.
#[derive(Debug, Args)]
pub struct Thorough {
    /// Run write tests until rare stalls and SLC cache folding are part of the speed: half an hour for most
    /// sticks. A test takes at most an hour and writes at most 48 GiB or twice the capacity. Not in a
    /// directory.
    #[arg(long)]
    pub thorough: bool,
}

/// The tests: one for each combination of order, size and queue depth.
#[derive(Debug, Args)]
pub struct SpeedTests {
    /// The order of the requests; default: both. May be repeated.
    #[arg(long = "order", value_enum, value_name = "ORDER")]
    pub orders: Vec<OrderName>,
    /// The size of each request, from 512 B to 64 MiB; default: 1 MiB, 64 KiB and 4 KiB. May be repeated.
    #[arg(long = "size", value_name = "SIZE", value_parser = value::request_size)]
    pub sizes: Vec<Bytes>,
    /// The queue depth, from 1 to 32; default: 1, and without --size also 8 and 32 for random 4 KiB
    /// requests. May be repeated.
    #[arg(long = "queue-depth", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32))]
    pub queue_depths: Vec<u32>,
    /// Random seed of offsets and data.
    #[arg(long, value_name = "N", default_value_t = 1)]
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
