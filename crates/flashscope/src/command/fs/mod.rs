//! `flashscope fs`: filesystems compared.

mod compare;

use crate::args::Fs;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a wrong target or option, 3 if nothing could be measured.
pub fn run(arguments: &Fs, printer: &Printer) -> Result<Exit, Failure> {
    match arguments {
        Fs::Compare(arguments) => compare::run(arguments, printer),
    }
}
