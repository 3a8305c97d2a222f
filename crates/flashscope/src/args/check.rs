//! `flashscope check`.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::shared::{Budgets, Erase, Output};

/// `flashscope check`
#[derive(Debug, Args)]
pub struct Check {
    /// A disk, a partition, an image file, sim:NAME, or a directory on a mounted stick. There, a file of its
    /// own is measured, without root; nothing is erased.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// Permission to write.
    #[command(flatten)]
    pub erase: Erase,
    /// Random seed; the same seed repeats the same requests.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Also measure the size of the SLC cache and the sustained write speed. Writes one sequential stream
    /// over at least a third of the device first, which takes minutes to hours.
    #[arg(long)]
    pub sustained: bool,
    /// Print everything: what it is, what it means, all findings, evidence and charts.
    #[arg(long)]
    pub details: bool,
    /// Limits.
    #[command(flatten)]
    pub budgets: Budgets,
    /// Where results are written.
    #[command(flatten)]
    pub output: Output,
}
