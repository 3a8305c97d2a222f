//! `flashscope report`: prints a stored run. Findings are inferred again from its observations.

use std::path::Path;

use super::concluded::Concluded;
use super::show;
use crate::args::{Report, ReportCommand};
use crate::exit::{Exit, Failure};
use crate::input;
use crate::outputs;
use crate::printer::Printer;

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a file that is not a run file, 3 if the page cannot be written, 4 if it would overwrite
/// a disk.
pub fn run(arguments: &Report, printer: &Printer) -> Result<Exit, Failure> {
    if let Some(ReportCommand::Compare(compare)) = &arguments.command {
        return super::compare::run(compare, printer);
    }
    // Without a subcommand, clap requires a run.
    let file = arguments.run.as_deref().unwrap_or(Path::new(""));
    let outputs = &arguments.output.files;
    outputs::permit(outputs, file)?;
    let run = input::run_file(file)?;
    let findings = flashscope_infer::relevant_findings_of(&run);
    let concluded = Concluded::of_check(&run, findings, || true);
    show::findings(&run, &concluded, None, &printer.with_details(arguments.details))?;
    outputs::write(outputs, &concluded.report(&run), printer)?;
    Ok(Exit::Fine)
}
