//! `flashscope report`: a stored run, inferred again.

use flashscope_probe::RunFile;
use flashscope_probe::inference::infer_run;
use serde_json::Value;

use super::show;
use crate::args::Report;
use crate::exit::{Exit, Failure, OrExit};
use crate::outputs;
use crate::printer::Printer;

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a file that is no run file, 3 if the page cannot be written, 4 if it would overwrite a disk.
pub fn run(arguments: &Report, printer: &Printer) -> Result<Exit, Failure> {
    let name = arguments.run.display().to_string();
    let page = arguments.html.as_slice();
    outputs::permit(page, &arguments.run)?;
    let text = std::fs::read_to_string(&arguments.run).or_exit(Exit::Usage, format!("cannot read {name}"))?;
    let run = RunFile::parse(&text).or_exit(Exit::Usage, name)?;
    let findings = infer_run(&run.observations);
    if page.is_empty() {
        show::findings(&run, &findings, &Value::Null, printer)?;
    }
    outputs::write(page, &run, &findings, printer)?;
    Ok(Exit::Fine)
}
