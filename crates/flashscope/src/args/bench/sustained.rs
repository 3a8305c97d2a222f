//! `flashscope bench sustained`.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use flashscope_device::Bytes;

use crate::args::shared::{Budgets, Erase, Output, heading};
use crate::args::value;

pub(in crate::args) const EXAMPLES: &str = "\
Examples:
  flashscope bench sustained /media/me/STICK            fills the free space; no root
  sudo flashscope bench sustained /dev/sdX --scratch    all data is put back
  flashscope bench sustained sim:cheap-usb3-32g
  flashscope bench sustained sim:generic-2g --samples 100x10MiB";

/// `flashscope bench sustained`
#[derive(Debug, Args)]
pub struct BenchSustained {
    /// A disk, partition, image file, sim:NAME, or directory on a stick.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// Write samples spread over the target.
    ///
    /// COUNT samples of SIZE instead of one stream, each with a flush, like GNOME Disks; such as 1000x10MiB.
    #[arg(help_heading = heading::MEASURED, long, value_name = "COUNTxSIZE", value_parser = value::samples)]
    pub samples: Option<(u32, Bytes)>,
    /// Permission to write.
    #[command(flatten)]
    pub erase: Erase,
    /// Random seed of the data.
    #[arg(help_heading = heading::MEASURED, hide_short_help = true, long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Limits.
    #[command(flatten)]
    pub budgets: Budgets,
    /// Where results are written.
    #[command(flatten)]
    pub output: Output,
}
