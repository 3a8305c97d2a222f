//! `flashscope report compare`.

use std::path::PathBuf;

use clap::Args;

use crate::args::shared::heading;
use crate::args::value;

pub(super) const EXAMPLES: &str = "\
Examples:
  flashscope bench sustained sim:generic-2g -o one.json
  flashscope bench sustained sim:linuxplanet-noname-2g -o two.json
  flashscope report compare one.json two.json
  flashscope report compare one.json two.json -o page.html";

/// `flashscope report compare`
#[derive(Debug, Args)]
pub struct ReportCompare {
    /// Run files, one a device.
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    pub runs: Vec<PathBuf>,
    /// Also write the page to FILE (.html). May be repeated.
    #[arg(help_heading = heading::OUTPUT, short = 'o', long = "output", value_name = "FILE", value_parser = value::html_file)]
    pub output: Vec<PathBuf>,
}
