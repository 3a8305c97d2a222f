//! `flashscope sim serve`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use flashscope_device::layer::FaultSpec;

use crate::args::value;

pub(in crate::args) const EXAMPLES: &str = "\
Examples:
  flashscope sim serve patriot-xt-16g                 a 16 GB file, as slow as the stick
  sudo flashscope sim serve patriot-xt-16g --loop     also a block device, for mkfs and fio
  flashscope sim serve my-stick.toml --speed 10       ten times as fast";

/// `flashscope sim serve`
#[derive(Debug, Args)]
pub struct SimServe {
    /// The name of a built-in profile or a path to a .toml file, with options such as ?seed=7.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub stick: String,
    /// Mount on DIR, an empty directory. Default: a temporary directory.
    #[arg(long, value_name = "DIR")]
    pub mount: Option<PathBuf>,
    /// Also attach a block device with direct I/O. Needs root.
    #[arg(long = "loop")]
    pub block_device: bool,
    /// Run X times as fast as the stick, from 0.001 to 1000000.
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = value::speed_factor)]
    pub speed: f64,
    /// Answer each request immediately.
    #[arg(long, conflicts_with = "speed")]
    pub instant: bool,
    /// Record every request in FILE (format: docs/trace.md).
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Add a fault, such as unplug:after=1000 or wrap:real=2GiB (all: docs/simulator.md). May be repeated.
    #[arg(long = "fault", value_name = "FAULT")]
    pub faults: Vec<FaultSpec>,
    /// Keep the contents in FILE, a sparse file of the stick's capacity. Created if missing.
    #[arg(long, value_name = "FILE")]
    pub backing: Option<PathBuf>,
}
