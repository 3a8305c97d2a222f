//! `flashscope fs compare`: the same files on each filesystem, on one stick.
//!
//! Each kind of target yields trials; everything after that is the same for all.

mod compared;
mod replayed;

use anyhow::anyhow;

use self::compared::Compared;
use crate::args::FsCompare;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a wrong target, option or recording.
pub fn run(arguments: &FsCompare, printer: &Printer) -> Result<Exit, Failure> {
    let compared = match arguments.target.strip_prefix("sim:") {
        Some(name) => replayed::compare(arguments, name, printer)?,
        None => return Err(not_virtual(&arguments.target)),
    };
    printer.notes(&compared.notes);
    show(&compared, printer)?;
    compared.failures.iter().for_each(|failure| printer.remark(format!("failed: {failure}")));
    Ok(compared.exit)
}

fn not_virtual(target: &str) -> Failure {
    let error = anyhow!(
        "{target} is no virtual stick, and filesystems are compared on virtual sticks only; \
         list them with: flashscope sim list"
    );
    Failure { exit: Exit::Usage, error }
}

/// Prints each trial.
fn show(compared: &Compared, printer: &Printer) -> Result<(), Failure> {
    let line = |trial: &flashscope_record::Trial| {
        format!(
            "{:<24} {:<6} {:<6} {:<6} {:>3} {:>12.3} s\n",
            trial.variant,
            trial.workload.name(),
            trial.operation.name(),
            trial.writeback.name(),
            trial.round,
            trial.seconds
        )
    };
    let trials: String = compared.trials.iter().map(line).collect();
    Ok(printer.result(&format!("{}\n{trials}", compared.device))?)
}
