//! `flashscope report` and its subcommand.

mod compare;

use std::path::PathBuf;

use clap::{Args, Subcommand};

pub use compare::ReportCompare;

use super::shared::Output;
use super::value;

/// `flashscope report`
#[derive(Debug, Args)]
pub struct Report {
    /// The subcommand, if any.
    #[command(subcommand)]
    pub command: Option<ReportCommand>,
    /// A run file, as written by -o RUN.flashscope.json.
    #[arg(required = true)]
    pub run: Option<PathBuf>,
    /// Write the page to FILE (.html) and print nothing.
    #[arg(long, value_name = "FILE", value_parser = value::html_file)]
    pub html: Option<PathBuf>,
    /// Print everything about a check, not only its first screen.
    #[arg(long)]
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
    Compare(ReportCompare),
}
