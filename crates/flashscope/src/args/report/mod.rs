//! `flashscope report` and its subcommand.

mod compare;

use std::path::PathBuf;

use clap::{Args, Subcommand};

pub use compare::ReportCompare;

use super::shared::{Output, heading};

pub(super) const EXAMPLES: &str = "\
Examples:
  flashscope check sim:patriot-xt-16g -o run.json     stores a run
  flashscope report run.json                          prints it again
  flashscope report run.json -o page.html             also writes the page";

/// `flashscope report`
#[derive(Debug, Args)]
pub struct Report {
    /// The subcommand, if any.
    #[command(subcommand)]
    pub command: Option<ReportCommand>,
    /// A run file, as written by -o RUN.flashscope.json.
    #[arg(required = true)]
    pub run: Option<PathBuf>,
    /// Print all findings, evidence and charts.
    #[arg(help_heading = heading::OUTPUT, long)]
    pub details: bool,
    /// Where results are written.
    #[command(flatten)]
    pub output: Output,
}

/// The subcommand of `flashscope report`.
#[derive(Debug, Subcommand)]
pub enum ReportCommand {
    /// Compare the write speed of several runs over one long stream.
    ///
    /// Each run is one of `bench sustained` or `check --sustained`, stored with -o RUN.flashscope.json.
    #[command(after_long_help = compare::EXAMPLES)]
    Compare(ReportCompare),
}
