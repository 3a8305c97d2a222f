//! `flashscope bench sustained`.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use flashscope_device::Bytes;

use crate::args::shared::{Budgets, Erase, Output};
use crate::args::value;

/// `flashscope bench sustained`
#[derive(Debug, Args)]
pub struct BenchSustained {
    /// A disk, a partition, an image file, a directory on the mounted stick, or sim:NAME.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// Instead of one stream, write COUNT samples of SIZE spread over the target, each with a flush, like
    /// GNOME Disks; such as 1000x10MiB.
    #[arg(long, value_name = "COUNTxSIZE", value_parser = value::samples)]
    pub samples: Option<(u32, Bytes)>,
    /// Permission to write.
    #[command(flatten)]
    pub erase: Erase,
    /// Random seed of the data.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Limits.
    #[command(flatten)]
    pub budgets: Budgets,
    /// Where results are written.
    #[command(flatten)]
    pub output: Output,
}
