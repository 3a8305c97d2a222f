//! `flashscope report compare`.

use std::path::PathBuf;

use clap::Args;

use crate::args::value;

/// `flashscope report compare`
#[derive(Debug, Args)]
pub struct ReportCompare {
    /// Run files, one a device.
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    pub runs: Vec<PathBuf>,
    /// Also write the page to FILE (.html). May be repeated.
    #[arg(short = 'o', long = "output", value_name = "FILE", value_parser = value::html_file)]
    pub output: Vec<PathBuf>,
    /// Write the page to FILE (.html) and print nothing.
    #[arg(long, value_name = "FILE", value_parser = value::html_file)]
    pub html: Option<PathBuf>,
}
