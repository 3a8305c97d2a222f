//! `flashscope report`: a stored run, inferred again.

use flashscope_probe::RunFile;
use flashscope_probe::inference::infer;
use flashscope_report::{Report as Shown, html};
use serde_json::Value;

use super::show;
use crate::args::Report;
use crate::exit::{Exit, Failure, OrExit};
use crate::outputs;
use crate::printer::Printer;

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a file that is no run file, 3 if the page cannot be written.
pub fn run(arguments: &Report, printer: &Printer) -> Result<Exit, Failure> {
    let name = arguments.run.display().to_string();
    let text = std::fs::read_to_string(&arguments.run).or_exit(Exit::Usage, format!("cannot read {name}"))?;
    let run = RunFile::parse(&text).or_exit(Exit::Usage, name)?;
    let findings = infer(&run.observations);
    match &arguments.html {
        Some(file) => {
            outputs::replace(file, &html(&Shown { run: &run, findings: &findings }))?;
            printer.remark(format!("wrote {}", file.display()));
        }
        None => show::findings(&run, &findings, &Value::Null, printer)?,
    }
    Ok(Exit::Fine)
}
