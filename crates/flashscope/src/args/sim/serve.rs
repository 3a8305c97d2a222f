//! `flashscope sim serve`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use flashscope_device::layer::FaultSpec;

use crate::args::shared::heading;
use crate::args::value;

pub(in crate::args) const EXAMPLES: &str = "\
Examples:
  flashscope sim serve patriot-xt-16g                 a 16 GB file, as slow as the stick
  sudo flashscope sim serve patriot-xt-16g --loop     also a block device, for mkfs and fio
  flashscope sim serve my-stick.toml --speed 10       ten times as fast
  flashscope sim serve generic-2g -o copy.trace       writes every request to a file";

/// `flashscope sim serve`
#[derive(Debug, Args)]
pub struct SimServe {
    /// A built-in profile or a path to a .toml file.
    ///
    /// Options follow a question mark, such as ?seed=7.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub stick: String,
    /// Mount on DIR, an empty directory.
    ///
    /// Default: a temporary directory.
    #[arg(help_heading = heading::STICK, long, value_name = "DIR")]
    pub mount: Option<PathBuf>,
    /// Also attach a block device with direct I/O. Needs root.
    #[arg(help_heading = heading::STICK, long = "loop")]
    pub block_device: bool,
    /// Run X times as fast as the stick.
    ///
    /// From 0.001 to 1000000.
    #[arg(help_heading = heading::STICK, long, value_name = "X", default_value_t = 1.0, value_parser = value::speed_factor)]
    pub speed: f64,
    /// Answer each request immediately.
    #[arg(help_heading = heading::STICK, long, conflicts_with = "speed")]
    pub instant: bool,
    /// Write every request to FILE (format: docs/trace.md).
    #[arg(help_heading = heading::OUTPUT, short = 'o', long = "output", alias = "trace", value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Add a fault, such as unplug:after=1000.
    ///
    /// Or wrap:real=2GiB; all are in docs/simulator.md. May be repeated.
    #[arg(help_heading = heading::STICK, long = "fault", value_name = "FAULT")]
    pub faults: Vec<FaultSpec>,
    /// Keep the contents in FILE.
    ///
    /// A sparse file of the stick's capacity, created if missing.
    #[arg(help_heading = heading::STICK, long, value_name = "FILE")]
    pub backing: Option<PathBuf>,
}
