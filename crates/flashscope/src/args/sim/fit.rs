//! `flashscope sim fit`.

use std::path::PathBuf;

use clap::Args;

use crate::args::shared::heading;
use crate::args::value;

pub(in crate::args) const EXAMPLES: &str = "\
Examples:
  flashscope sim fit flashbench.log                    prints the profile
  flashscope sim fit flashbench.log -o my-stick.toml
  flashscope check sim:my-stick.toml                   a check of the copy";

/// `flashscope sim fit`
#[derive(Debug, Args)]
pub struct SimFit {
    /// The log, or a run file of `check -o`; - for standard input.
    pub log: PathBuf,
    /// Write the profile to FILE, which ends in .toml.
    #[arg(help_heading = heading::OUTPUT, short = 'o', long = "output", value_name = "FILE", value_parser = value::profile_file)]
    pub output: Option<PathBuf>,
    /// The share of each table's cells to hold out.
    ///
    /// From 0 to 0.9.
    #[arg(help_heading = heading::STICK, long, value_name = "SHARE", default_value_t = 0.5, value_parser = value::holdout_share)]
    pub holdout: f64,
    /// Random seed that chooses the held-out cells.
    #[arg(help_heading = heading::STICK, long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}
