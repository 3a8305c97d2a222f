//! `flashscope measure`.

use clap::builder::{NonEmptyStringValueParser, PossibleValue};
use clap::{Args, ValueEnum};
use flashscope_device::Bytes;
use flashscope_measure::experiment::{EXPERIMENTS, Registration};

use super::shared::{Budgets, Erase, Output, heading};
use super::value;

pub(super) const EXAMPLES: &str = "\
Examples:
  flashscope measure align sim:patriot-xt-16g
  flashscope measure open-units sim:transcend-8g --erase-block 4MiB
  sudo flashscope measure write-size /dev/sdX --erase      all data is lost
  flashscope measure align sim:patriot-xt-16g --format flashbench";

/// `flashscope measure`
#[derive(Debug, Args)]
pub struct Measure {
    /// The experiment.
    #[arg(value_enum)]
    pub experiment: ExperimentName,
    /// A disk, partition, image file, or sim:NAME.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// Permission to write.
    #[command(flatten)]
    pub erase: Erase,
    /// The erase block, from 16 KiB to 1 GiB.
    ///
    /// Default: flashscope measures it first; flashbench's procedure uses 4 MiB.
    #[arg(help_heading = heading::MEASURED, long, value_name = "SIZE", value_parser = value::erase_block)]
    pub erase_block: Option<Bytes>,
    /// Write up to N erase blocks round-robin.
    ///
    /// open-units: up to N (default 129), or exactly N with --format flashbench (default 2). fat-area with
    /// --format flashbench: test the first N erase blocks (default 6).
    #[arg(help_heading = heading::MEASURED, hide_short_help = true, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub open_units: Option<u32>,
    /// The size of each request.
    ///
    /// align: of reads, a power of two. open-units and fat-area: of writes, 4 KiB to 1/16 of the erase
    /// block. With --format flashbench, the smallest request.
    #[arg(help_heading = heading::MEASURED, hide_short_help = true, long, value_name = "SIZE", value_parser = value::block_size)]
    pub block_size: Option<Bytes>,
    /// Write in random order inside each erase block. Needs --format flashbench.
    #[arg(help_heading = heading::MEASURED, hide_short_help = true, long)]
    pub random: bool,
    /// Random seed; the same seed repeats the same requests.
    #[arg(help_heading = heading::MEASURED, hide_short_help = true, long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Limits.
    #[command(flatten)]
    pub budgets: Budgets,
    /// `flashbench` runs flashbench's procedure and prints its table.
    #[arg(help_heading = heading::OUTPUT, hide_short_help = true, long, value_enum, default_value_t = Format::Flashscope)]
    pub format: Format,
    /// Where results are written.
    #[command(flatten)]
    pub output: Output,
}

/// An experiment.
#[derive(Debug, Clone, Copy)]
pub struct ExperimentName(pub &'static Registration);

impl PartialEq<&str> for ExperimentName {
    fn eq(&self, name: &&str) -> bool {
        self.0.name == *name
    }
}

impl ValueEnum for ExperimentName {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [ExperimentName; EXPERIMENTS.len()] = {
            let mut all = [ExperimentName(EXPERIMENTS[0]); EXPERIMENTS.len()];
            let mut index = 0;
            while index < all.len() {
                all[index] = ExperimentName(EXPERIMENTS[index]);
                index += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name).help(self.0.question))
    }
}

impl ExperimentName {
    /// Whether flashbench has a table for it.
    pub fn is_in_flashbench(self) -> bool {
        ["align", "open-units", "fat-area"].contains(&self.0.name)
    }
}

/// The format of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Findings, tables and charts.
    Flashscope,
    /// flashbench's table.
    Flashbench,
}
