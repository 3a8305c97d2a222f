//! `flashscope sim replay`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::args::shared::heading;

pub(in crate::args) const EXAMPLES: &str = "\
Examples:
  flashscope sim serve patriot-xt-16g -o copy.trace            records a trace
  flashscope sim replay copy.trace generic-2g                  on another stick
  flashscope sim replay copy.trace generic-2g -o each.csv      with every latency";

/// `flashscope sim replay`
#[derive(Debug, Args)]
pub struct SimReplay {
    /// A trace, as written by `sim serve -o`; - for standard input.
    pub trace: PathBuf,
    /// A built-in profile or a path to a .toml file.
    ///
    /// Options follow a question mark, such as ?capacity=32GiB.
    #[arg(value_name = "PROFILE", value_parser = NonEmptyStringValueParser::new())]
    pub stick: String,
    /// Random seed of the stick.
    #[arg(help_heading = heading::STICK, long, value_name = "N")]
    pub seed: Option<u64>,
    /// Leave out the idle times of the recording.
    #[arg(help_heading = heading::STICK, long)]
    pub as_fast_as_possible: bool,
    /// Use queue depth N instead of the recorded one.
    #[arg(help_heading = heading::STICK, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub queue_depth: Option<u32>,
    /// Write the latency of every request to FILE as CSV.
    ///
    /// The recorded latency and the replayed one.
    #[arg(help_heading = heading::OUTPUT, short = 'o', long = "output", alias = "latencies", value_name = "FILE")]
    pub latencies: Option<PathBuf>,
}
