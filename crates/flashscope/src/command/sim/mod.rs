//! `flashscope sim`: virtual sticks.

mod fit;
mod list;
mod replay;
mod serve;
mod show;

use crate::args::Sim;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a profile that is missing or invalid.
pub fn run(arguments: &Sim, printer: &Printer) -> Result<Exit, Failure> {
    match arguments {
        Sim::Fit(arguments) => fit::run(arguments, printer)?,
        Sim::List => list::run(printer)?,
        Sim::Show { profile } => show::run(profile, printer)?,
        Sim::Replay(replay) => replay::run(replay, printer)?,
        Sim::Serve(serve) => serve::run(serve, printer)?,
    }
    Ok(Exit::Fine)
}
