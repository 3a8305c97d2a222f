//! `flashscope check`.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use flashscope_record::SpeedMark;

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
    /// Test the classes of the SD Association alone: speed class, U, V and A. Compares them with the marks
    /// that the registers of a card or --claimed claim; without any, prints which classes are reached.
    /// Exit code 0: all claims that could be tested pass; 1: one fails; 5: none can be tested here.
    #[arg(long, conflicts_with_all = ["sustained", "details"])]
    pub class: bool,
    /// What is printed on the card or stick, to compare with what is measured: marks such as U3 or A1, or
    /// the speed of "up to 90 MB/s" as 90 or 90MB/s. Several with commas, as in U3,A1,90MB/s.
    #[arg(long, value_name = "MARKS", value_delimiter = ',')]
    pub claimed: Vec<SpeedMark>,
    /// Limits.
    #[command(flatten)]
    pub budgets: Budgets,
    /// Where results are written.
    #[command(flatten)]
    pub output: Output,
}
