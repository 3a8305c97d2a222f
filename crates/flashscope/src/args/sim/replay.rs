//! `flashscope sim replay`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

/// `flashscope sim replay`
#[derive(Debug, Args)]
pub struct SimReplay {
    /// The trace, as written by sim serve --trace; - for standard input.
    pub trace: PathBuf,
    /// The name of a built-in profile or a path to a .toml file, with options such as ?capacity=32GiB.
    #[arg(value_name = "PROFILE", value_parser = NonEmptyStringValueParser::new())]
    pub stick: String,
    /// Random seed of the stick.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Leave out the idle times of the recording.
    #[arg(long)]
    pub as_fast_as_possible: bool,
    /// Use queue depth N instead of the recorded one.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub queue_depth: Option<u32>,
    /// Write the recorded and replayed latency of every request to FILE as CSV.
    #[arg(long, value_name = "FILE")]
    pub latencies: Option<PathBuf>,
}
